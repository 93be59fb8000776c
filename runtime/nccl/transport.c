/* transport.c - sums of ranks on their way from GPU to GPU, by NCCL (runtime/cuda/connection.h).
 *
 * NCCL waits without end where a process ended before it joined, and where a group is left while a captured
 * graph still holds an exchange.  So a thread of its own makes a group and ends it, and this program waits
 * for that thread for a while only.
 */
#include "../cuda/connection.h"

#include <errno.h>
#include <nccl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Task Task;

typedef struct {
    ncclComm_t comm;
    int32_t rank, size;
    Task *stopping; /* or NULL */
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

/* ---- what may never end ---- */

/* WORK in a thread of its own.  The last one of the waiting thread and this thread frees this. */
struct Task {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over, left; /* the thread has ended; nobody waits for it any more */
    ncclResult_t (*work)(Task *task);
    ncclUniqueId id;
    int32_t rank, size, device;
    ncclComm_t comm;
    ncclResult_t code;
};

static void free_task(Task *task) {
    (void)pthread_cond_destroy(&task->changed);
    (void)pthread_mutex_destroy(&task->lock);
    free(task);
}

static void *run_task(void *argument) {
    Task *task = argument;
    ncclResult_t code = cudaSetDevice(task->device) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
    if (code == ncclSuccess)
        code = task->work(task);
    (void)pthread_mutex_lock(&task->lock);
    task->code = code;
    task->over = true;
    const bool left = task->left;
    (void)pthread_cond_signal(&task->changed);
    (void)pthread_mutex_unlock(&task->lock);
    if (left)
        free_task(task);
    return NULL;
}

/* NULL if there is no memory or no thread. */
static Task *begin_task(const Task *what) {
    pthread_t thread;
    Task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return NULL;
    *task = *what;
    (void)cudaGetDevice(&task->device);
    (void)pthread_mutex_init(&task->lock, NULL);
    (void)pthread_cond_init(&task->changed, NULL);
    if (pthread_create(&thread, NULL, run_task, task) != 0) {
        free_task(task);
        return NULL;
    }
    (void)pthread_detach(thread);
    return task;
}

/* Whether TASK is over within SECONDS: then the caller frees it, else its thread does. */
static bool await_task(Task *task, double seconds) {
    struct timespec end;
    int problem = 0;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)seconds + 1;
    (void)pthread_mutex_lock(&task->lock);
    while (!task->over && problem != ETIMEDOUT)
        problem = pthread_cond_timedwait(&task->changed, &task->lock, &end);
    const bool over = task->over;
    task->left = !over;
    (void)pthread_mutex_unlock(&task->lock);
    return over;
}

/* ---- the start ---- */

static ncclResult_t connect_ranks(Task *task) {
    return ncclCommInitRank(&task->comm, task->size, task->id, task->rank);
}

static UnetStatus join(void **state, const UnetConnection *connection, UnetError *error) {
    Group *group = calloc(1, sizeof *group);
    Task what = {.work = connect_ranks, .rank = connection->rank, .size = connection->size};
    memcpy(what.id.internal, connection->first.id, sizeof what.id.internal);
    Task *task = group == NULL ? NULL : begin_task(&what);
    *state = group;
    if (task == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory or thread for NCCL");
    group->rank = connection->rank;
    group->size = connection->size;
    if (!await_task(task, connection->timeout))
        return unet_fail(error, UNET_IO,
                         "NCCL has not connected %d ranks in %.0f s: one of them may have ended or be "
                         "stopped (--timeout); --exchange=host does without NCCL",
                         (int)group->size, connection->timeout);
    group->comm = task->comm;
    const UnetStatus status = checked(task->code, "connecting ranks", error);
    free_task(task);
    return status;
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

/* ---- the end ---- */

static ncclResult_t abort_group(Task *task) {
    return ncclCommAbort(task->comm);
}

static ncclResult_t destroy_group(Task *task) {
    return ncclCommDestroy(task->comm);
}

static void stop(void *state) {
    Group *g = state;
    if (g->comm != NULL && g->stopping == NULL)
        g->stopping = begin_task(&(Task){.work = abort_group, .comm = g->comm});
}

static void leave(void *state) {
    enum { SECONDS = 10 };
    Group *g = state;
    Task *task = g->stopping;
    if (task == NULL && g->comm != NULL)
        task = begin_task(&(Task){.work = destroy_group, .comm = g->comm});
    if (task != NULL && await_task(task, SECONDS))
        free_task(task);
    free(g);
}

const UnetNccl unet_nccl_transport = {.version = version,
                                      .open = open_group,
                                      .join = join,
                                      .exchange = exchange,
                                      .add = add,
                                      .look = look,
                                      .stop = stop,
                                      .leave = leave};
