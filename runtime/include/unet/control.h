/* control.h - the arguments of a step on a GPU, as they lie in the arena.
 *
 * The compiler plans the buffer, the runtime copies it to the device before each step, and kernels read it:
 * all three take its size from here.
 */
#ifndef UNET_CONTROL_H
#define UNET_CONTROL_H

#include <stdint.h>

enum { UNET_CONTROL_LABELS = 8 }; /* label counts of a program: UNET_MOST_LABEL_COUNTS in unet/model.h */
enum { UNET_STREAMS = 2 };        /* streams of a step */

/* Behind this struct lies a UnetValid for each sample of the batch. */
typedef struct {
    double learning_rate;
    int64_t step;  /* of the optimiser, from 1 */
    uint64_t seed; /* of random numbers */
    int32_t n; /* valid samples of the batch; kernels work on all, losses and their gradients on these */
    int32_t start;       /* the first sample of this iteration of a loop over samples, 0 without a loop */
    int32_t first, last; /* of ranks: the samples [first, last) of the batch are computed here; else all */
    double labelled[UNET_CONTROL_LABELS]; /* label counts of the batch */
    /* Adam divides its means of gradients and of their squares by these numbers: 1 - beta^step.  If losses
     * are scaled, the kernel that judges the step writes both. */
    double correction[2];
    /* For each stream, the blocks of the running kernel that have finished, 0 between two kernels.  The
     * last block does the work that needs all the others. */
    uint32_t arrived[UNET_STREAMS];
} UnetControl;

/* How many points of a sample's depth, height and width are image; the rest is padding. */
typedef int32_t UnetValid[3];

#endif
