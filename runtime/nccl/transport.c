/* transport.c - sums of ranks on their way from GPU to GPU, by NCCL (runtime/cuda/connection.h).
 *
 * The group is made by a thread of its own: where a process ends before it came, NCCL waits for it without
 * end, and this program does not.
 */
#include "../cuda/connection.h"

#include <errno.h>
#include <nccl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    ncclComm_t comm;
    int32_t rank, size;
} Group;

static UnetStatus checked(ncclResult_t code, const char *what, UnetError *error) {
    if (code == ncclSuccess || code == ncclInProgress)
        return UNET_OK;
    return unet_fail(error, UNET_IO,
                     "NCCL: %s: %s (%s). NCCL_DEBUG=INFO says more; --exchange=host does without NCCL",
                     what, ncclGetErrorString(code), ncclGetLastError(NULL));
}

static int32_t version(void) {
    int found = 0;
    return ncclGetVersion(&found) == ncclSuccess ? found : 0;
}

static UnetStatus open_group(char *id, UnetError *error) {
    ncclUniqueId made;
    _Static_assert(sizeof made.internal == sizeof(((UnetPeer *)0)->id), "an id of NCCL fits");
    const UnetStatus status = checked(ncclGetUniqueId(&made), "the start", error);
    if (status == UNET_OK)
        memcpy(id, made.internal, sizeof made.internal);
    return status;
}

/* ---- the start ---- */

/* Of who waits and the thread that joins; the last of them frees it. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over, left; /* the thread has ended; nobody waits for it any more */
    ncclUniqueId id;
    int32_t rank, size, device;
    ncclComm_t comm;
    ncclResult_t code;
} Joining;

static void free_joining(Joining *j) {
    (void)pthread_cond_destroy(&j->changed);
    (void)pthread_mutex_destroy(&j->lock);
    free(j);
}

static void *join_in_thread(void *argument) {
    Joining *j = argument;
    ncclComm_t comm = NULL;
    ncclResult_t code = cudaSetDevice(j->device) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
    if (code == ncclSuccess)
        code = ncclCommInitRank(&comm, j->size, j->id, j->rank);
    (void)pthread_mutex_lock(&j->lock);
    j->comm = comm;
    j->code = code;
    j->over = true;
    const bool left = j->left;
    (void)pthread_cond_signal(&j->changed);
    (void)pthread_mutex_unlock(&j->lock);
    if (left)
        free_joining(j);
    return NULL;
}

static UnetStatus wait_for_thread(Joining *j, Group *group, double timeout, UnetError *error) {
    struct timespec end;
    int problem = 0;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)timeout + 1;
    (void)pthread_mutex_lock(&j->lock);
    while (!j->over && problem != ETIMEDOUT)
        problem = pthread_cond_timedwait(&j->changed, &j->lock, &end);
    const bool over = j->over;
    j->left = !over;
    (void)pthread_mutex_unlock(&j->lock);
    if (!over)
        return unet_fail(error, UNET_IO,
                         "NCCL has not connected %d ranks in %.0f s: one of them may have ended or be "
                         "stopped (--timeout); --exchange=host does without NCCL",
                         (int)j->size, timeout);
    group->comm = j->comm;
    const UnetStatus status = checked(j->code, "connecting ranks", error);
    free_joining(j);
    return status;
}

static UnetStatus join(void **state, const UnetConnection *connection, UnetError *error) {
    pthread_t thread;
    Group *group = calloc(1, sizeof *group);
    Joining *j = calloc(1, sizeof *j);
    *state = group;
    if (group == NULL || j == NULL) {
        free(j);
        return unet_fail(error, UNET_TOO_SMALL, "no memory for NCCL");
    }
    group->rank = j->rank = connection->rank;
    group->size = j->size = connection->size;
    memcpy(j->id.internal, connection->first.id, sizeof j->id.internal);
    (void)cudaGetDevice(&j->device);
    (void)pthread_mutex_init(&j->lock, NULL);
    (void)pthread_cond_init(&j->changed, NULL);
    if (pthread_create(&thread, NULL, join_in_thread, j) != 0) {
        free_joining(j);
        return unet_fail(error, UNET_TOO_SMALL, "no thread for NCCL");
    }
    (void)pthread_detach(thread);
    return wait_for_thread(j, group, connection->timeout, error);
}

/* ---- within a step ---- */

static UnetStatus exchange(void *state, const UnetNumbers *send, const UnetNumbers *receive,
                           cudaStream_t stream, UnetError *error) {
    const Group *g = state;
    ncclResult_t code = ncclGroupStart();
    if (code != ncclSuccess)
        return checked(code, "sending gradients", error);
    for (int32_t r = 0; r < g->size && code == ncclSuccess; r++) {
        if (r != g->rank && send[r].count > 0)
            code = ncclSend(send[r].at, (size_t)send[r].count, ncclFloat, r, g->comm, stream);
        if (r != g->rank && receive[r].count > 0 && code == ncclSuccess)
            code = ncclRecv(receive[r].at, (size_t)receive[r].count, ncclFloat, r, g->comm, stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    return checked(code == ncclSuccess ? ended : code, "sending gradients", error);
}

static UnetStatus add_slices(const Group *g, UnetNumbers numbers, cudaStream_t stream, UnetError *error) {
    ncclResult_t code = ncclGroupStart();
    if (code != ncclSuccess)
        return checked(code, "adding gradients", error);
    for (int32_t r = 0; r < g->size && code == ncclSuccess; r++) {
        const int64_t begin = numbers.count * r / g->size, end = numbers.count * (r + 1) / g->size;
        if (end > begin)
            code = ncclReduce(numbers.at + begin, numbers.at + begin, (size_t)(end - begin), ncclFloat,
                              ncclSum, r, g->comm, stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    return checked(code == ncclSuccess ? ended : code, "adding gradients", error);
}

static UnetStatus add(void *state, UnetNumbers numbers, bool whole, cudaStream_t stream, UnetError *error) {
    const Group *g = state;
    if (!whole)
        return add_slices(g, numbers, stream, error);
    return checked(
        ncclAllReduce(numbers.at, numbers.at, (size_t)numbers.count, ncclFloat, ncclSum, g->comm, stream),
        "adding gradients", error);
}

static UnetStatus look(void *state, UnetError *error) {
    const Group *g = state;
    ncclResult_t found = ncclSuccess;
    const ncclResult_t code = ncclCommGetAsyncError(g->comm, &found);
    return checked(code == ncclSuccess ? found : code, "the exchange of gradients", error);
}

static void leave(void *state, bool broken) {
    Group *g = state;
    if (g->comm != NULL)
        (void)(broken ? ncclCommAbort(g->comm) : ncclCommDestroy(g->comm));
    free(g);
}

const UnetNccl unet_nccl_transport = {.version = version,
                                      .open = open_group,
                                      .join = join,
                                      .exchange = exchange,
                                      .add = add,
                                      .look = look,
                                      .leave = leave};
