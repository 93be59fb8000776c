/* zero.c - where a sum over the samples starts. */
#include "prologue.c"

#define KERNEL zero
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(void *sum, size_t bytes) {
#pragma omp single
    memset(sum, 0, bytes);
}
/* END */
