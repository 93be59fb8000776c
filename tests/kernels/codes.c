/* codes.c - prints the code book of unet/codes.h, and the codes that the templates of the cpu target, or,
 * with REFERENCE, the templates of the reference make of blocks of numbers: codes_test.py knows the right
 * ones. */
#ifdef REFERENCE
#include "../../templates/reference/codes.c"
#else
#include "../../templates/cpu/codes.c"
#endif

#include <stdio.h>

static uint32_t random_bits = 1;

static float uniform(void) {
    random_bits = random_bits * 1664525u + 1013904223u;
    return (float)(random_bits >> 8) * 0x1p-24f;
}

static uint32_t bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Codes of COUNT numbers, one block of them, and these decoded. */
static void show(int has_sign, const float *x, int count) {
    static _Alignas(16) uint8_t state[UNET_CODE_BLOCK + 16];
    float back[UNET_CODE_BLOCK];
    const long tensor[] = {0, 0, count, 0, 1};
    float maximum;
#ifdef REFERENCE
    encode_block(state, tensor, 0, has_sign, x);
    decode_block(state, tensor, 0, has_sign, back);
#else
    static CodeBook book;
    code_book(&book, has_sign);
    encode_block(&book, state, state_block(tensor, 0), x);
    decode_block(&book, state, state_block(tensor, 0), back);
#endif
    memcpy(&maximum, state + unet_code_maxima(count), sizeof maximum);
    printf("block %d %08x", has_sign, bits(maximum));
    for (int i = 0; i < count; i++)
        printf(" %08x:%d:%08x", bits(x[i]), state[i], bits(back[i]));
    printf("\n");
}

static float number(int kind, int has_sign, int i) {
    const float sign = has_sign && uniform() < 0.5f ? -1 : 1, u = uniform();
    return kind == 0   ? sign * u
           : kind == 1 ? sign * powf(10, -9 * u)
           : kind == 2 ? 0
           : kind == 3 ? (i == 7 ? INFINITY : sign * u)
           : kind == 4 ? (i % 50 == 3 ? NAN : sign * u)
           : kind == 5 ? sign * u * 1e-41f /* less than normal numbers */
                       : (float)unet_code_border(i % (UNET_CODES - 1), has_sign);
}

int main(void) {
    static const int counts[] = {1, 5, 255, 256};
    float x[UNET_CODE_BLOCK];
    for (int has_sign = 0; has_sign < 2; has_sign++) {
        for (int code = 0; code < UNET_CODES; code++)
            printf("share %d %a\n", has_sign, unet_code_share(code, has_sign));
        for (int kind = 0; kind < 7; kind++)
            for (int k = 0; k < 4; k++) {
                for (int i = 0; i < counts[k]; i++)
                    x[i] = number(kind, has_sign, i);
                if (kind == 6)
                    x[counts[k] - 1] = 1; /* borders are shares of it */
                show(has_sign, x, counts[k]);
            }
        for (float scale = 1; scale > 1e-20f; scale *= 0.0371f) {
            for (int code = 0; code < UNET_CODES; code++)
                x[code] = (float)unet_code_share(code, has_sign) * scale;
            show(has_sign, x, UNET_CODES);
        }
    }
    return 0;
}
