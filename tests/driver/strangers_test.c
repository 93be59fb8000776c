/* strangers_test.c - ranks that find each other by TCP (runtime/driver/ranks_tcp.c), and those who are
 * none.
 *
 * Ranks are processes of this test, which send each other numbers once they have met and compare every bit.
 * Meanwhile strangers come to the door of rank 0, before the others do: whatever they say, or leave unsaid,
 * the ranks meet, in less time than one silent stranger is listened to; or a rank ends and says why.
 * In a build without libsodium (`strangers_test bare`) it is said that a secret needs it. */
#include "driver.h"
#include "ranks_door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4, NUMBERS = 5000, TIMEOUT = 30, SOMEBODY = 65534 };
#define SECRET "a secret of this test"

static int failures;
#define CHECK(condition, ...) ((condition) ? 0 : (failures++, printf("FAILED: " __VA_ARGS__), printf("\n")))

/* ---- ranks ---- */

/* A job, and how one of its ranks is started; NULL: not set. */
typedef struct {
    const char *host, *secret, *file;
    int port, size;
    double timeout;
    bool trusts;
    uid_t user; /* 0: who runs this test */
} Job;

typedef struct {
    pid_t process;
    int said; /* a pipe */
    int code;
    char text[sizeof(((UnetError *)0)->text)];
} Rank;

static void set(const char *name, const char *value) {
    if (value != NULL)
        (void)setenv(name, value, 1);
    else
        (void)unsetenv(name);
}

static void set_environment(const Job *job) {
    char port[16];
    (void)snprintf(port, sizeof port, "%d", job->port);
    set("MASTER_ADDR", job->host);
    set("MASTER_PORT", port);
    set("UNET_JOB_SECRET", job->secret);
    set("UNET_JOB_SECRET_FILE", job->file);
}

/* The number that rank FROM sends to rank TO at I. */
static float number_of(int32_t from, int32_t to, int i) {
    return (float)(from * 1000 + to * 100) + 0.37f * (float)i;
}

static UnetStatus exchange_numbers(void *state, int32_t rank, int32_t size, UnetError *error) {
    static float out[MOST][NUMBERS], in[MOST][NUMBERS];
    UnetPiece send[MOST] = {{0}}, receive[MOST] = {{0}};
    for (int32_t r = 0; r < size; r++) {
        for (int i = 0; i < NUMBERS; i++)
            out[r][i] = number_of(rank, r, i);
        if (r == rank)
            continue;
        send[r] = (UnetPiece){out[r], sizeof out[r]};
        receive[r] = (UnetPiece){in[r], sizeof in[r]};
    }
    const UnetStatus status = ranks_tcp_transport.exchange(state, send, receive, TIMEOUT, error);
    for (int32_t r = 0; r < size && status == UNET_OK; r++)
        for (int i = 0; i < NUMBERS && r != rank; i++)
            if (in[r][i] != number_of(r, rank, i))
                return unet_fail(error, UNET_BUG, "rank %d has other numbers of rank %d", (int)rank,
                                 (int)r);
    return status;
}

static UnetStatus train(const Job *job, int32_t rank, UnetError *error) {
    const UnetMeeting meeting = {.timeout = job->timeout > 0 ? job->timeout : TIMEOUT,
                                 .trusts_network = job->trusts};
    int32_t size = job->size;
    void *state = NULL;
    set_environment(job);
    UnetStatus status = ranks_tcp_transport.join(&state, &rank, &size, &meeting, error);
    if (status == UNET_OK)
        status = exchange_numbers(state, rank, size, error);
    const char *interface = getenv("NCCL_SOCKET_IFNAME");
    if (status == UNET_OK && (interface == NULL || strcmp(interface, "lo") != 0))
        status = unet_fail(error, UNET_BUG, "NCCL opens sockets at other interfaces");
    ranks_tcp_transport.leave(state, (int)status);
    return status;
}

static Rank start(const Job *job, int32_t rank) {
    int pipes[2];
    Rank r = {.process = -1};
    (void)fflush(stdout);
    if (pipe(pipes) != 0 || (r.process = fork()) < 0)
        exit(1);
    if (r.process == 0) {
        UnetError error = {.text = ""};
        if (job->user != 0 && setuid(job->user) != 0)
            _exit(1);
        const UnetStatus status = train(job, rank, &error);
        (void)!write(pipes[1], error.text, strlen(error.text));
        _exit((int)status);
    }
    (void)close(pipes[1]);
    r.said = pipes[0];
    return r;
}

