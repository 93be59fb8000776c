/* dataset_decode.c - decodes all volumes of a dataset that are not decoded yet, several at a time.
 *
 * Each has a file of its own, so the order does not matter.  One that cannot be decoded is left to whoever
 * opens the samples one after another, and tells of it there.
 */
#include "dataset_parts.h"
#include "unet/words.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_THREADS = 8, LINE_BYTES = 512 };

typedef struct {
    const UnetDataset *dataset;
    _Atomic int32_t next; /* sample * nseries + series */
} Queue;

/* The path of file NUMBER; false: there is none. */
static bool path_of(const UnetDataset *dataset, int32_t number, char path[UNET_PATH_BYTES]) {
    return dataset_path(dataset, &dataset->series[number % dataset->nseries],
                        &dataset->sample[number / dataset->nseries], path, NULL) == UNET_OK;
}

static void *work(void *argument) {
    Queue *queue = argument;
    const UnetDataset *dataset = queue->dataset;
    char path[UNET_PATH_BYTES];
    for (;;) {
        const int32_t number = atomic_fetch_add(&queue->next, 1);
        UnetVoxels volume;
        if (number >= dataset->nsample * dataset->nseries) {
            return NULL;
        }
        const UnetSampling sampling = dataset_sampling(dataset, number % dataset->nseries);
        if (path_of(dataset, number, path) &&
            unet_voxels_open(&volume, path, dataset->cache_folder, &sampling, NULL) == UNET_OK) {
            unet_voxels_close(&volume);
        }
    }
}

static int32_t count_missing(const UnetDataset *dataset) {
    char path[UNET_PATH_BYTES];
    int32_t count = 0;
    for (int32_t i = 0; i < dataset->nsample * dataset->nseries; i++) {
        const UnetSampling sampling = dataset_sampling(dataset, i % dataset->nseries);
        count +=
            path_of(dataset, i, path) && !unet_voxels_is_decoded(path, dataset->cache_folder, &sampling);
    }
    return count;
}

/* Signals are for the main thread. */
static void run_threads(Queue *queue, int32_t threads) {
    pthread_t thread[MOST_THREADS];
    sigset_t all, before;
    int32_t started = 0;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < threads && pthread_create(&thread[started], NULL, work, queue) == 0) {
        started++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int32_t i = 0; i < started; i++) {
        (void)pthread_join(thread[i], NULL);
    }
}

void dataset_decode_volumes(const UnetDataset *dataset, UnetDataPlace place) {
    Queue queue = {.dataset = dataset};
    const int32_t missing = count_missing(dataset);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char text[LINE_BYTES];
    if (missing == 0) {
        return;
    }
    if (place.note != NULL) {
        (void)snprintf(text, sizeof text, "decoding %d volume%s, once, into files %s%.300s", (int)missing,
                       unet_plural(missing), place.cache != NULL ? "in " : "beside them",
                       place.cache != NULL ? place.cache : "; --cache=DIR puts them elsewhere");
        place.note(place.context, text);
    }
    run_threads(&queue, cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (int32_t)cores);
}
