/* bands.h - between schedule.c and bands.c. */
#ifndef BANDS_H
#define BANDS_H

#include "ir/plan.h"

/* Puts each run of steps that can compute ranges of rows into a loop over bands of rows, about BANDS of
 * them. STEP[0..NSTEP) is replaced by NEW; returns how many steps that has. */
int loop_over_bands(const Program *program, const Step *step, int nstep, int64_t bands, Step **new);

#endif
