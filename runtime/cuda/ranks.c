/* ranks.c - what processes that train together have summed, on its way from one to the other.
 *
 * By NCCL, where devices are connected: each process is sent its slice by all others, a kernel of the
 * program adds these as a tree, and the sum goes to all.  Nothing of that waits for the host, and so it may
 * be part of a graph.  But a process that is gone leaves the device waiting for ever: so the host sees
 * first that all processes have come to a step, and looks at them while it waits for the step to end.
 *
 * Otherwise through the memory of the host: who sums there knows nothing of devices (UnetTeam).  Gradients
 * come to pinned memory, are summed, and go back; the device waits meanwhile.
 */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Filled in where a program is linked with it (runtime/nccl). */
extern const UnetNccl unet_nccl_transport __attribute__((weak));

/* ---- the start ---- */

/* The machine, as its kernel was started, and the place on its bus. */
static void name_device(char name[sizeof(((UnetPeer *)0)->device)]) {
    enum { BUS_BYTES = 16, HOST_BYTES = 40 };
    char host[HOST_BYTES] = "", bus[BUS_BYTES] = "";
    int device = 0;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file == NULL || fscanf(file, "%39s", host) != 1)
        (void)gethostname(host, sizeof host - 1);
    if (file != NULL)
        (void)fclose(file);
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess)
        (void)snprintf(bus, sizeof bus, "%d", device);
    (void)snprintf(name, sizeof(((UnetPeer *)0)->device), "%s %s", host, bus);
}

UnetStatus unet_cuda_introduce(void *state, bool first, UnetPeer *peer, UnetError *error) {
    (void)state;
    memset(peer, 0, sizeof *peer);
    if (&unet_nccl_transport == NULL)
        return UNET_OK;
    name_device(peer->device);
    peer->version = unet_nccl_transport.version();
    return first ? unet_nccl_transport.open(peer->id, error) : UNET_OK;
}

static UnetStatus make_events(UnetCuda *cuda, UnetError *error) {
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < UNET_STEPS_AHEAD * EXCHANGES && code == cudaSuccess; i++) {
        UnetExchangeTime *time = &cuda->slot[i / EXCHANGES].exchange[i % EXCHANGES];
        code = cudaEventCreate(&time->begun);
        if (code == cudaSuccess)
            code = cudaEventCreate(&time->over);
    }
    return unet_cuda_checked(code, "making an event", error);
}