static void end(Rank *r) {
    int status = 0;
    ssize_t n, length = 0;
    while ((n = read(r->said, r->text + length, sizeof r->text - 1 - (size_t)length)) > 0)
        length += n;
    r->text[length] = '\0';
    (void)close(r->said);
    (void)waitpid(r->process, &status, 0);
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* RANK of JOB ends with CODE and says WORDS. */
static void check_end(Rank *r, int32_t rank, int code, const char *words, const char *what) {
    end(r);
    CHECK(r->code == code && strstr(r->text, words) != NULL,
          "%s: rank %d ends with %d, not %d, and says `%s`, not `%s`", what, (int)rank, r->code, code,
          r->text, words);
}

/* Ranks from FIRST on come to the door of those who are there; all end well. */
static void check_all(const Job *job, Rank *rank, int32_t first, const char *what) {
    for (int32_t r = first; r < job->size; r++)
        rank[r] = start(job, r);
    for (int32_t r = 0; r < job->size; r++)
        check_end(&rank[r], r, UNET_OK, "", what);
}

/* ---- strangers ---- */

static struct sockaddr_in address_of(const char *host, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    (void)inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

static int free_port(void) {
    struct sockaddr_in address = address_of("127.0.0.1", 0);
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&address, length) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        exit(1);
    (void)close(fd);
    return ntohs(address.sin_port);
}

static int come(const char *host, int port) {
    const struct sockaddr_in address = address_of(host, port);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* Once rank 0 listens. */
static int come_first(const Job *job) {
    const struct timespec a_while = {0, 10000000};
    int fd = -1;
    for (int i = 0; i < 1000 && (fd = come(job->host, job->port)) < 0; i++)
        (void)nanosleep(&a_while, NULL);
    CHECK(fd >= 0, "rank 0 does not listen");
    return fd;
}

static ssize_t hear(int fd, void *bytes, size_t count) {
    const struct timeval seconds = {.tv_sec = 10};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &seconds, sizeof seconds);
    return recv(fd, bytes, count, MSG_WAITALL);
}

/* In two pieces, as a network may cut it. */
static void say(int fd, const void *bytes, size_t count) {
    const struct timespec a_while = {0, 1000000};
    (void)!send(fd, bytes, count / 2, MSG_NOSIGNAL);
    (void)nanosleep(&a_while, NULL);
    (void)!send(fd, (const char *)bytes + count / 2, count - count / 2, MSG_NOSIGNAL);
}

/* He speaks as a rank does and shows CARD, with a PROOF (NULL: one that a rank made on another connection).
 * Returns what he is told; VERDICTS: nothing. */
static Verdict speak(int fd, const Secret *secret, const uint8_t card[CARD_BYTES], const uint8_t *proof) {
    uint8_t call[CALL_BYTES], answer[ANSWER_BYTES];
    Talk talk = {.door = 0};
    const Card before = {.rank = 1, .size = MOST, .port = 1000};
    card_greet(secret, talk.guest);
    say(fd, talk.guest, sizeof talk.guest);
    card_greet(secret, talk.host); /* of the other connection */
    card_call(secret, &talk, &before, call);
    if (hear(fd, talk.host, sizeof talk.host) != (ssize_t)sizeof talk.host)
        return VERDICTS;
    if (card != NULL)
        memcpy(call, card, CARD_BYTES);
    if (proof != NULL)
        memcpy(call + CARD_BYTES, proof, SECRET_BYTES);
    say(fd, call, sizeof call);
    if (hear(fd, answer, sizeof answer) != (ssize_t)sizeof answer)
        return VERDICTS;
    return (Verdict)answer[0];
}

/* Nothing comes but the end. */
static void check_sent_away(int fd, const char *what) {
    char more[64];
    CHECK(hear(fd, more, sizeof more) <= 0, "%s: he is told more", what);
    (void)close(fd);
}

static void check_verdict(int fd, Verdict told, Verdict wanted, const char *what) {
    CHECK(told == wanted, "%s: the verdict is %d, not %d", what, (int)told, (int)wanted);
    check_sent_away(fd, what);
}

/* The words of a stranger who was not asked. */
static void babble(const Job *job) {
    char greeting[GREETING_BYTES];
    static const char old_card[88] = "nuranks1\1\0\0\0\4\0\0\0"
                                     "127.0.0.1";
    static const char *const words[] = {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n......................",
                                        old_card,
                                        "unranks2 and what follows is no number, nor is it anything else"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int fd = come_first(job);
        say(fd, words[i], words[i] == old_card ? sizeof old_card : strlen(words[i]));
        CHECK(hear(fd, greeting, sizeof greeting) == sizeof greeting, "words %zu: not greeted", i);
        check_sent_away(fd, words[i]);
    }
}

static void change(uint8_t card[CARD_BYTES], int field, uint32_t number) {
    for (int i = 0; i < 4; i++)
        card[4 * field + i] = (uint8_t)(number >> (8 * i));
}

/* Cards that cannot be, each with one field of a right one changed. */
static void show_cards(const Job *job, const Secret *secret) {
    static const struct {
        int field;
        uint32_t number;
        Verdict told;
    } wrong[] = {{0, MOST, VERDICT_STRANGE},  {0, UINT32_MAX, VERDICT_STRANGE}, {0, 0, VERDICT_TAKEN},
                 {1, 2, VERDICT_SIZE},        {1, UINT32_MAX, VERDICT_STRANGE}, {2, 0, VERDICT_STRANGE},
                 {2, 65536, VERDICT_STRANGE}, {2, UINT32_MAX, VERDICT_STRANGE}};
    static const Card right = {.rank = 1, .size = MOST, .port = 1000};
    uint8_t card[CARD_BYTES], proof[SECRET_BYTES] = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const int fd = come_first(job);
        card_write(&right, card);
        change(card, wrong[i].field, wrong[i].number);
        check_verdict(fd, speak(fd, secret, card, proof), secret->given ? VERDICT_UNPROVED : wrong[i].told,
                      "a card that cannot be");
    }
    card_write(&right, card);
    memset(card + CARD_BYTES - HOST_BYTES, '1', HOST_BYTES); /* the text does not end */
    const int fd = come_first(job);
    check_verdict(fd, speak(fd, secret, card, proof), secret->given ? VERDICT_UNPROVED : VERDICT_STRANGE,
                  "a text without end");
}

