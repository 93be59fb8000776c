/* ranks_door.c - where ranks that find each other by TCP are received (ranks_door.h): by one loop, which
 * waits for all who are at the door at once. */
#include "ranks_door.h"

#include "driver.h"
#include "ranks_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_LISTENERS = 8,
    MOST_GUESTS = 256, /* when another one comes, who has been at the door longest must come again */
    AT_A_TIME = 16,    /* guests that are let in before those who are there are heard */
    PATIENCE = 5       /* seconds in which a guest says who he is, and a door answers */
};

typedef struct {
    int fd;
    double end;
    size_t heard; /* bytes of what he says */
    uint8_t said[GREETING_BYTES + CALL_BYTES];
    Talk talk;
} Guest;

struct Door {
    Party party;
    int listener[MOST_LISTENERS], nlistener;
    Guest guest[MOST_GUESTS]; /* in the order in which they came */
    int nguest;
    int64_t refused; /* guests who were sent away, and the last of them */
    Verdict why;
    char from[HOST_BYTES];
};

/* ---- opening and closing ---- */

static Door *make_door(const Party *party, UnetError *error) {
    Door *door = calloc(1, sizeof *door);
    if (door == NULL)
        (void)unet_fail(error, UNET_TOO_SMALL, "no memory for connections");
    else
        door->party = *party;
    return door;
}

void door_close(Door *door) {
    if (door == NULL)
        return;
    for (int i = 0; i < door->nguest; i++)
        (void)close(door->guest[i].fd);
    for (int i = 0; i < door->nlistener; i++)
        (void)close(door->listener[i]);
    free(door);
}

static bool may_meet(const Party *party, const struct sockaddr *address) {
    return party->anywhere || socket_is_loopback(address);
}

/* Without a secret, other users of this machine are strangers. */
static bool believes(const Party *party, int fd) {
    return party->secret->given || !socket_is_at_loopback(fd) || socket_peer_is_ours(fd);
}

static UnetStatus refuse_network(const char *host, UnetError *error) {
    return unet_fail(
        error, UNET_USAGE,
        "other machines reach %s, and the ranks of this job have no secret by which they know each other: "
        "set UNET_JOB_SECRET to the same text for all of them (`openssl rand -hex 16` makes one), or "
        "UNET_JOB_SECRET_FILE to a file that holds it. Ranks on one machine need none if MASTER_ADDR is "
        "127.0.0.1. --trust-network does without one, for a network where nobody else is",
        host);
}

static UnetStatus fail_to_listen(const char *host, const char *port, int problem, UnetError *error) {
    return unet_fail(
        error, UNET_IO, "rank 0 cannot listen at %s:%s: %s; %s", host, port, strerror(problem),
        problem == EADDRNOTAVAIL
            ? "MASTER_ADDR must be an address of the machine of rank 0"
            : "set UNET_PORT to a port that is free on the machine of rank 0, the same for all");
}

/* Systems often know their own name by an address that is theirs alone. */
static UnetStatus fail_to_be_reached(const char *host, UnetError *error) {
    return unet_fail(error, UNET_USAGE,
                     "MASTER_ADDR is %s, which is a loopback address on the machine of rank 0: no other "
                     "machine comes there. Set it to the address that others reach (torchrun: "
                     "--local-addr), or see to it that the name means that one (/etc/hosts)",
                     host);
}

static bool is_at_loopback(const Door *door) {
    for (int i = 0; i < door->nlistener; i++)
        if (!socket_is_at_loopback(door->listener[i]))
            return false;
    return true;
}

UnetStatus door_open(Door **door, const Party *party, const char *host, const char *port,
                     UnetError *error) {
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int problem = 0;
    Door *d = *door = make_door(party, error);
    if (d == NULL)
        return UNET_TOO_SMALL;
    const int unknown = getaddrinfo(host, port, &wanted, &found);
    if (unknown != 0)
        return unet_fail(error, UNET_IO, "MASTER_ADDR is %s, which rank 0 does not know: %s", host,
                         gai_strerror(unknown));
    for (const struct addrinfo *a = found; a != NULL && d->nlistener < MOST_LISTENERS; a = a->ai_next) {
        if (!may_meet(party, a->ai_addr))
            continue;
        const int fd = socket_listen(a->ai_addr, a->ai_addrlen);
        if (fd >= 0)
            d->listener[d->nlistener++] = fd;
        else
            problem = errno;
    }
    freeaddrinfo(found);
    if (d->nlistener > 0)
        return party->elsewhere && is_at_loopback(d) ? fail_to_be_reached(host, error) : UNET_OK;
    return problem != 0 ? fail_to_listen(host, port, problem, error) : refuse_network(host, error);
}

