/* size_math.c - arithmetic with sizes. */
#include "base/size_math.h"

int64_t size_product(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t size_sum(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t size_rounded(int64_t size, int64_t unit) {
    int64_t rest = size % unit;
    return size == INT64_MAX || rest == 0 ? size : size_sum(size, unit - rest);
}

int64_t size_floor_quotient(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

int64_t work_sum(int64_t a, int64_t times, int64_t b) {
    return size_sum(a, size_product(times, b));
}

int64_t size_common_divisor(int64_t a, int64_t b) {
    return a == 0 ? b : size_common_divisor(b % a, a);
}