UnetStatus unet_cuda_connect(void *state, const UnetConnection *connection, UnetError *error) {
    UnetCuda *cuda = state;
    UnetExchange *exchange = &cuda->exchange;
    const size_t size = (size_t)connection->size;
    exchange->connection = *connection;
    exchange->send = calloc(size, sizeof *exchange->send);
    exchange->receive = calloc(size, sizeof *exchange->receive);
    if (exchange->send == NULL || exchange->receive == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for what ranks send each other");
    const UnetStatus status = make_events(cuda, error);
    return status == UNET_OK ? unet_nccl_transport.join(&exchange->group, connection, error) : status;
}

/* Behind this nothing that was queued waits for other processes. */
void unet_cuda_break_ranks(UnetCuda *cuda) {
    if (cuda->exchange.group == NULL)
        return;
    unet_nccl_transport.leave(cuda->exchange.group, true);
    cuda->exchange.group = NULL;
}

void unet_cuda_free_ranks(UnetCuda *cuda) {
    UnetExchange *exchange = &cuda->exchange;
    if (exchange->group != NULL)
        unet_nccl_transport.leave(exchange->group, false);
    if (exchange->pinned != NULL)
        (void)cudaFreeHost(exchange->pinned);
    for (int i = 0; i < UNET_STEPS_AHEAD * EXCHANGES; i++) {
        const UnetExchangeTime *time = &cuda->slot[i / EXCHANGES].exchange[i % EXCHANGES];
        if (time->begun != NULL)
            (void)cudaEventDestroy(time->begun);
        if (time->over != NULL)
            (void)cudaEventDestroy(time->over);
    }
    free(exchange->send);
    free(exchange->receive);
}

/* ---- waiting ---- */

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What NCCL says; who has ended, says the team. */
static UnetStatus look(UnetCuda *cuda, UnetError *error) {
    UnetError named;
    const UnetStatus status = unet_nccl_transport.look(cuda->exchange.group, error);
    if (status != UNET_OK && cuda->team->look(cuda->team, &named) != UNET_OK)
        *error = named;
    return status;
}

/* All came to this step; who has stopped since then does not come here. */
static UnetStatus too_long(UnetCuda *cuda, double waited, UnetError *error) {
    const UnetStatus status = cuda->team->meet(cuda->team, error);
    return status != UNET_OK
               ? status
               : unet_fail(error, UNET_IO,
                           "the GPUs of %d ranks have not exchanged their gradients in %.0f s (--timeout), "
                           "though no rank has stopped; the last checkpoint is whole. NCCL_DEBUG=INFO says "
                           "more; --exchange=host does without NCCL",
                           (int)cuda->exchange.connection.size, waited);
}

/* Does this device do nothing but wait for the others, in one of the steps that were begun? */
static bool waits_for_others(const UnetCuda *cuda) {
    for (int64_t step = cuda->ended; step < cuda->begun; step++) {
        const StepSlot *slot = &cuda->slot[step % UNET_STEPS_AHEAD];
        for (int32_t i = 0; i < slot->exchanges; i++)
            if (cudaEventQuery(slot->exchange[i].begun) == cudaSuccess &&
                cudaEventQuery(slot->exchange[i].over) == cudaErrorNotReady)
                return true;
    }
    return false;
}

/* It is TIME; the device waits for others SINCE then, and no process had ended when they were last SEEN:
 * what one has sent before may still be on the way. */
static UnetStatus judge(UnetCuda *cuda, double time, double since, double *seen, UnetError *error) {
    enum { ON_THE_WAY = 5 };
    UnetStatus status = look(cuda, error);
    if (status != UNET_OK)
        return status;
    if (time - since > cuda->exchange.connection.timeout)
        return too_long(cuda, time - since, error);
    status = cuda->team->look(cuda->team, error);
    if (status == UNET_OK)
        *seen = time;
    return time - *seen > ON_THE_WAY ? status : UNET_OK;
}

/* How long a device computes by itself does not matter. */
static UnetStatus wait_watchfully(UnetCuda *cuda, cudaEvent_t event, UnetError *error) {
    const struct timespec a_while = {0, 50000};
    double looked = now(), since = looked, seen = looked;
    UnetStatus status = UNET_OK;
    cudaError_t code = cudaEventQuery(event);
    for (; code == cudaErrorNotReady && status == UNET_OK; code = cudaEventQuery(event)) {
        (void)nanosleep(&a_while, NULL);
        if (now() - looked < 0.1)
            continue;
        looked = now();
        if (!waits_for_others(cuda))
            since = looked;
        status = judge(cuda, looked, since, &seen, error);
    }
    if (status == UNET_OK)
        status = unet_cuda_checked(code, "the GPU stopped in a step", error);
    return status == UNET_OK ? look(cuda, error) : status;
}

UnetStatus unet_cuda_await(UnetCuda *cuda, cudaEvent_t event, UnetError *error) {
    UnetExchange *exchange = &cuda->exchange;
    UnetStatus status = UNET_OK;
    if (exchange->group == NULL || cuda->team == NULL)
        return unet_cuda_checked(cudaEventSynchronize(event), "the GPU stopped in a step", error);
    if (exchange->unmet)
        status = cuda->team->meet(cuda->team, error);
    exchange->unmet = false;
    if (status == UNET_OK)
        status = wait_watchfully(cuda, event, error);
    if (status != UNET_OK)
        unet_cuda_break_ranks(cuda);
    return status;
}

/* ---- how long it takes ---- */

static const char timing[] = "timing an exchange with other ranks";

static StepSlot *newest(UnetCuda *cuda) {
    return &cuda->slot[cuda->begun % UNET_STEPS_AHEAD];
}

UnetStatus unet_cuda_begin_exchange(UnetCuda *cuda, UnetError *error) {
    const StepSlot *slot = newest(cuda);
    if (cuda->team == NULL || cuda->exchange.group == NULL)
        return UNET_OK;
    return unet_cuda_checked(cudaEventRecord(slot->exchange[slot->exchanges].begun, cuda->stream), timing,
                             error);
}

UnetStatus unet_cuda_end_exchange(UnetCuda *cuda, UnetError *error) {
    StepSlot *slot = newest(cuda);
    if (cuda->team == NULL || cuda->exchange.group == NULL)
        return UNET_OK;
    return unet_cuda_checked(cudaEventRecord(slot->exchange[slot->exchanges++].over, cuda->stream), timing,
                             error);
}

UnetStatus unet_cuda_tell_exchanges(const StepSlot *slot, UnetError *error) {
    double seconds = 0;
    for (int32_t i = 0; i < slot->exchanges; i++) {
        float milliseconds = 0;
        const cudaError_t code =
            cudaEventElapsedTime(&milliseconds, slot->exchange[i].begun, slot->exchange[i].over);
        if (code != cudaSuccess)
            return unet_cuda_checked(code, timing, error);
        seconds += 1e-3 * (double)milliseconds;
    }
    if (slot->exchanges > 0)
        slot->team->waited(slot->team, seconds, seconds);
    return UNET_OK;
}

/* ---- through the host ---- */

/* SUMS are added, the WHOLE or a slice, or slices GATHERed. */
typedef enum { WHOLE, SLICE, GATHER } Exchanged;

static UnetStatus exchange_on_host(UnetCuda *cuda, cudaStream_t stream, UnetNumbers sums, Exchanged what) {
    const size_t bytes = (size_t)sums.count * sizeof *sums.at;
    const size_t room = bytes + (size_t)cuda->model->training->ranks * sizeof *sums.at;
    char **pinned = &cuda->exchange.pinned;
    UnetError *error = &cuda->error;
    UnetStatus status = UNET_OK;
    if (*pinned == NULL)
        status =
            unet_cuda_checked(cudaMallocHost((void **)pinned, bytes + room),
                              "taking memory of the host for gradients that other ranks are sent", error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaMemcpyAsync(*pinned, sums.at, bytes, cudaMemcpyDeviceToHost, stream),
                                   "copying gradients from the GPU", error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaStreamSynchronize(stream), "waiting for gradients", error);
    if (status != UNET_OK)
        return status;
    if (what == GATHER)
        cuda->team->gather(cuda->team, *pinned, sums.count);
    else
        cuda->team->sum(cuda->team, *pinned, *pinned + bytes, sums.count, what == WHOLE);
    return unet_cuda_checked(cudaMemcpyAsync(sums.at, *pinned, bytes, cudaMemcpyHostToDevice, stream),
                             "copying gradients to the GPU", error);
}

/* ---- from device to device ---- */

/* What process R has of NUMBERS. */
static UnetNumbers slice(UnetNumbers numbers, int32_t r, int32_t size) {
    const int64_t begin = numbers.count * r / size;
    return (UnetNumbers){numbers.at + begin, numbers.count * (r + 1) / size - begin};
}

static UnetStatus exchange(UnetCuda *cuda, cudaStream_t stream) {
    const UnetExchange *e = &cuda->exchange;
    return unet_nccl_transport.exchange(e->group, e->send, e->receive, stream, &cuda->error);
}

static UnetStatus gather_on_device(UnetCuda *cuda, cudaStream_t stream, UnetNumbers numbers) {
    const UnetExchange *e = &cuda->exchange;
    const UnetConnection *c = &e->connection;
    for (int32_t r = 0; r < c->size; r++) {
        e->send[r] = slice(numbers, c->rank, c->size);
        e->receive[r] = slice(numbers, r, c->size);
    }
    return exchange(cuda, stream);
}

/* The slice of this process becomes the sum of those that the processes with samples have of it. */
static UnetStatus sum_slice(UnetLaunch at, UnetNumbers sums, float *room,
                            void (*add)(UnetLaunch at, UnetRankParts parts)) {
    UnetCuda *cuda = at.cuda;
    const UnetExchange *e = &cuda->exchange;
    const UnetConnection *c = &e->connection;
    const UnetNumbers mine = slice(sums, c->rank, c->size), none = {NULL, 0};
    const int64_t apart = sums.count / c->size + 1;
    for (int32_t r = 0; r < c->size; r++) {
        e->send[r] = c->rank < e->with_work ? slice(sums, r, c->size) : none;
        e->receive[r] = r < e->with_work ? (UnetNumbers){room + r * apart, mine.count} : none;
    }
    const UnetStatus status = exchange(cuda, at.stream);
    if (status != UNET_OK)
        return status;
    add(at, (UnetRankParts){mine.at, room, mine.count, apart, c->rank, e->with_work});
    return cuda->status;
}

/* A process without samples has nothing to add. */
static UnetStatus sum_fast(UnetCuda *cuda, cudaStream_t stream, UnetNumbers sums, bool whole) {
    const UnetExchange *e = &cuda->exchange;
    UnetStatus status = UNET_OK;
    if (e->connection.rank >= e->with_work)
        status =
            unet_cuda_checked(cudaMemsetAsync(sums.at, 0, (size_t)sums.count * sizeof *sums.at, stream),
                              "clearing gradients", &cuda->error);
    return status == UNET_OK ? unet_nccl_transport.add(e->group, sums, whole, stream, &cuda->error)
                             : status;
}

static UnetStatus sum_on_device(UnetLaunch at, UnetNumbers sums, float *room, bool whole,
                                void (*add)(UnetLaunch at, UnetRankParts parts)) {
    UnetCuda *cuda = at.cuda;
    if (cuda->exchange.connection.fast)
        return sum_fast(cuda, at.stream, sums, whole);
    const UnetStatus status = sum_slice(at, sums, room, add);
    return status == UNET_OK && whole ? gather_on_device(cuda, at.stream, sums) : status;
}

/* ---- within a step ---- */

static bool is_alone(const UnetCuda *cuda) {
    return cuda->team == NULL || cuda->status != UNET_OK;
}

void unet_cuda_sum_ranks(UnetLaunch at, float *sums, float *room, int64_t count, int whole,
                         void (*add)(UnetLaunch at, UnetRankParts parts)) {
    const UnetNumbers numbers = {sums, count};
    if (is_alone(at.cuda))
        return;
    at.cuda->status = at.cuda->exchange.group != NULL
                          ? sum_on_device(at, numbers, room, whole, add)
                          : exchange_on_host(at.cuda, at.stream, numbers, whole ? WHOLE : SLICE);
}

void unet_cuda_gather_ranks(UnetLaunch at, float *numbers, int64_t count) {
    const UnetNumbers all = {numbers, count};
    if (is_alone(at.cuda))
        return;
    at.cuda->status = at.cuda->exchange.group != NULL ? gather_on_device(at.cuda, at.stream, all)
                                                      : exchange_on_host(at.cuda, at.stream, all, GATHER);
}

void unet_cuda_slice(UnetLaunch at, int64_t count, int32_t slices, uint32_t *from, uint32_t *to) {
    *from = (uint32_t)unet_slice(at.cuda->team, count, slices, 0);
    *to = (uint32_t)unet_slice(at.cuda->team, count, slices, 1);
}

void unet_cuda_begin_ranks(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetStep *step) {
    UnetExchange *exchange = &cuda->exchange;
    StepSlot *slot = newest(cuda);
    cuda->team = slot->team = step->team;
    slot->exchanges = 0;
    if (step->team == NULL)
        return;
    const int32_t share = tables->group * (cuda->model->training->ranks / step->team->size);
    exchange->with_work = (step->n - 1) / share + 1;
    exchange->unmet = true;
}

bool unet_cuda_queues_ranks(const UnetCuda *cuda) {
    return cuda->team == NULL ||
           (cuda->exchange.group != NULL && cuda->exchange.with_work == cuda->exchange.connection.size);
}
