/* eval_windows.h - between eval.c, the command, and eval_windows.c, which measures whole volumes by windows
 * that overlap. */
#ifndef EVAL_WINDOWS_H
#define EVAL_WINDOWS_H

#include "predict.h"

/* Whether result I of the model can be measured on what prediction by windows makes. */
bool windows_measure(const UnetModel *model, int i);

/* Takes each sample of DATA, volumes, through the model's program of prediction by windows, and counts what
 * can be measured of it in TALLY; LISTENER, told of each volume, may be NULL. */
UNET_MUST_USE UnetStatus evaluate_windows(Driver *driver, const UnetDataset *data, Tally *tally,
                                          TallyListener *listener);

/* eval_pictures.c: evaluation of whole pictures, which are not all as small as the program takes.  COMPILED
 * is the data as the program takes it, or NULL, if it does not; *WHOLE NULL: nothing is larger, or no
 * output is measured. */
typedef struct WholePictures WholePictures;
UNET_MUST_USE UnetStatus whole_pictures_open(WholePictures **whole, Driver *driver,
                                             const UnetDataset *compiled);
void whole_pictures_close(WholePictures *whole); /* NULL is fine */
UnetDataset *whole_pictures_data(const WholePictures *whole);
/* The model as its samples are read: tallies of them are of this one. */
const UnetModel *whole_pictures_model(const WholePictures *whole);
/* The model and the data by which the network's inputs are read: their size may differ. */
void whole_pictures_predicted(const WholePictures *whole, const UnetModel **model,
                              const UnetDataset **data);
/* Counts what can be measured in TALLY; LISTENER, told of each picture, may be NULL.  DEVICE has the
 * weights and room for prediction. */
UNET_MUST_USE UnetStatus whole_pictures_evaluate(const WholePictures *whole, Device *device, Tally *tally,
                                                 TallyListener *listener);

#endif
