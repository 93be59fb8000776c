/* labels_test.c - labels of a batch are counted as one by one: runs of a class, valid parts of samples,
 * rows that end anywhere, labels that are not neighbours. */
#include "check.h"
#include "unet/model.h"

enum { CLASSES = 5, IGNORED = 255, MOST = 40 };

static uint32_t next(uint32_t *state, uint32_t below) {
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 8) % below;
}

/* Runs of up to 30 labels of a class. */
static void fill(uint8_t *labels, int64_t count, uint32_t *state) {
    uint8_t class = 0;
    for (int64_t i = 0, left = 0; i < count; i++, left--) {
        if (left <= 0) {
            const uint32_t drawn = next(state, CLASSES + 1);
            class = drawn == CLASSES ? IGNORED : (uint8_t)drawn;
            left = next(state, 30);
        }
        labels[i] = class;
    }
}

static void count_a_batch(uint32_t seed) {
    uint32_t state = seed;
    UnetLayout layout = {.channels = 1, .block = next(&state, 3) == 0 ? 4 : 1};
    for (int k = 0; k < 3; k++)
        layout.size[k] = 1 + (int32_t)next(&state, k == 0 ? 3 : MOST);
    layout.row = (layout.size[2] + (int64_t)next(&state, 3)) * layout.block;
    layout.depth = layout.row * layout.size[1];
    layout.sample = layout.depth * layout.size[0];
    const int32_t n = 1 + (int32_t)next(&state, 4);
    uint8_t *labels = malloc((size_t)(n * layout.sample));
    int32_t valid[4][3];
    fill(labels, n * layout.sample, &state);
    double weight[CLASSES], expected = 0, found;
    for (int k = 0; k < CLASSES; k++)
        weight[k] = 1 + (double)next(&state, 8);
    for (int32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            valid[i][k] = 1 + (int32_t)next(&state, (uint32_t)layout.size[k] + 5);
        for (int32_t d = 0; d < layout.size[0] && d < valid[i][0]; d++)
            for (int32_t h = 0; h < layout.size[1] && h < valid[i][1]; h++)
                for (int32_t w = 0; w < layout.size[2] && w < valid[i][2]; w++) {
                    const uint8_t label =
                        labels[i * layout.sample + d * layout.depth + h * layout.row + w * layout.block];
                    expected += label < CLASSES ? weight[label] : 0;
                }
    }
    const void *inputs[] = {labels};
    const UnetStep step = {.n = n, .inputs = inputs, .valid = valid};
    const UnetLabelCount count = {.input = 0, .layout = layout, .classes = CLASSES, .weight = weight};
    unet_count_labels(&count, 1, &step, &found);
    CHECK(found == expected, "batch %u: counted %g, not %g", seed, found, expected);
    free(labels);
}

int main(void) {
    for (uint32_t seed = 0; seed < 500; seed++)
        count_a_batch(seed);
    return check_result();
}
