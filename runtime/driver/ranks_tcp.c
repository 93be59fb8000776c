/* ranks_tcp.c - ranks reach each other by TCP (ranks.h), where no MPI has started them: torchrun, or
 * variables set by hand.
 *
 * Rank 0 listens at MASTER_ADDR and MASTER_PORT.  The others come there, say who they are and at which port
 * they listen themselves, and are told the addresses of all; then each pair has a connection.  Messages
 * have no heads, for both sides know how long they are.  Nothing is encrypted and nobody proves who he is:
 * this is for networks whose machines trust each other, as MPI is.
 */
#include "ranks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { HOST_BYTES = 64, PORT_BYTES = 8 };
#define HELLO UINT64_C(0x31736b6e6172756e) /* "unranks1" */

/* What a rank says first, and where it can be reached. */
typedef struct {
    uint64_t hello;
    int32_t rank, size;
    char host[HOST_BYTES], port[PORT_BYTES];
} Card;

typedef struct {
    int32_t rank, size;
    int listener;
    struct pollfd *peer; /* one per rank */
    Card *card;
    size_t *sent, *received; /* bytes of the pieces on the way */
} State;

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

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

/* ---- while ranks find each other: sockets wait ---- */

static bool send_all(int fd, const void *bytes, size_t count) {
    for (const char *at = bytes; count > 0;) {
        const ssize_t n = send(fd, at, count, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += n;
        count -= (size_t)n;
    }
    return true;
}

static bool receive_all(int fd, void *bytes, size_t count) {
    return recv(fd, bytes, count, MSG_WAITALL) == (ssize_t)count;
}

/* Whoever comes and says nothing is not waited for longer. */
static void limit_waiting(int fd) {
    const struct timeval seconds = {.tv_sec = 5};
    const int yes = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &seconds, sizeof seconds);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &seconds, sizeof seconds);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* A socket at the address A that listens, or that is connected; -1 with errno. */