/* ---- tests ---- */

static Secret secret_of(const Job *job) {
    Secret secret;
    UnetError error;
    set_environment(job);
    CHECK(secret_find(&secret, &error) == UNET_OK, "%s", error.text);
    return secret;
}

static Job new_job(const char *secret) {
    return (Job){.host = "127.0.0.1", .secret = secret, .port = free_port(), .size = MOST};
}

/* So many silent ones stand at the door while the others come. */
static void test_silent(const char *secret) {
    enum { SILENT = 300 };
    const Job job = new_job(secret);
    Rank rank[MOST] = {start(&job, 0)};
    int fd[SILENT];
    for (int i = 0; i < SILENT; i++)
        fd[i] = i == 0 ? come_first(&job) : come(job.host, job.port);
    const double begun = machine_seconds();
    check_all(&job, rank, 1, "silent strangers");
    CHECK(machine_seconds() - begun < 4, "silent strangers hold the ranks up for %.1f s",
          machine_seconds() - begun);
    for (int i = 0; i < SILENT; i++)
        (void)close(fd[i]);
}

static void test_words(const char *secret) {
    const Job job = new_job(secret);
    const Secret known = secret_of(&job);
    Rank rank[MOST] = {start(&job, 0)};
    babble(&job);
    show_cards(&job, &known);
    check_all(&job, rank, 1, "strange words");
}

/* Passes on what two sides say until one of them ends; what GUEST says first goes to SAID. */
static void listen_in(int guest, int door, uint8_t *said, size_t count) {
    char bytes[4096];
    size_t heard = 0;
    for (;;) {
        struct pollfd both[] = {{.fd = guest, .events = POLLIN}, {.fd = door, .events = POLLIN}};
        (void)poll(both, 2, 10000);
        const bool is_guest = both[0].revents != 0;
        const ssize_t n = recv(is_guest ? guest : door, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n <= 0)
            return;
        say(is_guest ? door : guest, bytes, (size_t)n);
        for (ssize_t i = 0; is_guest && i < n && heard < count; i++)
            said[heard++] = (uint8_t)bytes[i];
    }
}

