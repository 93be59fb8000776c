/* normal.h - normalisation of inputs: (value - mean) / deviation, channel by channel, as torchvision
 * computes it, clipped before where the numbers say so; and its numbers as text, in which they stand in
 * files of weights. */
#ifndef UNET_NORMAL_H
#define UNET_NORMAL_H

#include <stddef.h>
#include "unet/model.h"
#include "unet/safetensors.h"

/* COUNT values of each channel, planar, STRIDE apart; TO may be FROM. */
void unet_normalize(const UnetNormal *normal, int32_t channels, size_t count, size_t stride,
                    const float *from, float *to);

/* "0.485 0.229 0.456 0.224 ...": mean and deviation of each channel; behind them, where it clips, low and
 * high of each. */
enum { UNET_NORMAL_BYTES = UNET_MOST_NORMALIZED * 4 * 26 };
void unet_normal_format(const UnetNormal *normal, int32_t channels, char text[UNET_NORMAL_BYTES]);

/* CLIPS: also low and high.  False where TEXT is not of so many channels, or a deviation is not above 0. */
bool unet_normal_parse(UnetNormal *normal, int32_t channels, bool clips, const char *text);

/* The name of the numbers of input I in files of weights. */
enum { UNET_NORMAL_KEY_BYTES = 128 };
void unet_normal_key(const UnetModel *model, int32_t i, char key[UNET_NORMAL_KEY_BYTES]);

/* Whether every volume has numbers of its own. */
bool unet_normal_is_each(UnetNormalizing how);

/* Takes the numbers of input I from FILE, which must have them, if they are to be measured; else changes
 * nothing. */
UNET_MUST_USE UnetStatus unet_normal_read(const UnetModel *model, int32_t i, UnetNormal *normal,
                                          const UnetSafetensors *file, UnetError *error);

#endif