/* At the address by which FD reaches the other side, and at any port that is free there. */
static UnetStatus open_beside(Door **door, const Party *party, int fd, Card *mine, UnetError *error) {
    struct sockaddr_storage own = {0};
    struct sockaddr *address = (struct sockaddr *)&own;
    socklen_t length = sizeof own;
    int listener = -1;
    Door *d = *door = make_door(party, error);
    if (d == NULL)
        return UNET_TOO_SMALL;
    if (getsockname(fd, address, &length) == 0) {
        socket_set_port(&own, 0);
        listener = socket_listen(address, length);
    }
    if (listener >= 0)
        d->listener[d->nlistener++] = listener;
    if (listener < 0 || getsockname(listener, address, &length) != 0)
        return unet_fail(error, UNET_IO, "rank %d cannot listen for others: %s", (int)party->rank,
                         strerror(errno));
    mine->port = socket_port(&own);
    return UNET_OK;
}

/* ---- guests ---- */

static void forget_guest(Door *door, int i) {
    door->nguest--;
    memmove(&door->guest[i], &door->guest[i + 1], (size_t)(door->nguest - i) * sizeof *door->guest);
}

static void send_away(Door *door, int i, Verdict why) {
    char from[HOST_BYTES];
    if (socket_peer_host(door->guest[i].fd, from, sizeof from))
        (void)snprintf(door->from, sizeof door->from, "%s", from);
    door->why = why;
    door->refused++;
    (void)close(door->guest[i].fd);
    forget_guest(door, i);
}

/* Lets in all who wait at a listener; each is greeted. */
static void let_in(Door *door, int listener) {
    for (int k = 0; k < AT_A_TIME; k++) {
        const int fd = socket_accept(listener);
        const bool is_full = fd >= 0 ? door->nguest == MOST_GUESTS : errno == EMFILE || errno == ENFILE;
        if (is_full && door->nguest > 0)
            send_away(door, 0, VERDICT_SILENT);
        if (fd < 0)
            return;
        Guest *g = &door->guest[door->nguest];
        *g = (Guest){.fd = fd, .end = machine_seconds() + PATIENCE, .talk = {.door = door->party.rank}};
        door->nguest++;
        card_greet(door->party.secret, g->talk.host);
        if (send(fd, g->talk.host, sizeof g->talk.host, MSG_NOSIGNAL) != (ssize_t)sizeof g->talk.host)
            send_away(door, door->nguest - 1, VERDICT_SILENT);
    }
}

/* Whether guest G has said all there is to say, and *WHY the verdict; or cannot go on, as *WHY says. */
static bool has_said(const Door *door, Guest *g, Verdict *why) {
    const size_t wanted = g->heard < GREETING_BYTES ? GREETING_BYTES : sizeof g->said;
    const bool is_late = machine_seconds() > g->end;
    const ssize_t n = recv(g->fd, g->said + g->heard, wanted - g->heard, 0);
    *why = VERDICT_SILENT;
    if (n == 0 || is_late)
        return true;
    if (n < 0)
        return errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK;
    g->heard += (size_t)n;
    if (g->heard == GREETING_BYTES) {
        memcpy(g->talk.guest, g->said, GREETING_BYTES);
        *why = card_judge_greeting(door->party.secret, g->talk.guest);
        return *why != VERDICT_WELCOME;
    }
    *why = VERDICT_WELCOME;
    return g->heard == sizeof g->said;
}

/* A guest with a right greeting has shown his card: returns the answer, which has reached him. */
static Verdict answer(const Door *door, Guest *g, const struct pollfd *peer, Card *card) {
    const Party *party = &door->party;
    uint8_t text[ANSWER_BYTES];
    Verdict verdict = card_judge_call(party->secret, &g->talk, party->size, g->said + GREETING_BYTES, card);
    if (verdict == VERDICT_WELCOME && !believes(party, g->fd))
        verdict = VERDICT_USER;
    if (verdict == VERDICT_WELCOME && peer[card->rank].fd >= 0)
        verdict = VERDICT_TAKEN;
    if (verdict == VERDICT_WELCOME && !socket_peer_host(g->fd, card->host, sizeof card->host))
        verdict = VERDICT_SILENT;
    card_answer(party->secret, &g->talk, verdict, text);
    return send(g->fd, text, sizeof text, MSG_NOSIGNAL) == (ssize_t)sizeof text ? verdict : VERDICT_SILENT;
}

/* Hears guest I; returns whether he is a rank, who has come. */
static bool attend(Door *door, int i, struct pollfd *peer, Card *card) {
    Guest *g = &door->guest[i];
    Verdict why;
    Card shown;
    if (!has_said(door, g, &why))
        return false;
    if (why == VERDICT_WELCOME)
        why = answer(door, g, peer, &shown);
    if (why != VERDICT_WELCOME) {
        send_away(door, i, why);
        return false;
    }
    card[shown.rank] = shown;
    peer[shown.rank].fd = g->fd;
    forget_guest(door, i);
    return true;
}

/* Waits until somebody comes or speaks, or a second is over. */
static void watch(const Door *door, double end) {
    struct pollfd watched[MOST_LISTENERS + MOST_GUESTS];
    nfds_t count = 0;
    for (int i = 0; i < door->nlistener; i++)
        watched[count++] = (struct pollfd){.fd = door->listener[i], .events = POLLIN};
    for (int i = 0; i < door->nguest; i++)
        watched[count++] = (struct pollfd){.fd = door->guest[i].fd, .events = POLLIN};
    const double left = end - machine_seconds();
    (void)poll(watched, count, left < 0 ? 0 : left < 1 ? (int)(left * 1000) + 1 : 1000);
}

