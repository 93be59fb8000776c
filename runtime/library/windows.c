/* windows.c - windows that overlap (unet/windows.h). */
#include "unet/windows.h"

#include <math.h>

int32_t unet_window_count(int32_t size, int32_t window, double overlap) {
    const double step = window * (1 - overlap);
    return size <= window ? 1 : (int32_t)ceil((size - window) / step) + 1;
}

int32_t unet_window_begin(int32_t size, int32_t window, int32_t count, int32_t i) {
    if (size <= window) {
        return -((window - size) / 2);
    }
    return count == 1 ? 0 : (int32_t)nearbyint((double)(size - window) / (count - 1) * i);
}

void unet_window_weights(int32_t window, bool gaussian, float *weight) {
    const double deviation = window / 8.0;
    const int32_t middle = window / 2;
    for (int32_t i = 0; i < window; i++) {
        const double distance = (i - middle) / deviation;
        weight[i] = gaussian ? (float)exp(-distance * distance / 2) : 1.0f;
    }
}

int32_t unet_class_of(const float *value, int32_t count, int64_t stride) {
    int32_t best = 0;
    if (count == 1) {
        return value[0] > 0.5f;
    }
    for (int32_t c = 1; c < count && !isnan(value[best * stride]); c++) {
        if (isnan(value[c * stride]) || value[c * stride] > value[best * stride]) {
            best = c;
        }
    }
    return best;
}
