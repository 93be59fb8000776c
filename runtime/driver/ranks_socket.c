/* ranks_socket.c - sockets that never wait without end (ranks_socket.h). */
#include "ranks_socket.h"

#include "driver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool socket_is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

bool socket_is_at_loopback(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
           socket_is_loopback((struct sockaddr *)&address);
}

/* As the network has it. */
static in_port_t *port_of(struct sockaddr_storage *address) {
    return address->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)(void *)address)->sin6_port
                                          : &((struct sockaddr_in *)(void *)address)->sin_port;
}

uint16_t socket_port(const struct sockaddr_storage *address) {
    struct sockaddr_storage copy = *address;
    return ntohs(*port_of(&copy));
}

void socket_set_port(struct sockaddr_storage *address, uint16_t port) {
    *port_of(address) = htons(port);
}

bool socket_peer_host(int fd, char *host, size_t size) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    return getpeername(fd, (struct sockaddr *)&address, &length) == 0 &&
           getnameinfo((struct sockaddr *)&address, length, host, (socklen_t)size, NULL, 0,
                       NI_NUMERICHOST) == 0;
}

/* ---- whose the other side is ---- */

enum { ADDRESS_BYTES = 48, READINGS = 5 };

/* "0100007F:1F90", as /proc/net/tcp has it. */
static void write_address(const struct sockaddr_storage *address, char text[ADDRESS_BYTES]) {
    uint32_t word[4];
    const bool is_v6 = address->ss_family == AF_INET6;
    const int words = is_v6 ? 4 : 1;
    if (is_v6)
        memcpy(word, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof word);
    else
        memcpy(word, &((const struct sockaddr_in *)(const void *)address)->sin_addr, sizeof *word);
    for (int i = 0; i < words; i++)
        (void)snprintf(text + 8 * i, 9, "%08X", (unsigned)word[i]);
    (void)snprintf(text + 8 * words, 6, ":%04X", (unsigned)socket_port(address));
}

/* Reads the row that begins with the two ADDRESSES and says that they are connected; whose socket it is
 * goes to *USER.  False: there is no such row, or nobody has the socket open. */
static bool find_user(const char *path, const char *addresses, unsigned long *user) {
    char line[512];
    unsigned long inode = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && inode == 0 && fgets(line, sizeof line, file) != NULL) {
        const char *row = strstr(line, addresses);
        if (row != NULL && sscanf(row + strlen(addresses), "%*s %*s %*s %lu %*s %lu", user, &inode) != 2)
            inode = 0;
    }
    if (file != NULL)
        (void)fclose(file);
    return inode != 0;
}

bool socket_peer_is_ours(int fd) {
    struct sockaddr_storage own, other;
    socklen_t length = sizeof own, there = sizeof other;
    char here[ADDRESS_BYTES], peer[ADDRESS_BYTES], row[2 * ADDRESS_BYTES + 8];
    unsigned long user = 0;
    bool is_found = false;
    if (getsockname(fd, (struct sockaddr *)&own, &length) != 0 ||
        getpeername(fd, (struct sockaddr *)&other, &there) != 0)
        return false;
    write_address(&own, here);
    write_address(&other, peer);
    (void)snprintf(row, sizeof row, " %s %s 01 ", peer, here);
    /* A row may be missed while others come and go. */
    for (int i = 0; i < READINGS && !is_found; i++)
        is_found =
            find_user(own.ss_family == AF_INET6 ? "/proc/self/net/tcp6" : "/proc/self/net/tcp", row, &user);
    return is_found && user == (unsigned long)geteuid();
}

/* ---- opening ---- */

static int close_with(int fd, int problem) {
    (void)close(fd);
    errno = problem;
    return -1;
}

/* A socket that does not wait, and sends small messages at once. */
static int prepare(int fd) {
    const int yes = 1;
    if (fd < 0)
        return -1;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return close_with(fd, errno);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

int socket_listen(const struct sockaddr *address, socklen_t length) {
    const int yes = 1, fd = prepare(socket(address->sa_family, SOCK_STREAM, 0));
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(fd, address, length) != 0 || listen(fd, SOMAXCONN) != 0)
        return close_with(fd, errno);
    return fd;
}

int socket_accept(int listener) {
    return prepare(accept(listener, NULL, NULL));
}

/* Polls until one of EVENTS, or the end. */
static bool wait_for(int fd, short events, double end) {
    struct pollfd watched = {.fd = fd, .events = events};
    for (double left; (left = end - machine_seconds()) > 0;)
        if (poll(&watched, 1, left < 1 ? (int)(left * 1000) + 1 : 1000) > 0)
            return true;
    errno = ETIMEDOUT;
    return false;
}

/* A connection to a port that nobody listens at, and that the system gave to this very socket. */
static bool is_to_itself(int fd) {
    struct sockaddr_storage own = {0}, other = {0};
    socklen_t length = sizeof own, there = sizeof other;
    return getsockname(fd, (struct sockaddr *)&own, &length) == 0 &&
           getpeername(fd, (struct sockaddr *)&other, &there) == 0 && length == there &&
           memcmp(&own, &other, length) == 0;
}

int socket_connect(const struct sockaddr *address, socklen_t length, double end) {
    const int fd = prepare(socket(address->sa_family, SOCK_STREAM, 0));
    int problem = 0;
    socklen_t size = sizeof problem;
    if (fd < 0)
        return -1;
    if (connect(fd, address, length) != 0 && (errno != EINPROGRESS || !wait_for(fd, POLLOUT, end) ||
                                              getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) != 0))
        return close_with(fd, errno);
    if (problem == 0 && is_to_itself(fd))
        problem = ECONNREFUSED;
    return problem == 0 ? fd : close_with(fd, problem);
}

/* ---- messages ---- */

bool socket_send(int fd, const void *bytes, size_t count, double end) {
    for (const char *at = bytes; count > 0;) {
        const ssize_t n = send(fd, at, count, MSG_NOSIGNAL);
        if (n > 0) {
            at += n;
            count -= (size_t)n;
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) ||
                   !wait_for(fd, POLLOUT, end)) {
            return false;
        }
    }
    return true;
}

bool socket_receive(int fd, void *bytes, size_t count, double end) {
    for (char *at = bytes; count > 0;) {
        const ssize_t n = recv(fd, at, count, 0);
        if (n > 0) {
            at += n;
            count -= (size_t)n;
        } else if (n == 0) {
            errno = ECONNRESET;
            return false;
        } else if ((errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) ||
                   !wait_for(fd, POLLIN, end)) {
            return false;
        }
    }
    return true;
}
