/* state_codes.c - the state of a whole tensor from reals to codes and back. */
#include "state_codes.h"

#include <math.h>
#include <string.h>

static double real_at(UnetType real, const void *values, int64_t i) {
    return real == UNET_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

static void set_real(UnetType real, void *values, int64_t i, double x) {
    if (real == UNET_F64) {
        ((double *)values)[i] = x;
    } else {
        ((float *)values)[i] = (float)x;
    }
}

/* A quotient or a product of two floats, rounded to double and then to float, has the bits that floats
 * give. */
static double rounded(UnetType real, double x) {
    return real == UNET_F64 ? x : (double)(float)x;
}

/* The number of borders below SHARE. */
static uint8_t code_of(const double *border, double share) {
    int below = 0;
    for (int half = UNET_CODES / 2; half > 0; half /= 2) {
        below += share > border[below + half - 1] ? half : 0;
    }
    return (uint8_t)below;
}

void state_encode(UnetType real, bool has_sign, const void *values, int64_t elements, void *state) {
    double border[UNET_CODES - 1];
    uint8_t *codes = state;
    void *maxima = codes + unet_code_maxima(elements);
    for (int code = 0; code < UNET_CODES - 1; code++) {
        border[code] = rounded(real, unet_code_border(code, has_sign));
    }
    for (int64_t block = 0; block < unet_code_blocks(elements); block++) {
        const int64_t begin = block * UNET_CODE_BLOCK, left = elements - begin,
                      end = begin + (left < UNET_CODE_BLOCK ? left : UNET_CODE_BLOCK);
        double maximum = 0;
        for (int64_t i = begin; i < end; i++) {
            const double size = fabs(real_at(real, values, i));
            maximum = size > maximum ? size : maximum;
        }
        set_real(real, maxima, block, maximum);
        for (int64_t i = begin; i < end; i++) {
            const double share = maximum > 0 ? rounded(real, real_at(real, values, i) / maximum) : 0;
            codes[i] = code_of(border, share);
        }
    }
}

void state_decode(UnetType real, bool has_sign, const uint8_t *codes, const void *maxima, int64_t elements,
                  void *values) {
    double share[UNET_CODES];
    for (int code = 0; code < UNET_CODES; code++) {
        share[code] = rounded(real, unet_code_share(code, has_sign));
    }
    for (int64_t i = 0; i < elements; i++) {
        set_real(real, values, i, share[codes[i]] * real_at(real, maxima, i / UNET_CODE_BLOCK));
    }
}