/* Between two ranks stands one who records what rank 1 says, and says it to the next rank 0. */
static void test_replay(void) {
    uint8_t said[GREETING_BYTES + CALL_BYTES], told[GREETING_BYTES + ANSWER_BYTES];
    Job job = new_job(SECRET), by_way = new_job(SECRET);
    struct sockaddr_in address = address_of(by_way.host, by_way.port);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0)
        exit(1);
    job.size = by_way.size = 2;
    Rank rank[MOST] = {start(&job, 0), start(&by_way, 1)};
    const int guest = accept(listener, NULL, NULL), door = come_first(&job);
    listen_in(guest, door, said, sizeof said);
    (void)close(guest);
    (void)close(door);
    (void)close(listener);
    check_all(&job, rank, job.size, "ranks that are listened to");
    job.port = free_port();
    rank[0] = start(&job, 0);
    const int fd = come_first(&job);
    say(fd, said, sizeof said);
    CHECK(hear(fd, told, sizeof told) == (ssize_t)sizeof told,
          "who says again what rank 1 said is not answered");
    check_verdict(fd, (Verdict)told[GREETING_BYTES], VERDICT_UNPROVED, "what rank 1 said");
    check_all(&job, rank, 1, "a recorded card");
}

/* He comes first, as rank 1, with a proof that he drew, or that rank 1 made for another door. */
static void test_proofs(void) {
    const Job job = new_job(SECRET);
    const Secret known = secret_of(&job), none = {.given = false};
    Rank rank[MOST] = {start(&job, 0)};
    uint8_t drawn[SECRET_BYTES];
    secret_draw(&known, drawn, sizeof drawn);
    int fd = come_first(&job);
    check_verdict(fd, speak(fd, &known, NULL, drawn), VERDICT_UNPROVED, "a proof that was drawn");
    fd = come_first(&job);
    check_verdict(fd, speak(fd, &known, NULL, NULL), VERDICT_UNPROVED, "a proof that was recorded");
    fd = come_first(&job);
    check_verdict(fd, speak(fd, &none, NULL, drawn), VERDICTS, "one without a secret");
    check_all(&job, rank, 1, "false proofs");
}

/* Until the door is closed. */
static _Noreturn void come_for_ever(const Job *job) {
    int fd;
    for (int i = 0; (fd = come(job->host, job->port)) >= 0 || i < 1000; i++) {
        if (fd >= 0 && i % 2 == 0)
            say(fd, "unranks2", 8);
        if (fd >= 0 && i % 3 == 0)
            (void)close(fd);
    }
    _exit(0);
}

/* Strangers come without end, while ranks meet. */
static void test_flood(const char *secret) {
    const Job job = new_job(secret);
    Rank rank[MOST] = {start(&job, 0)};
    (void)close(come_first(&job));
    const pid_t flood = fork();
    if (flood == 0)
        come_for_ever(&job);
    check_all(&job, rank, 1, "a flood of strangers");
    (void)kill(flood, SIGKILL);
    (void)waitpid(flood, NULL, 0);
}

/* Ranks that do not belong here end, and say why; the others go on. */
static void test_wrong_ranks(void) {
    const Job job = new_job(SECRET);
    Job other_secret = job, none = job, larger = job;
    other_secret.secret = "a secret of another test";
    none.secret = NULL;
    larger.size = MOST + 1;
    Rank rank[MOST] = {start(&job, 0)};
    Rank wrong[] = {start(&other_secret, 1), start(&none, 1), start(&larger, 1)};
    check_end(&wrong[0], 1, UNET_IO, "it has another secret", "another secret");
    set("TORCHELASTIC_RUN_ID", "another run");
    Rank stray = start(&job, 1);
    check_end(&stray, 1, UNET_IO, "it has another secret", "another run with this secret");
    set("TORCHELASTIC_RUN_ID", NULL);
    check_end(&wrong[1], 1, UNET_IO, "one side has a secret", "no secret");
    check_end(&wrong[2], 1, UNET_IO, "another number of ranks", "another size");
    rank[1] = start(&job, 1);
    rank[2] = start(&job, 2);
    Rank twin = start(&job, 1); /* one of the two is there first */
    struct pollfd ended[] = {{.fd = rank[1].said, .events = POLLIN}, {.fd = twin.said, .events = POLLIN}};
    (void)poll(ended, 2, 10000);
    Rank *late = ended[0].revents != 0 ? &rank[1] : &twin;
    check_end(late, 1, UNET_IO, "the same rank was there before", "two ranks 1");
    if (late == &rank[1])
        rank[1] = twin;
    check_all(&job, rank, 3, "wrong ranks");
}

