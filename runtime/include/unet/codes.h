/* codes.h - the optimiser's state in 8 bits (`state 8`), as the compiler, the kernels and the runtime know
 * it.
 *
 * After T. Dettmers, M. Lewis, S. Shleifer and L. Zettlemoyer, "8-bit Optimizers via Block-wise
 * Quantization", 2022.  The numbers of a tensor, in their order, are cut into blocks of 256; the last block
 * may be shorter.  A block keeps its largest absolute value, its maximum, as a real.  A number keeps the
 * code of its share, which is the number divided by the maximum.
 *
 * The code book is the dynamic map of the paper.  Decade d, from 0 to 6, has the shares from 10^(d - 7) to
 * 10^(d - 6).  A decade is cut into 2^d equal parts, or into twice as many where no number is negative.  A
 * code stands for the middle of a part.  Two codes stand for 0 and 1.  Numbers with signs have the same
 * parts once more below 0.  Codes count the shares in ascending order, from 0 to 255.
 *
 * A share has the nearest code, and half way between two codes the lower one.  A first moment m of Adam
 * bounds the second: v >= (1 - b1^2 / b2) (1 - b2) / (1 - b1)^2 m^2, by the inequality of Cauchy and
 * Schwarz. A second moment whose code stands for less is as large as that: a step never divides m by
 * epsilon alone. A block of zeros has the maximum 0, and its numbers are 0.  An infinite number
 * makes the maximum infinite and the other numbers NaN.  A NaN has the lowest code and counts in no
 * maximum: its parameter is a NaN by then, and training ends.
 *
 * A kernel for a device defines UNET_CODES_FUNCTION before it includes this file. */
#ifndef UNET_CODES_H
#define UNET_CODES_H

#include <stdint.h>

#ifndef UNET_CODES_FUNCTION
#define UNET_CODES_FUNCTION static inline
#endif

enum { UNET_CODES = 256, UNET_CODE_BLOCK = 256, UNET_CODED_ELEMENTS = 4096 };

/* Is the state of a parameter in codes?  Biases, norms and small tensors keep theirs in reals. */
UNET_CODES_FUNCTION int unet_is_coded(int rank, int64_t elements) {
    return rank > 1 && elements >= UNET_CODED_ELEMENTS;
}

UNET_CODES_FUNCTION int64_t unet_code_blocks(int64_t elements) {
    return elements / UNET_CODE_BLOCK + (elements % UNET_CODE_BLOCK != 0);
}

/* The maxima of a tensor lie behind its codes, so many bytes behind the first. */
UNET_CODES_FUNCTION int64_t unet_code_maxima(int64_t elements) {
    return (elements + 15) / 16 * 16;
}

/* The share that CODE stands for.  It is a quotient of whole numbers that doubles hold, so every compiler
 * and every processor finds the same one. */
UNET_CODES_FUNCTION double unet_code_share(int code, int has_sign) {
    const int number = has_sign ? code - 127 : code, size = number < 0 ? -number : number;
    const int place = has_sign ? size : size + 1; /* in a decade of n parts: from n to 2n - 1 */
    int parts = 1, unit = has_sign ? 10000000 : 100000000;
    if (number == 0 || code == UNET_CODES - 1)
        return number == 0 ? 0 : 1;
    for (; 2 * parts <= place; parts *= 2)
        unit /= 10;
    const double share = (double)(18 * place - 16 * parts + 9) / (2.0 * parts * unit);
    return number < 0 ? -share : share;
}

/* Shares above this one have a code above CODE. */
UNET_CODES_FUNCTION double unet_code_border(int code, int has_sign) {
    return (unet_code_share(code, has_sign) + unet_code_share(code + 1, has_sign)) / 2;
}

#endif