bool door_receive(Door *door, struct pollfd *peer, Card *card, int32_t count) {
    const double end = machine_seconds() + door->party.timeout;
    while (count > 0 && machine_seconds() < end) {
        watch(door, end);
        for (int i = 0; i < door->nlistener; i++)
            let_in(door, door->listener[i]);
        for (int i = door->nguest - 1; i >= 0; i--)
            count -= attend(door, i, peer, card);
    }
    return count == 0;
}

void door_tell(const Door *door, char *text, size_t size) {
    const char *alone = door->party.anywhere && is_at_loopback(door)
                            ? "; it is a loopback address, where no other machine comes"
                            : "";
    if (door->refused == 0)
        (void)snprintf(text, size, "%s", alone);
    else
        (void)snprintf(text, size, "%s; %lld other%s sent away, the last one, from %s, because %s", alone,
                       (long long)door->refused, door->refused == 1 ? " was" : "s were", door->from,
                       card_reason(door->why));
}

/* ---- coming to another one's door ---- */

/* A connection to the first address of HOST that has one, or -1; then *WHY says why not, and *BARRED
 * whether there is none where this rank may meet others. */
static int reach(const Party *party, const char *host, const char *port, const char **why, bool *barred) {
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int unknown = getaddrinfo(host, port, &wanted, &found);
    int fd = -1;
    *barred = unknown == 0;
    for (const struct addrinfo *a = found; unknown == 0 && a != NULL && fd < 0; a = a->ai_next) {
        if (!may_meet(party, a->ai_addr))
            continue;
        *barred = false;
        fd = socket_connect(a->ai_addr, a->ai_addrlen, machine_seconds() + PATIENCE);
    }
    *why = unknown != 0 ? gai_strerror(unknown) : strerror(errno);
    if (found != NULL)
        freeaddrinfo(found);
    return fd;
}

/* False: the other side has ended the connection before it had said what it makes of MINE. */
static bool call_at(const Party *party, int32_t r, int fd, const Card *mine, Verdict *verdict) {
    Talk talk = {.door = r};
    uint8_t call[CALL_BYTES], said[ANSWER_BYTES];
    const double soon = machine_seconds() + PATIENCE;
    card_greet(party->secret, talk.guest);
    if (!socket_send(fd, talk.guest, sizeof talk.guest, soon) ||
        !socket_receive(fd, talk.host, sizeof talk.host, soon))
        return false;
    *verdict = card_judge_greeting(party->secret, talk.host);
    if (*verdict == VERDICT_WELCOME && !believes(party, fd))
        *verdict = VERDICT_USER;
    if (*verdict != VERDICT_WELCOME)
        return true;
    card_call(party->secret, &talk, mine, call);
    /* Who has shown his card waits: the door may have received him, and then he cannot come again. */
    const double end = machine_seconds() + party->timeout;
    if (!socket_send(fd, call, sizeof call, end) || !socket_receive(fd, said, sizeof said, end))
        return false;
    *verdict = card_judge_answer(party->secret, &talk, said);
    return true;
}

/* Comes once.  False: nobody has said what he makes of MINE, as *WHY tells, and may do so later. */
static bool try_to_come(const Party *party, int32_t r, const char *host, const char *port, Card *mine,
                        Door **own, int *fd, const char **why, UnetStatus *status, UnetError *error) {
    bool barred;
    Verdict verdict;
    *fd = reach(party, host, port, why, &barred);
    *status = barred ? refuse_network(host, error) : UNET_OK;
    if (*fd >= 0 && own != NULL) {
        door_close(*own);
        *status = open_beside(own, party, *fd, mine, error);
    }
    if (*fd < 0 || *status != UNET_OK)
        return *status != UNET_OK;
    if (!call_at(party, r, *fd, mine, &verdict)) {
        *why = "who listens there ends the connection, or says nothing";
        (void)close(*fd);
        *fd = -1;
        return false;
    }
    if (verdict != VERDICT_WELCOME)
        *status = unet_fail(error, UNET_IO, "rank %d is not found at %s:%s: %s", (int)r, host, port,
                            card_reason(verdict));
    return true;
}

UnetStatus door_come(const Party *party, int32_t r, const char *host, const char *port, Card *mine,
                     Door **own, int *fd, UnetError *error) {
    const double end = machine_seconds() + party->timeout;
    const struct timespec a_while = {0, 50000000};
    const char *why;
    UnetStatus status;
    while (!try_to_come(party, r, host, port, mine, own, fd, &why, &status, error)) {
        if (machine_seconds() > end)
            return unet_fail(error, UNET_IO, "rank %d is not reached at %s:%s in %.0f s (--timeout): %s",
                             (int)r, host, port, party->timeout, why);
        (void)nanosleep(&a_while, NULL);
    }
    return status;
}
