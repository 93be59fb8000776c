/* eval_windows.h - between eval.c, the command, and eval_windows.c, which measures whole volumes by windows
 * that overlap. */
#ifndef EVAL_WINDOWS_H
#define EVAL_WINDOWS_H

#include "driver.h"

/* Whether result I of the model can be measured on what prediction by windows makes. */
bool windows_measure(const UnetModel *model, int i);

/* Takes each sample of DATA through the model's program of prediction, which has windows, and counts what
 * can be measured of it in TALLY; LISTENER, told of each volume, may be NULL. */
UNET_MUST_USE UnetStatus evaluate_windows(Driver *driver, const UnetDataset *data, Tally *tally,
                                          TallyListener *listener);

#endif
