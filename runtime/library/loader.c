/* loader.c - threads that read batches ahead of the step that uses them.
 *
 * Batches are numbered k, and each of these lies in a slot:
 *
 *     released   head              fill        released + open
 *        |--held--|--- ready -------|--- being read ---|
 *
 * A slot takes memory once it is open. One slot is enough if reading is short beside a step: the next
 * batch is read when the step is done with this one. If steps wait for batches, another slot is opened.
 *
 * Work is handed out sample by sample in one order, under one lock; the contents of a sample are a function
 * of its number alone, so it does not matter which thread reads it or when.
 */
#include "unet/loader.h"
#include "size_math.h"
#include "unet/rng.h"
#include "unet/words.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREAD_STACK = 1 << 20, DEFAULT_THREADS = 8 };

/* Another slot is opened where steps have waited for so many hundredths of the time, of so many batches at
 * least: the first files are read from a cold disk. */
enum { MOST_WAITING = 1, LEAST_BATCHES = 4 };

typedef struct {
    int64_t batch; /* the one it holds, or held; -1: none */
    void **inputs;
    int32_t (*valid)[3];
    int32_t *samples;
    int32_t n;      /* samples of the batch, */
    int32_t end;    /*   samples in front of this one are read, from the first of this process on */
    int32_t issued; /* handed out to threads: those in front of it */
    int32_t done;   /* as many are read as if all in front of it were */
    uint32_t epoch;
    UnetStatus status; /* of the first bad sample, number BAD of the batch */
    int32_t bad;
    UnetError error;
} Slot;

typedef struct {
    UnetLoader *loader;
    void *scratch;
    UnetImageMemory *memory; /* of decoders */
    pthread_t thread;
} Worker;

struct UnetLoader {
    const UnetModel *model;
    int32_t ring;
    size_t slot_bytes;
    char *memory; /* of the slots */
    char *scratch;
    Slot *slot;
    Worker *worker;
    int32_t nworker;
    int32_t nmemory; /* workers that have some */

    pthread_mutex_t lock; /* guards all that follows, but not what a thread reads into its sample */
    pthread_cond_t work;  /* there may be samples to read */
    pthread_cond_t ready; /* a batch may be complete, or no thread busy */
    bool stopping;
    bool active; /* samples may be handed out */
    int32_t busy;
    UnetStream stream;
    int64_t batches; /* of an epoch */
    int64_t released, head, fill;
    int32_t open;           /* slots in use */
    Slot *filling;          /* the slot of batch FILL, once it is started */
    UnetLoaderWait watched; /* since the last slot was opened, or the stream begun, */
    double since;           /*   which was then */
    UnetShuffle shuffle;
    int64_t order_epoch; /* which epoch ORDER is of, -1: none */
    int32_t *order;
    UnetLoaderWait wait;
};

static int32_t batch_of(const UnetStream *stream) {
    return stream->batch > 0 ? stream->batch : unet_dataset_program(stream->dataset)->batch;
}

int64_t unet_stream_batches(const UnetStream *stream) {
    int32_t batch = batch_of(stream);
    int32_t samples = unet_dataset_samples(stream->dataset);
    return samples / batch + (!stream->drop_tail && samples % batch != 0);
}

/* ---- handing out work (under the lock) ---------------------------------------------------------- */

/* Returns the slot of batch K, which was started. */
static Slot *slot_of(const UnetLoader *loader, int64_t k) {
    Slot *slot = loader->slot;
    while (slot->batch != k) {
        slot++;
    }
    return slot;
}

/* One that holds nothing that is needed: there is one where fewer batches are needed than slots are open.
 */
static Slot *free_slot(const UnetLoader *loader) {
    Slot *slot = loader->slot;
    while (slot->batch >= loader->released) {
        slot++;
    }
    return slot;
}

/* Samples of a batch that a slot has room for. */
static int32_t room_of(const UnetStream *stream) {
    return stream->mine_last > 0 ? stream->mine_last - stream->mine_first
                                 : unet_dataset_program(stream->dataset)->batch;
}

/* The inputs of a slot lie where the program wants them: one after the other, on multiples of 64.  A slot
 * has no inputs in front of the first that this process reads, so their place is counted back. */
