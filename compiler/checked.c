/* checked.c - arithmetic with sizes. */
#include "checked.h"
#include "diag.h"

_Noreturn void size_too_large(void) {
    environment_error("a tensor does not fit into 2^63 bytes");
}

int64_t size_product(int64_t a, int64_t b) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        size_too_large();
    return product;
}

int64_t size_sum(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        size_too_large();
    return sum;
}

int64_t size_rounded(int64_t size, int64_t unit) {
    return size_product(size_sum(size, unit - 1) / unit, unit);
}
