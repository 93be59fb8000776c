/* ranks_tcp.c - ranks reach each other by TCP (ranks.h), if no MPI has started them: torchrun, or
 * variables set by hand.
 *
 * Rank 0 listens at MASTER_ADDR and MASTER_PORT.  The others come there (ranks_door.h), say at which port
 * they listen themselves, and are told the addresses of all; then each pair has a connection, whose sides
 * have proved to each other that they have the secret of the job.  Behind that, messages have no heads, for
 * both sides know how long they are.  Nothing is encrypted: whoever can change messages between two
 * machines can still disturb a run.
 */
#include "driver.h"
#include "ranks_door.h"
#include "ranks_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT_BYTES = 8 };

typedef struct {
    int32_t rank, size;
    Secret secret;
    Party party;
    Door *door;          /* open until all have met */
    struct pollfd *peer; /* one per rank */
    Card *card;
    size_t *sent, *received; /* bytes of the pieces on the way */
} State;

/* "3, 5": the ranks for which MISSING is set. */
static void name_ranks(const State *s, const bool *missing, char *text, size_t size) {
    enum { SHOWN = 8 };
    size_t length = 0;
    text[0] = '\0';
    for (int32_t r = 0, shown = 0; r < s->size && shown < SHOWN; r++) {
        if (!missing[r])
            continue;
        const int n = snprintf(text + length, size - length, "%s%d", shown++ > 0 ? ", " : "", (int)r);
        length += n > 0 && (size_t)n < size - length ? (size_t)n : 0;
    }
}

/* ---- while ranks find each other ---- */

static UnetStatus fail_missing(const State *s, const char *where, UnetError *error) {
    bool *missing = calloc((size_t)s->size, sizeof *missing);
    char ranks[128] = "", others[512];
    for (int32_t r = 0; missing != NULL && r < s->size; r++)
        missing[r] = r != s->rank && s->peer[r].fd < 0;
    if (missing != NULL)
        name_ranks(s, missing, ranks, sizeof ranks);
    free(missing);
    door_tell(s->door, others, sizeof others);
    return unet_fail(error, UNET_IO, "rank %s did not come to %s in %.0f s (--timeout)%s", ranks, where,
                     s->party.timeout, others);
}

