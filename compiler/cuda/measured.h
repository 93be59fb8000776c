/* measured.h - engines that a program measured on its device (--engines=FILE), for the plan of the next
 * one. */
#ifndef CUDA_MEASURED_H
#define CUDA_MEASURED_H

#include "ir/plan.h"
#include "unet/engines.h"

/* The table in the file PATH, in memory of POOL; unetc ends where that cannot be read or was measured on a
 * device that does not run ARCHITECTURE. */
const UnetEngineTable *measured_read(Pool *pool, const char *path, const char *architecture);

/* How many of *ALL convolutions of PLAN are computed by engines of its table. */
int measured_convolutions(const Plan *plan, int *all);

#endif
