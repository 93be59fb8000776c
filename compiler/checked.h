/* checked.h - arithmetic with sizes: numbers of elements and bytes, never negative.  A result beyond 2^63
 * ends the compiler: no memory holds it. */
#ifndef CHECKED_H
#define CHECKED_H

#include <stdint.h>

/* Ends the compiler with that message. */
_Noreturn void size_too_large(void);

int64_t size_product(int64_t a, int64_t b);
int64_t size_sum(int64_t a, int64_t b);
/* The next multiple of UNIT. */
int64_t size_rounded(int64_t size, int64_t unit);

#endif
