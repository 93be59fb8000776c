/* eval_report.h - the page of `eval --report`, between eval.c and eval_report.c. */
#ifndef EVAL_REPORT_H
#define EVAL_REPORT_H

#include "driver.h"

typedef struct {
    TallyListener listener; /* first: what hears of each sample gets it */
    TallyListener *next;    /* that hears of it, too, or NULL */
    double *value;          /* of each sample: its loss, and each result of the model; NaN: not measured */
    const UnetModel *model; /* as which samples are measured, */
    const UnetDataset *data;
    const UnetModel
        *shown_model; /*   and as which they are predicted for pictures: the same but for their size */
    const UnetDataset *shown;
    char path[UNET_PATH_BYTES]; /* of the page */
} EvalReport;

/* Takes room for the values of each sample of DATA; UNET_IO: no page can be written in the place that was
 * asked for. The caller closes REPORT, even after a failure. */
UNET_MUST_USE UnetStatus eval_report_open(EvalReport *report, Driver *driver, const UnetModel *model,
                                          const UnetDataset *data);
void eval_report_close(EvalReport *report);

/* Writes the page: what TALLY says of all samples, and the worst of those heard of.  DEVICE has the weights
 * and room for prediction; NULL: no pictures are made, for the reason NO_PICTURES. */
UNET_MUST_USE UnetStatus eval_report_write(const EvalReport *report, Driver *driver, const Tally *tally,
                                           Device *device, const char *no_pictures);

#endif
