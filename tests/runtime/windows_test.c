/* windows_test.c - windows that overlap: where nnU-Net has them begin, what their points weigh, and the
 * class that is chosen of the values of a point. */
#include "check.h"
#include "unet/windows.h"

#include <math.h>

#define IS(...) CHECK((__VA_ARGS__), "%s", "not so: " #__VA_ARGS__)

static void check_begins(int32_t size, int32_t window, int32_t count, const int32_t *begin) {
    IS(unet_window_count(size, window, 0.5) == count);
    for (int32_t i = 0; i < count; i++) {
        IS(unet_window_begin(size, window, count, i) == begin[i]);
    }
}

static void test_begins(void) {
    check_begins(110, 64, 3, (const int32_t[]){0, 23, 46});
    check_begins(160, 128, 2, (const int32_t[]){0, 32});
    check_begins(224, 128, 3, (const int32_t[]){0, 48, 96});
    check_begins(512, 128, 7, (const int32_t[]){0, 64, 128, 192, 256, 320, 384});
    check_begins(129, 128, 2, (const int32_t[]){0, 1});
    check_begins(128, 128, 1, (const int32_t[]){0});
    check_begins(125, 128, 1, (const int32_t[]){-1}); /* the odd one behind */
    check_begins(103, 100, 2, (const int32_t[]){0, 3});
    check_begins(105, 100, 2, (const int32_t[]){0, 5});
    check_begins(155, 100, 3, (const int32_t[]){0, 28, 55}); /* 27.5: to the even one */
    check_begins(153, 100, 3, (const int32_t[]){0, 26, 53}); /* 26.5 */
    IS(unet_window_count(110, 64, 0) == 2);
    IS(unet_window_count(110, 64, 0.75) == 4);
}

static bool is_near(double value, double wanted) {
    return fabs(value - wanted) <= 6e-6 * wanted;
}

static void test_weights(void) {
    float weight[128];
    unet_window_weights(128, true, weight);
    IS(is_near(10 * (double)weight[0], 3.35463e-3));
    IS(is_near(10 * (double)weight[1], 4.29902e-3));
    IS(is_near(10 * (double)weight[16], 0.111090));
    IS(is_near(10 * (double)weight[32], 1.35335));
    IS(is_near(10 * (double)weight[63], 9.98049));
    IS(weight[64] == 1);
    IS(weight[127] == weight[1]);
    unet_window_weights(5, true, weight); /* around the point in the middle */
    IS(weight[2] == 1 && weight[0] == weight[4]);
    unet_window_weights(5, false, weight);
    IS(weight[0] == 1 && weight[4] == 1);
}

static void test_classes(void) {
    const float value[] = {1, 9, 3, 9, 3, 9, NAN, 9};
    IS(unet_class_of(value, 3, 2) == 1); /* 1 3 3: the first of the largest */
    IS(unet_class_of(value, 4, 2) == 3); /* no number is larger than any */
    IS(unet_class_of(value + 6, 2, 1) == 0);
    IS(unet_class_of(&(const float){0.5f}, 1, 1) == 0);
    IS(unet_class_of(&(const float){0.75f}, 1, 1) == 1);
}

int main(void) {
    test_begins();
    test_weights();
    test_classes();
    return check_result();
}
