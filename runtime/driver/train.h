/* train.h - a training run, between train.c, its loop, and train_start.c, what comes before and behind. */
#ifndef TRAIN_H
#define TRAIN_H

#include "driver.h"

#include "board.h"
#include "progress.h"
#include "unet/log.h"

/* Points of each class in each input that is labels, of the first epoch's samples. */
typedef struct {
    int64_t (*points)[UNET_IGNORED + 1];
    int64_t samples;
    bool told;
} SeenLabels;

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
    double *said;             /* of several ranks: what this one tells the others */
    double *unlogged;         /* what a checkpoint has of the sums since the last row */

    int64_t steps_per_epoch, steps;
    int64_t eval_every, save_every; /* in steps; 0: only at the end */
    int64_t saved;                  /* step of the checkpoint on disk */

    int64_t first_step;
    int64_t identity_end;              /* the batches up to this step are measured */
    int64_t begun;                     /* steps; as many as ended, or one more */
    int32_t samples[UNET_STEPS_AHEAD]; /* of the steps that were begun last */
    SeenLabels seen;
    double norms;            /* sum of the gradients' norms since the last row of the log, */
    int64_t normed;          /*   of so many steps; steps that overflowed have none */
    int64_t row_step;        /* the step behind which the log's last row came, or this process began, */
    double row_exchange;     /*   and what Ranks.seconds were then, */
    double row_sent;         /*   and Ranks.sent */
    int64_t images;          /* since the start of this process */
    double start;            /* time of the first step */
    double training_seconds; /* without evaluations and saves */
    double waited;           /* seconds of these, for data; once the loop is over */
    double report_end;       /* time of the last report.html; 0: none yet */
    bool has_no_report;      /* it could not be written, which was told */
} Run;

/* Takes all that the run needs: data, memory, weights, its folder. */
UnetStatus train_start(Run *run);
/* Gives it back, as much as there is. */
void train_finish(Run *run);

/* Samples of a batch; numbered checkpoints that stay. */
int32_t train_batch(const Run *run);
int32_t train_kept_checkpoints(const Run *run);

/* Have so many evaluations in a row brought nothing better that training ends? */
static inline bool train_has_stalled(const Run *run) {
    return run->training->patience > 0 && run->state.stale >= run->training->patience;
}

/* The sums since the log's last row, for a checkpoint. */
void train_store_unlogged(Run *run);

/* ---- train_labels.c: labels that are all ignored, classes that nobody has ---- */

UNET_MUST_USE UnetStatus train_watch_labels(Run *run); /* from now on, until train_forget_labels() */
void train_count_labels(Run *run, const UnetBatch *batch);
void train_judge_labels(Run *run, bool evaluates); /* behind a step */
void train_forget_labels(Run *run);

/* ---- train_report.c: report.html ---- */

/* Behind an evaluation, unless there is a page that is new. */
void train_report_evaluation(Run *run);
/* Behind the loop, which ended with STATUS, and the last save: with pictures, for which the loader may go
 * and the arena is used. The driver's error stays. */
void train_report_end(Run *run, UnetStatus status);

/* ---- train_ranks.c: what all ranks do together ---- */

static inline bool train_leads(const Run *run) {
    return run->driver->ranks.rank == 0; /* writes files and talks to the user */
}

UNET_MUST_USE UnetStatus train_reserve_ranks(Run *run);
/* Refuses ranks that run something else, or on other data. */
UNET_MUST_USE UnetStatus train_compare_ranks(Run *run);
/* Weights, moments, RunState and what inputs are normalised by, from the first rank to all. */
UNET_MUST_USE UnetStatus train_copy_state(Run *run);
/* Collects an optimiser's state in slices: the whole of it, in the first rank, for a checkpoint. */
UNET_MUST_USE UnetStatus train_gather_state(Run *run);
/* Refuses to go on where ranks have different weights: UNET_BUG. */
UNET_MUST_USE UnetStatus train_compare_weights(Run *run);
/* The losses and metrics of a step become the sums over all its N samples. */
UNET_MUST_USE UnetStatus train_share_results(Run *run, int32_t n);
/* tally_add_identity() for a batch; this rank has its samples [FIRST, LAST). */
UNET_MUST_USE UnetStatus train_share_identities(Run *run, const UnetBatch *batch, int32_t first,
                                                int32_t last);
/* tally_evaluate() by all ranks. */
UNET_MUST_USE UnetStatus train_evaluate_ranks(Run *run, int *signal);

#endif
