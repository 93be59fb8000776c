/* report.h - the pages of a training run, report.html, and of an evaluation: between train_report.c,
 * eval_report.c and report*.c. */
#ifndef REPORT_H
#define REPORT_H

#include "driver.h"

#include "page.h"
#include "pictures.h"

typedef struct {
    int64_t step, steps, seed;
    int32_t batch;
    const Tally *eval; /* the last evaluation; without samples: none was made */
    double best;       /* of what picks the best weights, at BEST_STEP; NaN: there is none */
    int64_t best_step;
    const char *ended;       /* how, where steps are left; NULL: it has not, or none are */
    const UnetDataset *data; /* of evaluation; its samples are shown by */
    Pictures *pictures;      /*   these; NULL: none are, */
    const char *no_pictures; /*   for this reason; NULL: none is given */
} ReportRun;

/* Writes report.html to the folder of the run, from its log and from RUN.  UNET_IO names the file that
 * cannot be read or written; the run itself does not need the page. */
UNET_MUST_USE UnetStatus report_run(Driver *driver, const ReportRun *run);

/* Parts of both pages: the means of TALLY under a heading; which classes were taken for which; memory; what
 * computed it, with RUN or, of an evaluation, NULL. */
void report_results(Page *page, const char *heading, const Tally *tally);
void report_matrices(Page *page, const Tally *tally);
void report_memory(Page *page, const UnetModel *model);
void report_versions(Page *page, Driver *driver, const ReportRun *run);
/* A line that is no result. */
void report_note(Page *page, const char *before, const char *text);

/* report_curves.c: a chart of each column of the log at PATH, up to the learning rate and the norm of the
 * gradients. It takes memory for 2000 rows of training and of evaluation at most. */
UNET_MUST_USE UnetStatus report_curves(Page *page, const char *path, UnetError *error);

/* report_pictures.c: the first samples of DATA, by PICTURES, until a signal comes; one SAMPLE, of whose
 * pictures MOST points on a side are shown.  If they cannot be made, the page says why. */
void report_samples(Page *page, Driver *driver, Pictures *pictures, const UnetDataset *data);
void report_sample(Page *page, Driver *driver, Pictures *pictures, int32_t sample, int32_t most);

#endif
