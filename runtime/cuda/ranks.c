/* ranks.c - the devices of processes that train together are connected, by NCCL, and wait for each other.
 *
 * A process that is gone leaves the device waiting for ever.  So the host sees first that all processes
 * have come to a step, and looks at them while it waits for the step to end.  exchange.c
 * exchanges the numbers.
 */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static int32_t most_exchanges(const UnetCudaProgram *tables) {
    int32_t count = 0;
    for (int32_t i = 0; i < tables->npiece; i++)
        count += tables->piece[i].starts_ranks || tables->piece[i].sums_ranks;
    return count;
}

static UnetStatus make_events(UnetCuda *cuda, UnetError *error) {
    const int32_t most = cuda->exchange.most = most_exchanges(&cuda->tables->train);
    cudaError_t code = cudaEventCreateWithFlags(&cuda->exchange.complete, cudaEventDisableTiming);
    for (int s = 0; s < UNET_STEPS_AHEAD && most > 0 && code == cudaSuccess; s++) {
        UnetExchangeTime *time = cuda->slot[s].exchange = calloc((size_t)most, sizeof *time);
        if (time == NULL)
            return unet_fail(error, UNET_TOO_SMALL, "no memory for the times of exchanges");
        for (int32_t i = 0; i < most && code == cudaSuccess; i++) {
            code = cudaEventCreate(&time[i].begun);
            if (code == cudaSuccess)
                code = cudaEventCreate(&time[i].over);
        }
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
    UnetStatus status = make_events(cuda, error);
    if (status == UNET_OK && connection->overlaps && cuda->model->training->nbucket > 0)
        status = unet_cuda_checked(cudaStreamCreateWithFlags(&exchange->stream, cudaStreamNonBlocking),
                                   "making a stream", error);
    return status == UNET_OK ? unet_nccl_transport.join(&exchange->group, connection, error) : status;
}

/* NCCL leaves a group once no graph holds an exchange, and graphs are destroyed once their streams are
 * done. */
void unet_cuda_break_ranks(UnetCuda *cuda) {
    if (cuda->exchange.group == NULL)
        return;
    unet_nccl_transport.stop(cuda->exchange.group);
    cuda->lost = !unet_cuda_settle(cuda);
    if (!cuda->lost)
        unet_cuda_free_graphs(cuda);
    unet_nccl_transport.leave(cuda->exchange.group);
    cuda->exchange.group = NULL;
}

static void free_events(UnetCuda *cuda) {
    if (cuda->exchange.complete != NULL)
        (void)cudaEventDestroy(cuda->exchange.complete);
    for (int s = 0; s < UNET_STEPS_AHEAD; s++) {
        UnetExchangeTime *time = cuda->slot[s].exchange;
        for (int32_t i = 0; time != NULL && i < cuda->exchange.most; i++) {
            if (time[i].begun != NULL)
                (void)cudaEventDestroy(time[i].begun);
            if (time[i].over != NULL)
                (void)cudaEventDestroy(time[i].over);
        }
        free(time);
    }
}

void unet_cuda_free_ranks(UnetCuda *cuda) {
    UnetExchange *exchange = &cuda->exchange;
    if (exchange->group != NULL)
        unet_nccl_transport.leave(exchange->group);
    if (exchange->pinned != NULL)
        (void)cudaFreeHost(exchange->pinned);
    if (exchange->stream != NULL)
        (void)cudaStreamDestroy(exchange->stream);
    free_events(cuda);
    free(exchange->send);
    free(exchange->receive);
}

/* ---- waiting ---- */

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* NCCL tells the failure; the team tells who has ended. */
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
            if (slot->exchange[i].waits && cudaEventQuery(slot->exchange[i].begun) == cudaSuccess &&
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
