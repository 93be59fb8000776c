/* loader.h - threads that read batches ahead of the step that uses them.
 *
 * A loader owns a fixed ring of slots (at most UnetModel.ring of them, each as large as the largest batch
 * of any program, or, if several processes train together, this one's share of it) and a fixed number
 * of threads, all reserved once when it is created.  A slot is touched when it is needed: one at first,
 * more if steps wait for their batches.  It works on one stream of batches at a time: training, then an
 * evaluation, then training again where it stopped.  The contents of a batch depend on the stream alone,
 * never on the number of threads or slots.
 *
 * Threads allocate while they decode files.  If a training set is kept (dataset_cache.c), each file is
 * decoded once: behind the first epoch nothing is allocated.  Other files are decoded each time, in about
 * as much as unet_dataset_decoder_bytes says: PNG and JPEG in memory that each thread keeps from file to
 * file, so that nothing is allocated once the largest was read; libtiff, giflib, libwebp, libsndfile,
 * OpenJPEG and libminizip take theirs for each file, and give it back.
 */
#ifndef UNET_LOADER_H
#define UNET_LOADER_H

#include "unet/dataset.h"
#include "unet/model.h"
#include "unet/status.h"

typedef struct UnetLoader UnetLoader;

/* The batches of a dataset, epoch after epoch without end; batch k is number k % B of epoch k / B, where
 * B = unet_stream_batches.  (An `epoch` here is one pass over the data; `epochs n, steps` of
 * the model's file may mean another number of steps.) */
typedef struct {
    const UnetDataset *dataset; /* one of those given to unet_loader_create */
    uint64_t seed;
    int64_t skip; /* see unet_shuffle_start: unet_parameter_draws(model) in training */
    bool shuffle;
    bool drop_tail; /* leave out the last batch of an epoch when it is not full */
    int64_t first;  /* batch to start with: 0, or where a run was interrupted */
    int32_t batch;  /* samples of a batch, at most as many as the program has; 0: as many */
    /* If several processes train: this one reads the samples [mine_first, mine_last) of each batch, and has
     * no memory for the others; mine_last 0: all.  With `turns`, it reads only batches k with k % turns ==
     * turn. */
    int32_t mine_first, mine_last;
    int32_t turn, turns;
} UnetStream;

/* Batches of one epoch; 0 if drop_tail leaves none. */
int64_t unet_stream_batches(const UnetStream *stream);

typedef struct {
    const void *const *inputs; /* for UnetStep: one per model input; the first sample that was read is
                                  aligned to 64 bytes */
    const int32_t (*valid)[3]; /* as UnetStep.valid; in training NULL */
    const int32_t *samples;    /* the samples of the dataset it is made of */
    int32_t n;
    int64_t index; /* k */
} UnetBatch;

/* The most bytes that a loader takes: all slots of the ring, working memory of its threads, decoders, and
 * decoded files that the datasets keep. */
size_t unet_loader_bytes(const UnetModel *model, const UnetDataset *const *datasets, int32_t ndataset,
                         int32_t threads, int32_t slots);

/* THREADS: at least 1; unet_loader_threads(model) is the default.  SLOTS: 1 to UnetModel.ring.  The
 * datasets must outlive the loader. */
int32_t unet_loader_threads(const UnetModel *model);
UNET_MUST_USE UnetStatus unet_loader_create(UnetLoader **loader, const UnetModel *model,
                                            const UnetDataset *const *datasets, int32_t ndataset,
                                            int32_t threads, int32_t slots, UnetError *error);

/* The memory in which all batches lie, and its BYTES. */
void *unet_loader_memory(const UnetLoader *loader, size_t *bytes);

/* Drops what was read ahead and starts STREAM (copied).  Allocates nothing. */
UNET_MUST_USE UnetStatus unet_loader_begin(UnetLoader *loader, const UnetStream *stream, UnetError *error);

/* Waits for the next batch of the stream.  It stays valid until the next call of a function of this loader.
 * Allocates nothing.  After a failure (the first bad sample of the batch) the stream is at its end. */
UNET_MUST_USE UnetStatus unet_loader_next(UnetLoader *loader, UnetBatch *batch, UnetError *error);

/* How often and how long unet_loader_next had to wait since creation, the first batch of each stream left
 * out. */
typedef struct {
    int64_t batches, waits;
    double seconds;
} UnetLoaderWait;
UnetLoaderWait unet_loader_wait(const UnetLoader *loader);

/* Stops the threads and frees everything; NULL is fine. */
void unet_loader_destroy(UnetLoader *loader);

#endif