/* Rank 0 tells all others where all are. */
static UnetStatus tell_cards(const State *s, UnetError *error) {
    const size_t count = (size_t)s->size * CARD_BYTES;
    const double end = machine_seconds() + s->party.timeout;
    UnetStatus status = UNET_OK;
    uint8_t *cards = malloc(count);
    if (cards == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for connections");
    for (int32_t r = 0; r < s->size; r++)
        card_write(&s->card[r], cards + (size_t)r * CARD_BYTES);
    for (int32_t r = 1; r < s->size && status == UNET_OK; r++)
        if (!socket_send(s->peer[r].fd, cards, count, end))
            status = unet_fail(error, UNET_IO, "rank %d has ended before all had come", (int)r);
    free(cards);
    return status;
}

static UnetStatus learn_cards(State *s, UnetError *error) {
    const size_t count = (size_t)s->size * CARD_BYTES;
    const double end = machine_seconds() + s->party.timeout;
    UnetStatus status = UNET_OK;
    uint8_t *cards = malloc(count);
    if (cards == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for connections");
    if (!socket_receive(s->peer[0].fd, cards, count, end))
        status = unet_fail(error, UNET_IO, "rank 0 has ended, or waits for others that did not come");
    else if (!card_read_all(s->card, s->size, cards))
        status =
            unet_fail(error, UNET_IO, "rank 0 says where the others are, and one of them cannot be there");
    free(cards);
    return status;
}

static UnetStatus receive_ranks(State *s, int32_t count, const char *where, UnetError *error) {
    return count == 0 || door_receive(s->door, s->peer, s->card, count) ? UNET_OK
                                                                        : fail_missing(s, where, error);
}

static UnetStatus meet_first(State *s, const char *host, const char *port, UnetError *error) {
    char where[300];
    (void)snprintf(where, sizeof where, "%s:%s", host, port);
    UnetStatus status = door_open(&s->door, &s->party, host, port, error);
    if (status == UNET_OK)
        status = receive_ranks(s, s->size - 1, where, error);
    return status == UNET_OK ? tell_cards(s, error) : status;
}

static UnetStatus meet_others(State *s, const char *host, const char *port, UnetError *error) {
    UnetStatus status =
        door_come(&s->party, 0, host, port, &s->card[s->rank], &s->door, &s->peer[0].fd, error);
    if (status == UNET_OK)
        status = learn_cards(s, error);
    for (int32_t r = 1; r < s->rank && status == UNET_OK; r++) {
        char there[PORT_BYTES];
        (void)snprintf(there, sizeof there, "%u", (unsigned)s->card[r].port);
        status =
            door_come(&s->party, r, s->card[r].host, there, &s->card[s->rank], NULL, &s->peer[r].fd, error);
    }
    return status == UNET_OK ? receive_ranks(s, s->size - 1 - s->rank, "another rank", error) : status;
}

/* The port of torchrun belongs to its own store, if its agent has opened one. */
static bool find_meeting(const char **host, char text[PORT_BYTES], uint16_t *port) {
    const char *given = getenv("UNET_PORT"), *master = getenv("MASTER_PORT"),
               *taken = getenv("TORCHELASTIC_USE_AGENT_STORE");
    const char *number = given != NULL ? given : master;
    char *end;
    *host = getenv("MASTER_ADDR");
    if (*host == NULL || **host == '\0' || number == NULL || *number == '\0')
        return false;
    const long value =
        strtol(number, &end, 10) + (given == NULL && taken != NULL && strcmp(taken, "True") == 0);
    if (*end != '\0' || value < 1 || value > UINT16_MAX)
        return false;
    *port = (uint16_t)value;
    (void)snprintf(text, PORT_BYTES, "%ld", value);
    return true;
}

/* How many of the ranks are on this machine, as the launcher says; 0: it does not. */
static long ranks_here(void) {
    const char *here = getenv("LOCAL_WORLD_SIZE");
    return here == NULL ? 0 : strtol(here, NULL, 10);
}

static UnetStatus allocate(State **state, int32_t rank, int32_t size, UnetError *error) {
    const size_t count = (size_t)size;
    State *s = *state = calloc(1, sizeof *s);
    if (s != NULL)
        *s = (State){.rank = rank,
                     .size = size,
                     .peer = calloc(count, sizeof *s->peer),
                     .card = calloc(count, sizeof *s->card),
                     .sent = calloc(count, sizeof *s->sent),
                     .received = calloc(count, sizeof *s->received)};
    for (size_t r = 0; s != NULL && s->peer != NULL && r < count; r++)
        s->peer[r].fd = -1;
    if (s == NULL || s->peer == NULL || s->card == NULL || s->sent == NULL || s->received == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for connections");
    return UNET_OK;
}

static UnetStatus meet(State *s, const char *host, const char *port, UnetError *error) {
    const UnetStatus status =
        s->rank == 0 ? meet_first(s, host, port, error) : meet_others(s, host, port, error);
    door_close(s->door); /* nobody is awaited any more */
    s->door = NULL;
    /* NCCL opens sockets of its own, at any interface, where whoever has its id is welcome. */
    if (status == UNET_OK && socket_is_at_loopback(s->peer[s->rank == 0 ? 1 : 0].fd))
        (void)setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    return status;
}

static UnetStatus join(void **state, int32_t *rank, int32_t *size, const UnetMeeting *meeting,
                       UnetError *error) {
    const char *host;
    char port[PORT_BYTES];
    uint16_t number;
    const long here = ranks_here();
    State *s = NULL;
    if (!find_meeting(&host, port, &number))
        return unet_fail(
            error, UNET_USAGE,
            "rank %d of %d does not know where the others are: start the program with mpirun or "
            "torchrun, or set MASTER_ADDR and MASTER_PORT to the machine of rank 0 and a port "
            "that is free there",
            (int)*rank, (int)*size);
    UnetStatus status = allocate(&s, *rank, *size, error);
    *state = s;
    if (status == UNET_OK)
        status = secret_find(&s->secret, error);
    if (status != UNET_OK)
        return status;
    s->party = (Party){.rank = *rank,
                       .size = *size,
                       .secret = &s->secret,
                       .anywhere = s->secret.given || meeting->trusts_network,
                       .elsewhere = here > 0 && here < *size,
                       .timeout = meeting->timeout};
    s->card[*rank] = (Card){.rank = *rank, .size = *size, .port = number};
    /* MASTER_ADDR may be a name of this machine that others reach, and nobody else needs to come. */
    if (here == *size && !s->party.anywhere)
        host = "127.0.0.1";
    return meet(s, host, port, error);
}

/* ---- messages ---- */

static UnetStatus lost(int32_t r, UnetError *error) {
    return unet_fail(error, UNET_IO, "rank %d has ended, or its network; the last checkpoint is whole",
                     (int)r);
}

/* As much of PIECE as goes without waiting; *DONE bytes went before.  False: the connection is lost. */
static bool move(int fd, const UnetPiece *piece, size_t *done, bool sends) {
    while (*done < piece->count) {
        char *at = (char *)piece->bytes + *done;
        const ssize_t n = sends ? send(fd, at, piece->count - *done, MSG_NOSIGNAL)
                                : recv(fd, at, piece->count - *done, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        *done += (size_t)n;
    }
    return true;
}

static UnetStatus silent(const State *s, const UnetPiece *receive, double waited, UnetError *error) {
    bool *missing = calloc((size_t)s->size, sizeof *missing), any = false;
    char ranks[128] = "";
    for (int32_t r = 0; missing != NULL && r < s->size; r++)
        any |= missing[r] = s->received[r] < receive[r].count;
    for (int32_t r = 0; missing != NULL && r < s->size && !any; r++)
        missing[r] = s->peer[r].events != 0;
    if (missing != NULL)
        name_ranks(s, missing, ranks, sizeof ranks);
    free(missing);
    return unet_fail(error, UNET_IO, RANKS_SILENT, ranks, waited);
}

static UnetStatus exchange(void *state, const UnetPiece *send, const UnetPiece *receive, double timeout,
                           UnetError *error) {
    State *s = state;
    double since = machine_seconds();
    memset(s->sent, 0, (size_t)s->size * sizeof *s->sent);
    memset(s->received, 0, (size_t)s->size * sizeof *s->received);
    for (;;) {
        bool left = false, moved = false;
        for (int32_t r = 0; r < s->size; r++) {
            const size_t before = s->sent[r] + s->received[r];
            if (r == s->rank)
                continue;
            if (!move(s->peer[r].fd, &send[r], &s->sent[r], true) ||
                !move(s->peer[r].fd, &receive[r], &s->received[r], false))
                return lost(r, error);
            s->peer[r].events = (short)((s->sent[r] < send[r].count ? POLLOUT : 0) |
                                        (s->received[r] < receive[r].count ? POLLIN : 0));
            left |= s->peer[r].events != 0;
            moved |= s->sent[r] + s->received[r] > before;
        }
        if (!left)
            return UNET_OK;
        if (moved)
            since = machine_seconds();
        else if (machine_seconds() - since > timeout)
            return silent(s, receive, machine_seconds() - since, error);
        (void)poll(s->peer, (nfds_t)s->size, 100);
    }
}

/* Sockets are for any thread. */
static bool serves_threads(const void *state) {
    (void)state;
    return true;
}

static UnetStatus look(void *state, UnetError *error) {
    const State *s = state;
    char next;
    for (int32_t r = 0; r < s->size; r++)
        if (r != s->rank && recv(s->peer[r].fd, &next, sizeof next, MSG_PEEK | MSG_DONTWAIT) == 0)
            return lost(r, error);
    return UNET_OK;
}

/* The others learn of it when their connections end. */
static void leave(void *state, int code) {
    State *s = state;
    (void)code;
    if (s == NULL)
        return;
    for (int32_t r = 0; s->peer != NULL && r < s->size; r++)
        if (s->peer[r].fd >= 0)
            (void)close(s->peer[r].fd);
    door_close(s->door);
    free(s->peer);
    free(s->card);
    free(s->sent);
    free(s->received);
    free(s);
}

const UnetTransport ranks_tcp_transport = {.name = "TCP",
                                           .join = join,
                                           .exchange = exchange,
                                           .serves_threads = serves_threads,
                                           .look = look,
                                           .leave = leave};
