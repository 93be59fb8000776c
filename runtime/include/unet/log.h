/* log.h - the table of a training run, for plotting: comma-separated values, one line per measurement.
 *
 *     epoch,step,split,loss,"mse(denoised, clean)","psnr(denoised, clean)","psnr(noisy, clean)",...
 *
 * `loss` is the weighted sum that is minimised.  Each loss and metric follows under its own name and, for a
 * PSNR that has one, the PSNR of the input it improves on.  A value that was not measured is empty.  If
 * gradients are clipped by their norm, its mean over the steps stands behind the seconds, before it was
 * clipped.  If several processes may train together, `exchange_s` follows, in rows of training: for how
 * many seconds a step has waited for the others, 0 if there are none; and `exchange_all_s`: for how
 * many seconds it has sent and added, beside computation, too.  If losses are scaled, the scale and the
 * number of skipped steps stand at the end of a row; a file that is continued keeps the columns it has.
 * Lines are written whole as they come, so that a killed run loses none.
 */
#ifndef UNET_LOG_H
#define UNET_LOG_H

#include "unet/model.h"
#include "unet/status.h"

typedef struct {
    int fd; /* -1: closed */
    const UnetModel *model;
    char *line; /* of one row */
    size_t size;
    bool has_scale;    /* it has the columns of the loss scale, */
    bool has_exchange; /*   and of waiting for other processes */
    int64_t rows;      /* in the file, without its header */
} UnetLog;

typedef struct {
    int64_t epoch, step;
    const char *split; /* "train" or "eval" */
    double loss;
    const double *value;    /* one per result; NaN: not measured */
    const double *identity; /* one per result; used where the result has an identity_input */
    double learning_rate, images_per_second, seconds;
    double gradient_norm; /* NaN: not measured, */
    double exchange;      /*   as is this, */
    double sent;          /*   and this */
    double loss_scale;    /* 0: the loss is not scaled */
    int64_t skipped;      /* steps of the run whose gradients overflowed */
} UnetLogRow;

/* Starts the file at PATH; with LAST_STEP >= 0 keeps what it has up to that step, ROWS rows at most, and
 * goes on behind it.  UNET_IO where that is the log of another program. */
UNET_MUST_USE UnetStatus unet_log_open(UnetLog *log, const char *path, const UnetModel *model,
                                       int64_t last_step, int64_t rows, UnetError *error);
UNET_MUST_USE UnetStatus unet_log_write(UnetLog *log, const UnetLogRow *row, UnetError *error);
void unet_log_close(UnetLog *log);

#endif
