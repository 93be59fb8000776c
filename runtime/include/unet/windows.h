/* windows.h - windows that overlap along an axis, as nnU-Net lays them: where each begins, and how much its
 * points count where several show the same. */
#ifndef UNET_WINDOWS_H
#define UNET_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of windows of WINDOW points that cover an axis of SIZE; neighbours share at least OVERLAP of a
 * window (0 to less than 1).  One, if SIZE is not larger. */
int32_t unet_window_count(int32_t size, int32_t window, double overlap);

/* The begin of window I of COUNT: all evenly between the ends, halves to even.  An axis of fewer points
 * than the window lies in its middle, the odd point behind: then the begin is negative. */
int32_t unet_window_begin(int32_t size, int32_t window, int32_t count, int32_t i);

/* The weights of the points of a window: with GAUSSIAN exp(-d^2 / (2 s^2)), s being an eighth of the window
 * and d the distance from point WINDOW / 2, which counts 1; else all 1.  (nnU-Net's numbers are ten times
 * these; the factor cancels.) */
void unet_window_weights(int32_t window, bool gaussian, float *weight);

/* The class of a point whose COUNT values lie STRIDE apart: the first of the largest, a NaN being larger
 * than any number; of one value 1 where it is above 0.5. */
int32_t unet_class_of(const float *value, int32_t count, int64_t stride);

#ifdef __cplusplus
}
#endif

#endif