/* Who waits at the place of rank 0, and is not him. */
static void test_false_door(void) {
    const Job job = new_job(SECRET);
    struct sockaddr_in address = address_of(job.host, job.port);
    const int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0)
        exit(1);
    Rank first = start(&job, 0), second = start(&job, 1);
    check_end(&first, 0, UNET_IO, "cannot listen at 127.0.0.1", "a port that is taken");
    const int fd = accept(listener, NULL, NULL);
    uint8_t greeting[GREETING_BYTES], call[CALL_BYTES], answer[ANSWER_BYTES] = {VERDICT_WELCOME};
    (void)hear(fd, greeting, sizeof greeting);
    say(fd, greeting, sizeof greeting); /* his own words, sent back */
    CHECK(hear(fd, call, sizeof call) == (ssize_t)sizeof call, "rank 1 does not call");
    memcpy(answer + 4, call + CARD_BYTES, SECRET_BYTES);
    say(fd, answer, sizeof answer);
    check_end(&second, 1, UNET_IO, "it has another secret", "a false door");
    (void)close(fd);
    (void)close(listener);
}

/* Rank 0 listens where MASTER_ADDR says, and nowhere else; and where others may come, not without a secret.
 */
static void test_interface(void) {
    Job job = new_job(NULL);
    job.host = "127.0.0.2";
    Rank rank[MOST] = {start(&job, 0)};
    (void)close(come_first(&job));
    CHECK(come("127.0.0.1", job.port) < 0, "rank 0 listens at another interface, too");
    check_all(&job, rank, 1, "another address of this machine");
    set("LOCAL_WORLD_SIZE", "1"); /* the others are elsewhere */
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_USAGE, "is a loopback address", "an address of this machine alone");
    set("LOCAL_WORLD_SIZE", "4"); /* all are here */
    job.host = "192.0.2.1";
    rank[0] = start(&job, 0);
    check_all(&job, rank, 1, "a name of this machine");
    set("LOCAL_WORLD_SIZE", NULL);
}

static void test_other_kind_of_address(void) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int fd = socket(AF_INET6, SOCK_STREAM, 0);
    const bool is_there = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    (void)close(fd);
    if (!is_there) {
        printf("skipped: IPv6, which this machine has not\n");
        return;
    }
    Job job = new_job(NULL);
    job.host = "::1";
    Rank rank[MOST] = {start(&job, 0)};
    check_all(&job, rank, 1, "IPv6");
}

/* If other machines may come, ranks do not meet without a secret, unless the network is trusted. */
static void test_network(void) {
    Job job = new_job(NULL);
    Rank rank[MOST];
    job.host = "0.0.0.0";
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_USAGE, "UNET_JOB_SECRET", "a network without a secret");
    job.host = "192.0.2.1"; /* no machine has it */
    rank[1] = start(&job, 1);
    check_end(&rank[1], 1, UNET_USAGE, "--trust-network", "a network without a secret");
    job.trusts = true;
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_IO, "MASTER_ADDR must be an address of the machine", "no address of ours");
    job.host = "0.0.0.0";
    rank[0] = start(&job, 0);
    check_all(&job, rank, 1, "a network that is trusted");
    job.trusts = false;
    job.secret = SECRET;
    rank[0] = start(&job, 0);
    check_all(&job, rank, 1, "a network, with a secret");
}

/* Without a secret: another user of this machine, who speaks as a rank does, or listens as rank 0. */
static void test_user(void) {
    Job job = new_job(NULL), his;
    if (geteuid() != 0) {
        printf("skipped: another user, for which this test must be root\n");
        return;
    }
    Rank rank[MOST] = {start(&job, 0)};
    const pid_t other = fork();
    if (other == 0) {
        const Secret none = {.given = false};
        const uint8_t proof[SECRET_BYTES] = {0};
        _exit(setuid(SOMEBODY) == 0 ? (int)speak(come_first(&job), &none, NULL, proof) : (int)VERDICTS);
    }
    int told = 0;
    (void)waitpid(other, &told, 0);
    CHECK(WIFEXITED(told) && WEXITSTATUS(told) == VERDICT_USER, "another user is told %d", told);
    check_all(&job, rank, 1, "another user");
    his = job = new_job(NULL);
    his.user = SOMEBODY;
    rank[0] = start(&his, 0);
    rank[1] = start(&job, 1);
    check_end(&rank[1], 1, UNET_IO, "it is another user's", "a door of another user");
    (void)kill(rank[0].process, SIGKILL);
    end(&rank[0]);
}