static void lay_out(const UnetLoader *loader, Slot *slot) {
    const UnetStream *stream = &loader->stream;
    const UnetProgram *program = unet_dataset_program(stream->dataset);
    char *start = loader->memory + (size_t)(slot - loader->slot) * loader->slot_bytes, *place = start;
    for (int32_t input = 0; input < loader->model->ninput; input++) {
        const size_t sample = (size_t)program->inputs[input].sample_bytes,
                     bytes = (size_t)room_of(stream) * sample;
        slot->inputs[input] = bytes > 0 ? place - (size_t)stream->mine_first * sample : NULL;
        place += (bytes + 63) & ~(size_t)63;
    }
    memset(start, 0, (size_t)(place - start));
}

static void prepare_order(UnetLoader *loader, int64_t epoch) {
    int32_t count = unet_dataset_samples(loader->stream.dataset);
    if (loader->order_epoch == epoch) {
        return;
    }
    if (loader->stream.shuffle) {
        unet_shuffle_next(&loader->shuffle, count, loader->order);
    } else {
        for (int32_t i = 0; i < count; i++) {
            loader->order[i] = i;
        }
    }
    loader->order_epoch = epoch;
}

/* Batch K enters a slot: which samples it has. */
static Slot *start_batch(UnetLoader *loader, int64_t k) {
    Slot *slot = free_slot(loader);
    const UnetStream *stream = &loader->stream;
    int64_t epoch = k / loader->batches;
    int32_t batch = batch_of(stream);
    int32_t first = (int32_t)(k % loader->batches) * batch;
    int32_t left = unet_dataset_samples(loader->stream.dataset) - first;
    prepare_order(loader, epoch);
    if (slot->batch < 0) {
        lay_out(loader, slot);
    }
    slot->batch = k;
    slot->n = left < batch ? left : batch;
    memcpy(slot->samples, loader->order + first, (size_t)slot->n * sizeof *slot->samples);
    slot->end = stream->mine_last > 0 && stream->mine_last < slot->n ? stream->mine_last : slot->n;
    if (stream->turns > 0 && k % stream->turns != stream->turn) {
        slot->end = 0;
    }
    slot->issued = slot->done = stream->mine_first < slot->end ? stream->mine_first : slot->end;
    slot->epoch = (uint32_t)epoch;
    slot->status = UNET_OK;
    slot->bad = slot->n;
    return slot;
}

/* The next sample to read: *SLOT and its number of the batch, or false when all open slots are full. */
static bool take_sample(UnetLoader *loader, Slot **slot, int32_t *n) {
    if (!loader->active) {
        return false;
    }
    while (loader->filling == NULL) {
        if (loader->fill >= loader->released + loader->open) {
            return false;
        }
        loader->filling = start_batch(loader, loader->fill);
        if (loader->filling->issued == loader->filling->end) { /* this process has nothing of it */
            loader->filling = NULL;
            loader->fill++;
            (void)pthread_cond_signal(&loader->ready);
        }
    }
    *slot = loader->filling;
    *n = (*slot)->issued++;
    if ((*slot)->issued == (*slot)->end) {
        loader->filling = NULL;
        loader->fill++;
    }
    return true;
}

static void finish_sample(UnetLoader *loader, Slot *slot, int32_t n, UnetStatus status,
                          const UnetError *error) {
    if (status != UNET_OK && n < slot->bad) {
        slot->bad = n;
        slot->status = status;
        slot->error = *error;
    }
    slot->done++;
    loader->busy--;
    if (slot->done == slot->end || loader->busy == 0) {
        (void)pthread_cond_signal(&loader->ready);
    }
}

