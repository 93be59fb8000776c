/* exchange.c - what processes that train together have summed, on its way from one to the other.
 *
 * By NCCL, where devices are connected: each process is sent its slice by all others, a kernel of the
 * program adds these as a tree, and the sum goes to all.  Nothing of that waits for the host, and so it may
 * be part of a graph.
 *
 *     step        ... | bucket 1 is complete | backward pass | bucket 2 ... | wait | optimiser
 *     beside it                              | exchange 1    |              | exchange 2 |
 *
 * Buckets of the gradients are complete before others are (compiler/passes/buckets.c): each is exchanged in
 * a stream of its own, as soon as the step has come so far and the bucket before it is through.  The step
 * waits for all of them in front of the optimiser.  A process without samples has nothing to go on with,
 * and exchanges its buckets there.
 *
 * Otherwise through the memory of the host: who sums there knows nothing of devices (UnetTeam).  Gradients
 * come to pinned memory, are summed, and go back; the device waits meanwhile.
 */
#include "state.h"

#include <string.h>

/* ---- through the host ---- */

/* SUMS are added, the WHOLE or a slice, or slices GATHERed. */
typedef enum { WHOLE, SLICE, GATHER } Exchanged;

/* Exchanges of a step differ in their BYTES; copies of the last one may be on the way. */
static UnetStatus take_pinned(UnetExchange *exchange, cudaStream_t stream, size_t bytes, UnetError *error) {
    if (bytes <= exchange->pinned_bytes)
        return UNET_OK;
    cudaError_t code = cudaStreamSynchronize(stream);
    if (code == cudaSuccess && exchange->pinned != NULL)
        code = cudaFreeHost(exchange->pinned);
    exchange->pinned = NULL;
    exchange->pinned_bytes = 0;
    if (code == cudaSuccess)
        code = cudaMallocHost((void **)&exchange->pinned, bytes);
    if (code == cudaSuccess)
        exchange->pinned_bytes = bytes;
    return unet_cuda_checked(code, "taking memory of the host for what other ranks are sent", error);
}

