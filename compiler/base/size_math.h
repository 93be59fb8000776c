/* size_math.h - arithmetic with sizes and amounts of work: numbers of elements, bytes, FLOPs, never
 * negative.  A result above 2^63 - 1 becomes INT64_MAX, and stays so in all further sums and products.  No
 * memory is so large, so the plan does not fit. */
#ifndef SIZE_MATH_H
#define SIZE_MATH_H

#include <stdint.h>

int64_t size_product(int64_t a, int64_t b);
int64_t size_sum(int64_t a, int64_t b);
/* The next multiple of UNIT. */
int64_t size_rounded(int64_t size, int64_t unit);
/* The greatest common divisor; of 0 and B it is B. */
int64_t size_common_divisor(int64_t a, int64_t b);
/* a / b rounded down, where `a` alone may be negative */
int64_t size_floor_quotient(int64_t a, int64_t b);
/* a + times * b */
int64_t work_sum(int64_t a, int64_t times, int64_t b);

#endif
