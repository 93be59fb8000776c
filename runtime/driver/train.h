/* train.h - a training run, between train.c, its loop, and train_start.c, what comes before and behind. */
#ifndef TRAIN_H
#define TRAIN_H

#include "driver.h"

#include "board.h"
#include "progress.h"
#include "unet/log.h"

typedef struct {
    Driver *driver;
    const UnetModel *model;
    const UnetTraining *training;
    UnetDataset *data, *eval_data; /* eval_data NULL: no evaluation */
    UnetLoader *loader;
    UnetStream stream;
    Device device;
    int64_t beside; /* bytes that the loader takes at most */
    RunFolder folder;
    UnetLog log;
    Board *board; /* NULL: no TensorBoard */
    UnetProgress progress;
    RunState state;
    LossScale scale;
    bool has_warned;          /* of the scale */
    Tally train, shown, eval; /* since the last row of the log, since the last progress line, evaluation */
    double *value, *identity; /* of a row of the log, one per result */
    double *unlogged;         /* what a checkpoint has of the sums since the last row */

    int64_t steps_per_epoch, steps;
    int64_t eval_every, save_every; /* in steps; 0: only at the end */
    int64_t saved;                  /* step of the checkpoint on disk */

    int64_t first_step;
    int64_t identity_end;              /* the batches up to this step are measured */
    int64_t begun;                     /* steps; as many as ended, or one more */
    int32_t samples[UNET_STEPS_AHEAD]; /* of the steps that were begun last */
    double norms;                      /* sum of the gradients' norms since the last row of the log, */
    int64_t normed;                    /*   of so many steps; those that overflowed have none */
    int64_t images;                    /* since the start of this process */
    double start;                      /* time of the first step */
    double training_seconds;           /* without evaluations and saves */
} Run;

/* Takes all that the run needs: data, memory, weights, its folder. */
UnetStatus train_start(Run *run);
/* Gives it back, as much as there is. */
void train_finish(Run *run);

/* Samples of a batch; numbered checkpoints that stay. */
int32_t train_batch(const Run *run);
int32_t train_kept_checkpoints(const Run *run);

/* The sums since the log's last row, for a checkpoint. */
void train_store_unlogged(Run *run);

#endif
