/* state_codes.h - the state of a whole tensor from reals to codes and back, as unet/codes.h says, by the
 * arithmetic of the kernels: its maxima and codes have their bits. */
#ifndef STATE_CODES_H
#define STATE_CODES_H

#include <stdbool.h>

#include "unet/codes.h"
#include "unet/model.h"

/* REAL: the type of VALUES and of maxima, UNET_F32 or UNET_F64.  STATE holds the codes of so many ELEMENTS,
 * and behind them the maxima. */
void state_encode(UnetType real, bool has_sign, const void *values, int64_t elements, void *state);

/* CODES may be the last bytes of VALUES. */
void state_decode(UnetType real, bool has_sign, const uint8_t *codes, const void *maxima, int64_t elements,
                  void *values);

#endif
