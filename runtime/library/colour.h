/* colour.h - transforms that change the colours of a window and leave every point where it is; private to
 * the runtime.  Pictures are planar, CHANNELS after each other. */
#ifndef UNET_COLOUR_H
#define UNET_COLOUR_H

#include "unet/model.h"
#include "unet/rng.h"

/* A picture of a file as a window shows it. */
typedef struct {
    float *value;
    int32_t channels, height, width;
} Picture;

/* Whether there is a `distort` or a `gamma`; a `blur` or a `noise`. */
bool colour_changes(const UnetTransform *transform, int32_t count);
bool colour_degrades(const UnetTransform *transform, int32_t count);

/* Runs what changes the colours of pictures from 0 to 1, which stay in this range.  KEY: of the sample; its
 * stream is replaced. */
void colour_change(const UnetTransform *transform, int32_t count, const UnetKey *key,
                   const Picture *picture);

/* Runs what degrades the values of input INPUT.  LINES: colour_lines(height, width) floats. */
void colour_degrade(const UnetTransform *transform, int32_t count, const UnetKey *key, int32_t input,
                    const Picture *picture, float *lines);
size_t colour_lines(int32_t height, int32_t width);

#endif
