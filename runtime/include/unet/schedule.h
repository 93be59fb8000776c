/* schedule.h - the learning rate of each step, as PyTorch's schedulers have it.
 *
 * A rate follows from the number of the step alone, and, of a plateau, from what evaluations have found. So
 * a run that continues has the same rates as one that was not interrupted.
 */
#ifndef UNET_SCHEDULE_H
#define UNET_SCHEDULE_H

#include "unet/model.h"

/* How long a run is. */
typedef struct {
    int64_t steps, steps_per_epoch;
} UnetLength;

/* The state of a plateau: part of a checkpoint. */
typedef struct {
    double scale; /* of the rate: 1 in the beginning */
    double best;  /* NaN: nothing was evaluated */
    int64_t bad;  /* evaluations in a row that were not better */
} UnetPlateau;

/* The rate of STEP, counted from 1, where the optimizer's is RATE.  SCHEDULE may be NULL.  Behind a warm-up
 * the schedule begins as if training did, and has the steps that are left. */
double unet_schedule_rate(const UnetSchedule *schedule, double rate, const UnetPlateau *plateau,
                          int64_t step, UnetLength length);

/* An evaluation has found VALUE: ReduceLROnPlateau with a relative threshold of 1e-4. */
void unet_plateau_look(const UnetSchedule *schedule, UnetPlateau *plateau, double value,
                       bool higher_is_better);

#endif