static void *work(void *argument) {
    Worker *worker = argument;
    UnetLoader *loader = worker->loader;
    (void)pthread_mutex_lock(&loader->lock);
    while (!loader->stopping) {
        Slot *slot;
        int32_t n;
        if (!take_sample(loader, &slot, &n)) {
            (void)pthread_cond_wait(&loader->work, &loader->lock);
            continue;
        }
        UnetStream stream = loader->stream;
        loader->busy++;
        (void)pthread_mutex_unlock(&loader->lock);
        UnetError error;
        UnetStatus status =
            unet_dataset_read(stream.dataset, slot->samples[n], stream.seed, slot->epoch, worker->scratch,
                              worker->memory, slot->inputs, n, batch_of(&stream), slot->valid[n], &error);
        (void)pthread_mutex_lock(&loader->lock);
        finish_sample(loader, slot, n, status, &error);
    }
    (void)pthread_mutex_unlock(&loader->lock);
    return NULL;
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* The needs of a loader for several datasets. */
typedef struct {
    size_t slot, scratch, decoder; /* bytes of each */
    size_t batch, samples;
    size_t kept;  /* decoded files of all datasets */
    size_t total; /* all of it for so many threads */
} Need;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Each of several processes reads a share of a batch: no slot is larger than the model says. */
static bool measure(const UnetModel *model, const UnetDataset *const *datasets, int32_t ndataset,
                    int32_t threads, int32_t slots, Need *need) {
    const size_t most = (size_t)(model->loader_ring_bytes / model->ring);
    *need = (Need){0};
    for (int32_t i = 0; i < ndataset; i++) {
        const UnetProgram *program = unet_dataset_program(datasets[i]);
        need->slot = larger(need->slot, (size_t)program->input_bytes);
        need->batch = larger(need->batch, (size_t)program->batch);
        need->samples = larger(need->samples, (size_t)unet_dataset_samples(datasets[i]));
        need->scratch = larger(need->scratch, unet_dataset_scratch_bytes(datasets[i]));
        need->decoder = larger(need->decoder, unet_dataset_decoder_bytes(datasets[i]));
        need->kept += unet_dataset_cache_bytes(datasets[i]);
    }
    need->slot = need->slot < most ? need->slot : most;
    size_t ring = (size_t)slots, ring_bytes, thread_bytes;
    size_t order_bytes = (need->samples + ring * need->batch * 4) * sizeof(int32_t);
    return checked_align64(need->slot, &need->slot) && checked_align64(need->scratch, &need->scratch) &&
           checked_mul(ring, need->slot, &ring_bytes) &&
           checked_add(need->scratch, need->decoder, &thread_bytes) &&
           checked_mul((size_t)threads, thread_bytes, &thread_bytes) &&
           checked_add(ring_bytes, thread_bytes, &need->total) &&
           checked_add(need->total, order_bytes, &need->total) &&
           checked_add(need->total, need->kept, &need->total) && need->total < SIZE_MAX / 2;
}

size_t unet_loader_bytes(const UnetModel *model, const UnetDataset *const *datasets, int32_t ndataset,
                         int32_t threads, int32_t slots) {
    Need need;
    return measure(model, datasets, ndataset, threads, slots, &need) ? need.total : SIZE_MAX;
}

static void *allocate_aligned(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, 64, bytes > 0 ? bytes : 64) == 0 ? memory : NULL;
}

static bool allocate_slots(UnetLoader *loader, const Need *need) {
    loader->slot = calloc((size_t)loader->ring, sizeof *loader->slot);
    for (int32_t i = 0; loader->slot != NULL && i < loader->ring; i++) {
        Slot *slot = &loader->slot[i];
        slot->inputs = calloc((size_t)loader->model->ninput, sizeof *slot->inputs);
        slot->valid = calloc(need->batch, sizeof *slot->valid);
        slot->samples = calloc(need->batch, sizeof *slot->samples);
        if (slot->inputs == NULL || slot->valid == NULL || slot->samples == NULL) {
            return false;
        }
    }
    return loader->slot != NULL;
}

static bool allocate(UnetLoader *loader, const Need *need, int32_t threads) {
    loader->slot_bytes = need->slot;
    loader->memory = allocate_aligned((size_t)loader->ring * need->slot);
    loader->scratch = allocate_aligned((size_t)threads * need->scratch);
    loader->order = calloc(need->samples + 1, sizeof *loader->order);
    loader->worker = calloc((size_t)threads, sizeof *loader->worker);
    if (loader->memory == NULL || loader->scratch == NULL || loader->order == NULL ||
        loader->worker == NULL || !allocate_slots(loader, need)) {
        return false;
    }
    for (int32_t i = 0; i < threads; i++) {
        loader->worker[i] = (Worker){.loader = loader,
                                     .scratch = loader->scratch + (size_t)i * need->scratch,
                                     .memory = unet_image_memory_create()};
        if (loader->worker[i].memory == NULL) {
            return false;
        }
        loader->nmemory++;
    }
    return true;
}