static int socket_at(const struct addrinfo *a, bool listens) {
    const int yes = 1, no = 0;
    const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listens && a->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (listens ? bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0
                : connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    const int problem = errno;
    (void)close(fd);
    errno = problem;
    return -1;
}

static int open_socket(const char *host, const char *port, int family, bool listens) {
    const struct addrinfo wanted = {
        .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = listens ? AI_PASSIVE : 0};
    struct addrinfo *found = NULL;
    int fd = -1;
    errno = EADDRNOTAVAIL;
    if (getaddrinfo(host, port, &wanted, &found) != 0)
        return -1;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = socket_at(a, listens);
    const int problem = errno;
    freeaddrinfo(found);
    errno = problem;
    return fd;
}

/* Of this machine, for both kinds of addresses, where it has both. */
static int listen_at(const char *port) {
    const int fd = open_socket(NULL, port, AF_INET6, true);
    return fd >= 0 ? fd : open_socket(NULL, port, AF_INET, true);
}

/* Where the socket FD is reached, or, if PEER, who is at its other end. */
static bool read_address(int fd, bool peer, Card *card, bool with_host) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[HOST_BYTES], port[PORT_BYTES];
    const int got = peer ? getpeername(fd, (struct sockaddr *)&address, &length)
                         : getsockname(fd, (struct sockaddr *)&address, &length);
    if (got != 0 || getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                                NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    if (with_host)
        memcpy(card->host, host, sizeof host);
    else
        memcpy(card->port, port, sizeof port);
    return true;
}

static UnetStatus fail_missing(const State *s, const char *where, double timeout, UnetError *error) {
    bool *missing = calloc((size_t)s->size, sizeof *missing);
    char ranks[128] = "";
    for (int32_t r = 0; missing != NULL && r < s->size; r++)
        missing[r] = r != s->rank && s->peer[r].fd < 0;
    if (missing != NULL)
        name_ranks(s, missing, ranks, sizeof ranks);
    free(missing);
    return unet_fail(error, UNET_IO, "rank %s did not come to %s in %.0f s (--timeout)", ranks, where,
                     timeout);
}

/* So many others come to the listener, and say who they are. */
static UnetStatus accept_ranks(State *s, int32_t count, const char *where, double timeout,
                               UnetError *error) {
    const double end = now() + timeout;
    while (count > 0) {
        struct pollfd waiting = {.fd = s->listener, .events = POLLIN};
        const double left = end - now();
        if (left <= 0)
            return fail_missing(s, where, timeout, error);
        if (poll(&waiting, 1, left < 1 ? (int)(left * 1000) + 1 : 1000) <= 0)
            continue;
        const int fd = accept(s->listener, NULL, NULL);
        Card card;
        if (fd < 0)
            continue;
        limit_waiting(fd);
        if (!receive_all(fd, &card, sizeof card) || card.hello != HELLO || card.size != s->size ||
            card.rank <= s->rank || card.rank >= s->size || s->peer[card.rank].fd >= 0 ||
            !read_address(fd, true, &card, true)) {
            (void)close(fd); /* of another job, or of no job at all */
            continue;
        }
        s->card[card.rank] = card;
        s->peer[card.rank].fd = fd;
        count--;
    }
    return UNET_OK;
}

/* The other one may not listen yet. */
static UnetStatus come_to(State *s, int32_t r, const char *host, const char *port, double timeout,
                          UnetError *error) {
    const double end = now() + timeout;
    const struct timespec a_while = {0, 50000000};
    int fd;
    while ((fd = open_socket(host, port, AF_UNSPEC, false)) < 0 && now() < end)
        (void)nanosleep(&a_while, NULL);
    if (fd < 0)
        return unet_fail(error, UNET_IO, "rank %d is not reached at %s:%s in %.0f s: %s", (int)r, host,
                         port, timeout, strerror(errno));
    limit_waiting(fd);
    s->peer[r].fd = fd;
    return send_all(fd, &s->card[s->rank], sizeof *s->card)
               ? UNET_OK
               : unet_fail(error, UNET_IO, "rank %d at %s:%s does not listen", (int)r, host, port);
}

static UnetStatus learn_cards(State *s, double timeout, UnetError *error) {
    const double end = now() + timeout;
    const size_t bytes = (size_t)s->size * sizeof *s->card;
    struct pollfd first = {.fd = s->peer[0].fd, .events = POLLIN};
    while (now() < end && poll(&first, 1, 1000) <= 0)
        ;
    return receive_all(s->peer[0].fd, s->card, bytes)
               ? UNET_OK
               : unet_fail(error, UNET_IO, "rank 0 has ended, or waits for others that did not come");
}

static UnetStatus meet(State *s, const char *host, const char *port, double timeout, UnetError *error) {
    char where[300];
    (void)snprintf(where, sizeof where, "%s:%s", host, port);
    s->listener = listen_at(s->rank == 0 ? port : "0");
    if (s->listener < 0 || !read_address(s->listener, false, &s->card[s->rank], false))
        return unet_fail(
            error, UNET_IO,
            "rank %d cannot listen at port %s: %s; set UNET_PORT to a port that is free on the "
            "machine of rank 0, the same for all",
            (int)s->rank, s->rank == 0 ? port : "0", strerror(errno));
    UnetStatus status = s->rank == 0 ? accept_ranks(s, s->size - 1, where, timeout, error)
                                     : come_to(s, 0, host, port, timeout, error);
    for (int32_t r = 1; s->rank == 0 && r < s->size && status == UNET_OK; r++)
        if (!send_all(s->peer[r].fd, s->card, (size_t)s->size * sizeof *s->card))
            status = unet_fail(error, UNET_IO, "rank %d has ended before all had come", (int)r);
    if (s->rank > 0 && status == UNET_OK)
        status = learn_cards(s, timeout, error);
    for (int32_t r = 1; r < s->rank && status == UNET_OK; r++)
        status = come_to(s, r, s->card[r].host, s->card[r].port, timeout, error);
    return s->rank > 0 && status == UNET_OK
               ? accept_ranks(s, s->size - 1 - s->rank, "another rank", timeout, error)
               : status;
}

/* ---- messages: sockets do not wait ---- */

/* The port of torchrun is that of its own store, where its agent has opened one. */
static bool find_meeting(const char **host, char port[PORT_BYTES]) {
    const char *given = getenv("UNET_PORT"), *master = getenv("MASTER_PORT"),
               *taken = getenv("TORCHELASTIC_USE_AGENT_STORE");
    const char *text = given != NULL ? given : master;
    *host = getenv("MASTER_ADDR");
    if (*host == NULL || **host == '\0' || text == NULL)
        return false;
    const long number =
        strtol(text, NULL, 10) + (given == NULL && taken != NULL && strcmp(taken, "True") == 0);
    (void)snprintf(port, PORT_BYTES, "%ld", number);
    return number > 0 && number < 65536;
}

static UnetStatus join(void **state, int32_t *rank, int32_t *size, double timeout, UnetError *error) {
    const char *host;
    char port[PORT_BYTES];
    const size_t count = (size_t)*size;
    if (!find_meeting(&host, port))
        return unet_fail(
            error, UNET_USAGE,
            "rank %d of %d does not know where the others are: start the program with mpirun or "
            "torchrun, or set MASTER_ADDR and MASTER_PORT to the machine of rank 0 and a port "
            "that is free there",
            (int)*rank, (int)*size);
    State *s = calloc(1, sizeof *s);
    if (s != NULL)
        *s = (State){.rank = *rank,
                     .size = *size,
                     .listener = -1,
                     .peer = calloc(count, sizeof *s->peer),
                     .card = calloc(count, sizeof *s->card),
                     .sent = calloc(count, sizeof *s->sent),
                     .received = calloc(count, sizeof *s->received)};
    *state = s;
    if (s == NULL || s->peer == NULL || s->card == NULL || s->sent == NULL || s->received == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for connections");
    for (size_t r = 0; r < count; r++)
        s->peer[r].fd = -1;
    s->card[*rank] = (Card){.hello = HELLO, .rank = *rank, .size = *size};
    const UnetStatus status = meet(s, host, port, timeout, error);
    for (size_t r = 0; r < count && status == UNET_OK; r++)
        if (s->peer[r].fd >= 0)
            (void)fcntl(s->peer[r].fd, F_SETFL, O_NONBLOCK);
    return status;
}

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
    double since = now();
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
            since = now();
        else if (now() - since > timeout)
            return silent(s, receive, now() - since, error);
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
    if (s->listener >= 0)
        (void)close(s->listener);
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
