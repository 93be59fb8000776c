/* ranks_socket.h - sockets that never wait without end: each function has the time, of machine_seconds(),
 * at which it gives up. */
#ifndef UNET_RANKS_SOCKET_H
#define UNET_RANKS_SOCKET_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Whether only processes of this machine reach this address. */
bool socket_is_loopback(const struct sockaddr *address);

bool socket_is_at_loopback(int fd);

/* Whether the other side of a socket at loopback, which has accepted the connection, is a process of the
 * same user, as the system tells by /proc. */
bool socket_peer_is_ours(int fd);

/* A socket that listens at the address, or -1 with errno. */
int socket_listen(const struct sockaddr *address, socklen_t length);

/* The next of those who wait at a listener, or -1. */
int socket_accept(int listener);

/* A connection to the address, or -1 with errno. */
int socket_connect(const struct sockaddr *address, socklen_t length, double end);

/* All bytes.  False: the other side has ended the connection, or the time is over (errno is ETIMEDOUT). */
bool socket_send(int fd, const void *bytes, size_t count, double end);
bool socket_receive(int fd, void *bytes, size_t count, double end);

/* Who is at the other side, in numbers: "127.0.0.1"; false: unknown. */
bool socket_peer_host(int fd, char *host, size_t size);

/* The port of an address. */
uint16_t socket_port(const struct sockaddr_storage *address);
void socket_set_port(struct sockaddr_storage *address, uint16_t port);

#endif