/* ---- life --------------------------------------------------------------------------------------- */

int32_t unet_loader_threads(const UnetModel *model) {
    if (model->data != NULL && model->data->threads > 0) {
        return model->data->threads;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN) - 1;
    return cores < 1 ? 1 : cores > DEFAULT_THREADS ? DEFAULT_THREADS : (int32_t)cores;
}

/* Signals are for the main thread. */
static UnetStatus start_threads(UnetLoader *loader, int32_t threads, UnetError *error) {
    sigset_t all, before;
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0) {
        return unet_fail(error, UNET_TOO_SMALL, "cannot start loader threads: %s", strerror(failure));
    }
    (void)pthread_attr_setstacksize(&attributes, THREAD_STACK);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int32_t i = 0; i < threads && failure == 0; i++) {
        failure = pthread_create(&loader->worker[i].thread, &attributes, work, &loader->worker[i]);
        loader->nworker += failure == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (failure != 0) {
        return unet_fail(error, UNET_TOO_SMALL, "cannot start loader threads: %s", strerror(failure));
    }
    return UNET_OK;
}

UnetStatus unet_loader_create(UnetLoader **loader, const UnetModel *model,
                              const UnetDataset *const *datasets, int32_t ndataset, int32_t threads,
                              int32_t slots, UnetError *error) {
    Need need;
    *loader = NULL;
    if (threads < 1 || slots < 1 || ndataset < 1) {
        return unet_fail(error, UNET_BUG, "a loader needs a thread, a slot and data");
    }
    UnetLoader *created = calloc(1, sizeof *created);
    if (created == NULL || !measure(model, datasets, ndataset, threads, slots, &need)) {
        free(created);
        return unet_fail(error, UNET_TOO_SMALL, "not enough memory for the loader");
    }
    created->model = model;
    created->ring = slots;
    created->open = 1;
    (void)pthread_mutex_init(&created->lock, NULL);
    (void)pthread_cond_init(&created->work, NULL);
    (void)pthread_cond_init(&created->ready, NULL);
    UnetStatus status = UNET_OK;
    if (!allocate(created, &need, threads)) {
        status = unet_fail(error, UNET_TOO_SMALL, "not enough memory for the loader (%zu MiB)",
                           need.total >> 20);
    } else {
        status = start_threads(created, threads, error);
    }
    if (status != UNET_OK) {
        unet_loader_destroy(created);
        return status;
    }
    *loader = created;
    return UNET_OK;
}

