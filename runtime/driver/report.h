/* report.h - report.html, the page of a training run: between train.c, report.c and report_curves.c. */
#ifndef REPORT_H
#define REPORT_H

#include "driver.h"

#include "page.h"

typedef struct {
    int64_t step, steps, seed;
    int32_t batch;
    const Tally *eval; /* the last evaluation; without samples: none was made */
    double best;       /* of what picks the best weights, at BEST_STEP; NaN: there is none */
    int64_t best_step;
} ReportRun;

/* Writes report.html to the folder of the run, from its log and from RUN.  UNET_IO names the file that
 * cannot be read or written; the run itself does not need the page. */
UNET_MUST_USE UnetStatus report_run(Driver *driver, const ReportRun *run);

/* report_curves.c: a chart of each column of the log at PATH, up to the learning rate and the norm of the
 * gradients. It takes memory for 2000 rows of training and of evaluation at most. */
UNET_MUST_USE UnetStatus report_curves(Page *page, const char *path, UnetError *error);

#endif