static UnetStatus exchange_on_host(UnetCuda *cuda, cudaStream_t stream, UnetNumbers sums, Exchanged what) {
    const size_t bytes = (size_t)sums.count * sizeof *sums.at;
    const size_t room = what == GATHER ? 0 : bytes + (size_t)cuda->model->training->ranks * sizeof *sums.at;
    char **pinned = &cuda->exchange.pinned;
    UnetError *error = &cuda->error;
    UnetStatus status = take_pinned(&cuda->exchange, stream, bytes + room, error);
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

/* The slice of NUMBERS that process R has. */
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

/* The slice of this process becomes the sum over the processes with samples. */
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

/* ---- buckets ---- */

/* The numbers that two runs have in common. */
static UnetNumbers common(UnetNumbers one, UnetNumbers other) {
    float *const end =
        one.at + one.count < other.at + other.count ? one.at + one.count : other.at + other.count;
    float *const at = one.at > other.at ? one.at : other.at;
    return (UnetNumbers){at, end > at ? end - at : 0};
}

/* The sums of slices of a bucket of ALL gradients go to those who update these weights. */
static UnetStatus deal_on_device(UnetCuda *cuda, cudaStream_t stream, UnetNumbers bucket, UnetNumbers all) {
    const UnetExchange *e = &cuda->exchange;
    const UnetConnection *c = &e->connection;
    const UnetNumbers summed = slice(bucket, c->rank, c->size), updated = slice(all, c->rank, c->size);
    for (int32_t r = 0; r < c->size; r++) {
        e->send[r] = common(summed, slice(all, r, c->size));
        e->receive[r] = common(slice(bucket, r, c->size), updated);
    }
    return exchange(cuda, stream);
}

static UnetStatus sum_bucket(UnetLaunch at, float *sums, float *room, int32_t number, bool whole,
                             void (*add)(UnetLaunch at, UnetRankParts parts)) {
    const UnetTraining *training = at.cuda->model->training;
    const UnetBucket *bucket = &training->buckets[number],
                     *last = &training->buckets[training->nbucket - 1];
    const UnetNumbers numbers = {sums, bucket->count};
    const UnetStatus status = sum_on_device(at, numbers, room, whole, add);
    return status != UNET_OK || whole
               ? status
               : deal_on_device(at.cuda, at.stream, numbers,
                                (UnetNumbers){sums - bucket->first, last->first + last->count});
}

/* Sums the buckets that are not on their way. */
static UnetStatus sum_buckets(UnetLaunch at, float *sums, float *room, bool whole,
                              void (*add)(UnetLaunch at, UnetRankParts parts)) {
    const UnetTraining *training = at.cuda->model->training;
    UnetStatus status = UNET_OK;
    for (int32_t b = at.cuda->exchange.begun; b < training->nbucket && status == UNET_OK; b++)
        status = sum_bucket(at, sums + training->buckets[b].first, room + training->buckets[b].place, b,
                            whole, add);
    return status;
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
    at.cuda->status = unet_cuda_overlaps(at.cuda) ? sum_buckets(at, sums, room, whole, add)
                      : at.cuda->exchange.group != NULL
                          ? sum_on_device(at, numbers, room, whole, add)
                          : exchange_on_host(at.cuda, at.stream, numbers, whole ? WHOLE : SLICE);
}

void unet_cuda_start_ranks(UnetLaunch at, float *sums, float *room, int32_t bucket, int whole,
                           void (*add)(UnetLaunch at, UnetRankParts parts)) {
    if (!is_alone(at.cuda))
        at.cuda->status = sum_bucket(at, sums, room, bucket, whole, add);
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

/* ---- a step, and how long it waits ---- */

static const char exchanging[] = "exchanging gradients with other ranks";

static bool is_connected(const UnetCuda *cuda) {
    return cuda->team != NULL && cuda->exchange.group != NULL;
}

bool unet_cuda_overlaps(const UnetCuda *cuda) {
    return is_connected(cuda) && cuda->exchange.stream != NULL;
}

static StepSlot *newest(UnetCuda *cuda) {
    return &cuda->slot[cuda->begun % UNET_STEPS_AHEAD];
}

void unet_cuda_begin_ranks(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetStep *step) {
    UnetExchange *exchange = &cuda->exchange;
    StepSlot *slot = newest(cuda);
    cuda->team = slot->team = step->team;
    slot->exchanges = exchange->begun = 0;
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

/* If parts of a step are timed, all of them are in one stream. */
cudaStream_t unet_cuda_stream(const UnetCuda *cuda, const UnetCudaPiece *piece) {
    return piece->starts_ranks && cuda->timing != PARTS ? cuda->exchange.stream : cuda->stream;
}

UnetStatus unet_cuda_begin_exchange(UnetCuda *cuda, const UnetCudaPiece *piece, UnetError *error) {
    const UnetExchange *e = &cuda->exchange;
    const cudaStream_t stream = unet_cuda_stream(cuda, piece);
    const StepSlot *slot = newest(cuda);
    const UnetExchangeTime *time = &slot->exchange[slot->exchanges];
    cudaError_t code = cudaSuccess;
    if (!is_connected(cuda))
        return UNET_OK;
    if (stream != cuda->stream)
        code = cudaEventRecord(e->complete, cuda->stream);
    if (stream != cuda->stream && code == cudaSuccess)
        code = cudaStreamWaitEvent(stream, e->complete, 0);
    if (code == cudaSuccess)
        code = cudaEventRecord(time->begun, stream);
    if (!piece->starts_ranks && e->begun > 0 && code == cudaSuccess)
        code = cudaStreamWaitEvent(stream, slot->exchange[slot->exchanges - 1].over, 0);
    return unet_cuda_checked(code, exchanging, error);
}

UnetStatus unet_cuda_end_exchange(UnetCuda *cuda, const UnetCudaPiece *piece, UnetError *error) {
    UnetExchange *e = &cuda->exchange;
    const cudaStream_t stream = unet_cuda_stream(cuda, piece);
    StepSlot *slot = newest(cuda);
    if (!is_connected(cuda))
        return UNET_OK;
    UnetExchangeTime *time = &slot->exchange[slot->exchanges++];
    time->waits = stream == cuda->stream;
    time->sends = piece->starts_ranks || e->begun == 0;
    e->begun = piece->starts_ranks ? e->begun + 1 : 0;
    return unet_cuda_checked(cudaEventRecord(time->over, stream), exchanging, error);
}

UnetStatus unet_cuda_tell_exchanges(const StepSlot *slot, UnetError *error) {
    double waited = 0, sent = 0;
    for (int32_t i = 0; i < slot->exchanges; i++) {
        const UnetExchangeTime *time = &slot->exchange[i];
        float milliseconds = 0;
        const cudaError_t code = cudaEventElapsedTime(&milliseconds, time->begun, time->over);
        if (code != cudaSuccess)
            return unet_cuda_checked(code, exchanging, error);
        waited += time->waits ? 1e-3 * (double)milliseconds : 0;
        sent += time->sends ? 1e-3 * (double)milliseconds : 0;
    }
    if (slot->exchanges > 0)
        slot->team->waited(slot->team, waited, sent);
    return UNET_OK;
}