void unet_loader_destroy(UnetLoader *loader) {
    if (loader == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&loader->lock);
    loader->stopping = true;
    (void)pthread_cond_broadcast(&loader->work);
    (void)pthread_mutex_unlock(&loader->lock);
    for (int32_t i = 0; i < loader->nworker; i++) {
        (void)pthread_join(loader->worker[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&loader->ready);
    (void)pthread_cond_destroy(&loader->work);
    (void)pthread_mutex_destroy(&loader->lock);
    for (int32_t i = 0; loader->slot != NULL && i < loader->ring; i++) {
        free(loader->slot[i].inputs);
        free(loader->slot[i].valid);
        free(loader->slot[i].samples);
    }
    for (int32_t i = 0; i < loader->nmemory; i++) {
        unet_image_memory_destroy(loader->worker[i].memory);
    }
    free(loader->slot);
    free(loader->worker);
    free(loader->order);
    free(loader->scratch);
    free(loader->memory);
    free(loader);
}

/* ---- streams ------------------------------------------------------------------------------------ */

static bool fits_slot(const UnetLoader *loader, const UnetStream *stream) {
    const UnetProgram *program = unet_dataset_program(stream->dataset);
    size_t total = 0;
    for (int32_t input = 0; input < loader->model->ninput; input++) {
        size_t bytes;
        if (!checked_mul((size_t)room_of(stream), (size_t)program->inputs[input].sample_bytes, &bytes) ||
            !checked_align64(bytes, &bytes) || !checked_add(total, bytes, &total)) {
            return false;
        }
    }
    return total <= loader->slot_bytes;
}

void *unet_loader_memory(const UnetLoader *loader, size_t *bytes) {
    *bytes = (size_t)loader->ring * loader->slot_bytes;
    return loader->memory;
}

UnetStatus unet_loader_begin(UnetLoader *loader, const UnetStream *stream, UnetError *error) {
    const UnetProgram *program = unet_dataset_program(stream->dataset);
    int64_t batches = unet_stream_batches(stream);
    const int samples = (int)unet_dataset_samples(stream->dataset);
    if (batches == 0) {
        return unet_fail(error, UNET_IO,
                         "%d sample%s %s not fill a batch of %d: use a smaller `batch`, or `tail \"keep\"`",
                         samples, unet_plural(samples), samples == 1 ? "does" : "do", batch_of(stream));
    }
    if (!fits_slot(loader, stream)) {
        return unet_fail(error, UNET_BUG, "program %s: its batch does not fit a loader slot",
                         program->name);
    }
    (void)pthread_mutex_lock(&loader->lock);
    loader->active = false;
    while (loader->busy > 0) {
        (void)pthread_cond_wait(&loader->ready, &loader->lock);
    }
    loader->stream = *stream;
    loader->batches = batches;
    loader->released = loader->head = loader->fill = stream->first;
    loader->order_epoch = -1;
    loader->filling = NULL;
    for (int32_t i = 0; i < loader->ring; i++) {
        loader->slot[i].batch = -1;
    }
    unet_shuffle_start(&loader->shuffle, stream->seed, stream->skip, stream->first / batches);
    loader->active = true;
    (void)pthread_cond_broadcast(&loader->work);
    (void)pthread_mutex_unlock(&loader->lock);
    return UNET_OK;
}

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Batch HEAD is complete. */
static bool is_ready(const UnetLoader *loader) {
    if (loader->fill <= loader->head) {
        return false;
    }
    const Slot *slot = slot_of(loader, loader->head);
    return slot->done == slot->end;
}

static void await_head(UnetLoader *loader) {
    bool first = loader->head == loader->stream.first, waits = !is_ready(loader);
    double start = now();
    while (!is_ready(loader)) {
        (void)pthread_cond_wait(&loader->ready, &loader->lock);
    }
    double end = now();
    if (first) {
        loader->watched = (UnetLoaderWait){0};
        loader->since = end;
        return;
    }
    UnetLoaderWait *const counts[] = {&loader->wait, &loader->watched};
    for (int i = 0; i < 2; i++) {
        counts[i]->batches++;
        counts[i]->waits += waits;
        counts[i]->seconds += waits ? end - start : 0;
    }
}

/* Opens another slot where steps wait too long. */
static void look_at_waiting(UnetLoader *loader) {
    double time = now() - loader->since;
    if (loader->open < loader->ring && loader->watched.batches >= LEAST_BATCHES &&
        100 * loader->watched.seconds > MOST_WAITING * time) {
        loader->open++;
        loader->watched = (UnetLoaderWait){0};
        loader->since += time;
    }
}

UnetStatus unet_loader_next(UnetLoader *loader, UnetBatch *batch, UnetError *error) {
    (void)pthread_mutex_lock(&loader->lock);
    if (!loader->active) {
        (void)pthread_mutex_unlock(&loader->lock);
        return unet_fail(error, UNET_BUG, "the loader has no stream, or it has failed");
    }
    loader->released = loader->head;
    look_at_waiting(loader);
    (void)pthread_cond_broadcast(&loader->work);
    await_head(loader);
    Slot *slot = slot_of(loader, loader->head);
    const UnetDataset *dataset = loader->stream.dataset;
    bool whole =
        unet_dataset_purpose(dataset) == UNET_TRAINING || /* no sample of several sizes is padded */
        unet_dataset_program(dataset)->measured[1] == 0;
    *batch = (UnetBatch){.inputs = (const void *const *)slot->inputs,
                         .valid = whole ? NULL : (const int32_t(*)[3])slot->valid,
                         .samples = slot->samples,
                         .n = slot->n,
                         .index = loader->head};
    loader->head++;
    UnetStatus status = slot->status;
    if (status != UNET_OK) {
        loader->active = false;
        status = unet_fail(error, status, "%s", slot->error.text);
    }
    (void)pthread_mutex_unlock(&loader->lock);
    return status;
}

UnetLoaderWait unet_loader_wait(const UnetLoader *loader) {
    return loader->wait;
}
