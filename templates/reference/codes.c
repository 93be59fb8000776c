/* codes.c - the optimiser's state in 8 bits, number by number, as unet/codes.h says. */
#include "prologue.c"

/* BEGIN */
#include <unet/codes.h>

/* The states in reals, which lie behind those in codes; ROW: the last of TENSOR. */
UNUSED static real *state_reals(void *state, const long *row) {
    return state == NULL ? NULL : (real *)(void *)((char *)state + row[3]);
}

/* The codes of the tensor that has this ROW of TENSOR, and its maxima. */
UNUSED static uint8_t *state_codes(void *state, const long *row) {
    return (uint8_t *)state + row[3];
}

UNUSED static real *state_maxima(void *state, const long *row) {
    return (real *)(void *)(state_codes(state, row) + unet_code_maxima(row[2]));
}

/* The numbers of block BLOCK of the tensor; without a STATE they are 0. */
UNUSED static void decode_block(void *state, const long *row, long block, int has_sign, real *x) {
    for (long i = block * UNET_CODE_BLOCK; i < row[2] && i < (block + 1) * UNET_CODE_BLOCK; i++)
        *x++ = state == NULL ? 0
                             : (real)unet_code_share(state_codes(state, row)[i], has_sign) *
                                   state_maxima(state, row)[block];
}

UNUSED static void encode_block(void *state, const long *row, long block, int has_sign, const real *x) {
    const long begin = block * UNET_CODE_BLOCK,
               count = row[2] - begin < UNET_CODE_BLOCK ? row[2] - begin : UNET_CODE_BLOCK;
    real maximum = 0;
    for (long i = 0; state != NULL && i < count; i++)
        if ((real)fabs((double)x[i]) > maximum)
            maximum = (real)fabs((double)x[i]);
    if (state != NULL)
        state_maxima(state, row)[block] = maximum;
    for (long i = 0; state != NULL && i < count; i++) {
        const real share = maximum > 0 ? x[i] / maximum : 0;
        int code = 0;
        while (code < UNET_CODES - 1 && share > (real)unet_code_border(code, has_sign))
            code++;
        state_codes(state, row)[begin + i] = (uint8_t)code;
    }
}
/* END */
