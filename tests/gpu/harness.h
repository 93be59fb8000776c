/* harness.h - what the files of the harness share. */
#ifndef HARNESS_H
#define HARNESS_H

#include "unet/cuda_device.h"

#include "convolution.h" /* runtime/cuda */

/* Says WHAT on stderr and exits with 1. */
_Noreturn void fail(const char *what);

/* sweep.c: returns the exit code. */
int sweep(const UnetCudaModel *tables, double seconds, int repeats);

/* assumptions.c: returns the exit code. */
int assumptions(const UnetCudaModel *tables);

#endif
