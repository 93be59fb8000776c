/* ranks_door.h - where ranks that find each other by TCP are received, and how they come there.
 *
 * Requires: a secret, or addresses of this machine alone, or the user's word that the network is his own.
 * Provides: connections to ranks of this job, and to nobody else.  Strangers may come in any number and say
 * anything, or nothing; they are sent away and hold nobody up.
 */
#ifndef UNET_RANKS_DOOR_H
#define UNET_RANKS_DOOR_H

#include "ranks_card.h"

#include <poll.h>

/* The job of a rank, and the place where it meets the others. */
typedef struct {
    int32_t rank, size;
    const Secret *secret;
    bool anywhere;  /* at addresses that other machines reach, too */
    bool elsewhere; /* some of the others are known to be on other machines */
    double timeout; /* seconds that it waits for others */
} Party;

typedef struct Door Door;

/* Opens the door of rank 0 at the interfaces that HOST names, and at no other.  PORT is a number.  *DOOR is
 * closed after a failure, too. */
UNET_MUST_USE UnetStatus door_open(Door **door, const Party *party, const char *host, const char *port,
                                   UnetError *error);
void door_close(Door *door);

/* Receives so many ranks, each with a number above the door's: PEER[r].fd becomes the connection to
 * rank r, which was -1, and CARD[r] tells his address.  False: some have not come in time. */
bool door_receive(Door *door, struct pollfd *peer, Card *card, int32_t count);

/* A reason why ranks may not have come, and who was sent away: "; 3 others were sent away ...", or "". */
void door_tell(const Door *door, char *text, size_t size);

/* Comes to the door of rank R at HOST and PORT, which may not be open yet; *FD becomes the connection.
 * With OWN, a door is opened before, at the interface by which that one is reached, and MINE says where. */
UNET_MUST_USE UnetStatus door_come(const Party *party, int32_t r, const char *host, const char *port,
                                   Card *mine, Door **own, int *fd, UnetError *error);

#endif
