/* train_labels.c - what the labels of a run's first epoch lack.
 *
 * A loss is 0 where every label is ignored, and a class that no sample has is not learned; training goes on
 * in either case.  So the labels of the first epoch are counted as they come.
 *
 * Requires: batches in the order of their steps.  Provides: warnings, once, before the first evaluation.
 */
#include "train.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOON = 100 }; /* samples after which labels that are all ignored are told */

static bool is_counted(const UnetModel *model, int i) {
    return model->inputs[i].classes > 0 && model->train->inputs[i].type == UNET_U8;
}

UnetStatus train_watch_labels(Run *run) {
    run->seen.points = calloc((size_t)run->model->ninput, sizeof *run->seen.points);
    return run->seen.points != NULL
               ? UNET_OK
               : unet_fail(&run->driver->error, UNET_TOO_SMALL, "no memory to count labels");
}

void train_count_labels(Run *run, const UnetBatch *batch) {
    const UnetModel *model = run->model;
    SeenLabels *seen = &run->seen;
    if (seen->told || !ranks_alone(&run->driver->ranks) || run->begun > run->steps_per_epoch)
        return;
    for (int i = 0; i < model->ninput; i++)
        for (int32_t n = 0; is_counted(model, i) && n < batch->n; n++)
            unet_count_points(&model->train->inputs[i], batch->inputs[i], n,
                              batch->valid != NULL ? batch->valid[n] : model->train->inputs[i].size,
                              seen->points[i]);
    seen->samples += batch->n;
}

/* Points of input I that count. */
static int64_t labelled(const Run *run, int i) {
    int64_t sum = 0;
    for (int32_t k = 0; k < run->model->inputs[i].classes; k++)
        sum += run->seen.points[i][k];
    return sum;
}

static void tell_ignored(Run *run, int i) {
    unet_progress_message(
        &run->progress,
        "warning: every label of `%s` is ignored in the first %" PRId64
        " samples, so a loss that reads them is 0: look at the masks, and at `values` and "
        "`ignore` in the file",
        run->model->inputs[i].name, run->seen.samples);
}

/* The classes of input I without a point, as "2, 5, 7": how many. */
static int list_absent(const Run *run, int i, char *text, size_t size) {
    int count = 0, length = 0;
    for (int32_t k = 0; k < run->model->inputs[i].classes; k++) {
        if (run->seen.points[i][k] > 0)
            continue;
        if (length >= 0 && (size_t)length < size)
            length +=
                snprintf(text + length, size - (size_t)length, "%s%" PRId32, count > 0 ? ", " : "", k);
        count++;
    }
    return count;
}

static void tell_absent(Run *run, int i) {
    char absent[200];
    const int count = list_absent(run, i, absent, sizeof absent);
    if (count > 0)
        unet_progress_message(&run->progress,
                              "warning: class%s %s of `%s` ha%s no point in the first epoch (%" PRId64
                              " samples): training cannot learn %s",
                              count > 1 ? "es" : "", absent, run->model->inputs[i].name,
                              count > 1 ? "ve" : "s", run->seen.samples, count > 1 ? "them" : "it");
}

void train_judge_labels(Run *run, bool evaluates) {
    SeenLabels *seen = &run->seen;
    const bool over = evaluates || run->state.step >= run->steps_per_epoch || run->state.step == run->steps;
    if (seen->told || seen->samples == 0 || (!over && seen->samples < SOON))
        return;
    for (int i = 0; i < run->model->ninput; i++) {
        if (!is_counted(run->model, i))
            continue;
        if (labelled(run, i) == 0) {
            tell_ignored(run, i);
            seen->told = true;
        } else if (over) {
            tell_absent(run, i);
        }
    }
    seen->told |= over;
}

void train_forget_labels(Run *run) {
    free(run->seen.points);
    run->seen.points = NULL;
}