/* Rank 0 names who has not come, and why others were sent away. */
static void test_absent(void) {
    Job job = new_job(SECRET);
    job.timeout = 1;
    Rank first = start(&job, 0);
    const int fd = come_first(&job);
    say(fd, "unranks1", 8);
    say(fd, "................................................", GREETING_BYTES - 8);
    check_end(&first, 0, UNET_IO, "rank 1, 2, 3 did not come to 127.0.0.1", "absent ranks");
    CHECK(strstr(first.text, "no other machine comes") != NULL, "rank 0 does not say where it is: %s",
          first.text);
    CHECK(strstr(first.text,
                 "1 other was sent away, the last one, from 127.0.0.1, because it does not speak") != NULL,
          "rank 0 does not say who came: %s", first.text);
    (void)close(fd);
}

static void test_file(void) {
    char path[] = "/tmp/strangers_test-XXXXXX";
    const int fd = mkstemp(path);
    Job job = new_job(NULL);
    job.file = path;
    Rank rank[MOST];
    (void)!write(fd, SECRET "\n", sizeof SECRET);
    Job same = job;
    same.file = NULL;
    same.secret = SECRET; /* without the end of the line */
    rank[0] = start(&same, 0);
    check_all(&job, rank, 1, "a secret in a file");
    (void)fchmod(fd, 0644);
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_USAGE, "chmod 600", "a file that others read");
    (void)fchmod(fd, 0600);
    (void)!ftruncate(fd, 5);
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_USAGE, "has at least 16", "a short secret");
    job.secret = SECRET;
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_USAGE, "unset one", "two secrets");
    (void)unlink(path);
    job.secret = NULL;
    rank[0] = start(&job, 0);
    check_end(&rank[0], 0, UNET_USAGE, "No such file", "no file");
    (void)close(fd);
}

/* The cards of rank 0: each address is one. */
static void test_cards_of_all(void) {
    uint8_t bytes[2][CARD_BYTES];
    Card card[2];
    static const Card first = {.rank = 0, .size = 2, .port = 9}, second = {1, 2, 65535, "fe80::1%eth0"};
    static const char *const wrong[] = {"", "example.com", "::1%\n", "1 2"};
    card_write(&first, bytes[0]);
    card_write(&second, bytes[1]);
    CHECK(card_read_all(card, 2, bytes[0]) && card[1].port == 65535, "right cards are refused");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Card changed = second;
        (void)snprintf(changed.host, sizeof changed.host, "%s", wrong[i]);
        card_write(&changed, bytes[1]);
        CHECK(!card_read_all(card, 2, bytes[0]), "`%s` is taken for an address", wrong[i]);
    }
    card_write(&first, bytes[1]);
    CHECK(!card_read_all(card, 2, bytes[0]), "rank 0 is at two places");
}

static void test_bare(void) {
    const Job with = new_job(SECRET), without = new_job(NULL);
    Rank rank[MOST] = {start(&with, 0)};
    check_end(&rank[0], 0, UNET_USAGE, "libsodium", "a secret without libsodium");
    rank[0] = start(&without, 0);
    check_all(&without, rank, 1, "this machine, without libsodium");
}

int main(int argc, char **argv) {
    set("UNET_PORT", NULL);
    set("LOCAL_WORLD_SIZE", NULL);
    set("TORCHELASTIC_RUN_ID", NULL);
    set("NCCL_SOCKET_IFNAME", NULL);
    test_silent(NULL);
    test_words(NULL);
    test_cards_of_all();
    test_other_kind_of_address();
    if (argc > 1 && strcmp(argv[1], "bare") == 0) {
        test_bare();
    } else {
        test_user();
        test_silent(SECRET);
        test_words(SECRET);
        test_replay();
        test_proofs();
        test_flood(NULL);
        test_flood(SECRET);
        test_wrong_ranks();
        test_false_door();
        test_interface();
        test_network();
        test_absent();
        test_file();
    }
    printf("%s\n", failures == 0 ? "ranks meet, and strangers do not" : "strangers_test failed");
    return failures != 0;
}
