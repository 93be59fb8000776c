/* connection.h - what NCCL does for processes that train together, each on a GPU of its own.
 *
 * It is in an archive of its own (runtime/nccl), which programs with `ranks` link where unetc was built
 * with NCCL.
 */
#ifndef UNET_CONNECTION_H
#define UNET_CONNECTION_H

#include "unet/cuda.h"
#include "unet/device.h"

/* Numbers on the device that are sent to a rank, or received from it. */
typedef struct {
    float *at;
    int64_t count;
} UnetNumbers;

/* GROUP is the processes of one run.  Work that is queued in STREAM may be captured as a graph. */
typedef struct {
    int32_t (*version)(void);
    /* Opens a place where a group can meet; by the first process. */
    UnetStatus (*open)(char id[sizeof(((UnetPeer *)0)->id)], UnetError *error);
    /* *GROUP, once it is set, is left after a failure, too. */
    UnetStatus (*join)(void **group, const UnetConnection *connection, UnetError *error);
    /* SEND[r] goes to rank r, RECEIVE[r] comes from there; both sides know how much that is. */
    UnetStatus (*exchange)(void *group, const UnetNumbers *send, const UnetNumbers *receive,
                           cudaStream_t stream, UnetError *error);
    /* NUMBERS become the sums over all ranks, added as NCCL likes: the WHOLE of them, or in each rank its
     * slice. */
    UnetStatus (*add)(void *group, UnetNumbers numbers, bool whole, cudaStream_t stream, UnetError *error);
    /* The failure since then, on whichever side. */
    UnetStatus (*look)(void *group, UnetError *error);
    /* Queued exchanges wait for other ranks no more, and end.  Returns at once; all that may follow is
     * leave. */
    void (*stop)(void *group);
    /* Frees GROUP.  No exchange is under way, and no graph holds one: NCCL would wait for it. */
    void (*leave)(void *group);
} UnetNccl;

#endif
