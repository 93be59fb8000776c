/* border_weight_test.c - the weight map of U-Net 2015: beside one made cell by cell, and of windows that
 * are turned, padded and cut, from the classes that lie there. */
#include "border_weight.h"
#include "check.h"
#include "fake_data.h"
#include "unet/layout.h"

#include <math.h>

enum { SIDE = 21, MOST = 40 };
static const BorderWeight by = {10, 2.5};
static char folder[64];

/* ---- beside one made cell by cell ---- */

static void flood(const uint8_t *classes, int32_t *cell, int32_t height, int32_t width, int32_t y,
                  int32_t x, int32_t number) {
    static const int32_t step[4][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}};
    cell[y * width + x] = number;
    for (int k = 0; k < 4; k++) {
        const int32_t v = y + step[k][0], u = x + step[k][1];
        if (v >= 0 && v < height && u >= 0 && u < width && cell[v * width + u] == 0 &&
            classes[v * width + u] == classes[y * width + x]) {
            flood(classes, cell, height, width, v, u, number);
        }
    }
}

static int32_t number_cells(const uint8_t *classes, int32_t *cell, int32_t height, int32_t width) {
    int32_t count = 0;
    memset(cell, 0, sizeof *cell * (size_t)(height * width));
    for (int32_t i = 0; i < height * width; i++) {
        if (classes[i] > 0 && classes[i] != UNET_IGNORED && cell[i] == 0) {
            flood(classes, cell, height, width, i / width, i % width, ++count);
        }
    }
    return count;
}

/* The squared distance of point I to a cell, within 6 sigma of rows and columns; infinite if it is farther.
 */
static double distance(const int32_t *cell, int32_t height, int32_t width, int32_t i, int32_t number) {
    const int32_t far = (int32_t)ceil(6 * by.sigma);
    double least = INFINITY;
    for (int32_t k = 0; k < height * width; k++) {
        const int32_t dy = k / width - i / width, dx = k % width - i % width;
        if (cell[k] == number && abs(dy) <= far && abs(dx) <= far) {
            least = fmin(least, dy * dy + dx * dx);
        }
    }
    return least;
}

static double balanced(const uint8_t *classes, int32_t points, uint8_t of) {
    int32_t counted = 0, alike = 0, kinds = 0;
    bool seen[256] = {false};
    for (int32_t k = 0; k < points; k++) {
        if (classes[k] == UNET_IGNORED) {
            continue;
        }
        counted++;
        alike += classes[k] == of;
        kinds += !seen[classes[k]];
        seen[classes[k]] = true;
    }
    return of == UNET_IGNORED ? 0 : (double)counted / kinds / alike;
}

static double expected(const uint8_t *classes, const int32_t *cell, int32_t count, int32_t height,
                       int32_t width, int32_t i) {
    double near[2] = {INFINITY, INFINITY};
    for (int32_t number = 1; number <= count; number++) {
        const double d = sqrt(distance(cell, height, width, i, number));
        near[1] = fmin(near[1], fmax(near[0], d));
        near[0] = fmin(near[0], d);
    }
    const double both = near[0] + near[1];
    return balanced(classes, height * width, classes[i]) +
           (classes[i] == 0 ? by.w0 * exp(-both * both / (2 * by.sigma * by.sigma)) : 0);
}

static void compare(const uint8_t *classes, int32_t height, int32_t width, const char *what) {
    size_t bytes;
    CHECK(border_weight_bytes(height, width, &bytes), "%s: the size overflows", what);
    void *scratch = malloc(bytes);
    float weight[MOST * MOST];
    int32_t cell[MOST * MOST], count = number_cells(classes, cell, height, width);
    border_weight(&by, height, width, classes, scratch, weight);
    for (int32_t i = 0; i < height * width; i++) {
        const double wanted = expected(classes, cell, count, height, width, i);
        CHECK(fabs((double)weight[i] - wanted) <= 1e-6 * wanted, "%s: point %d has %g, not %g", what, i,
              (double)weight[i], wanted);
    }
    free(scratch);
}

static void test_random(int seed) {
    uint8_t classes[MOST * MOST];
    srand((unsigned)seed);
    const int32_t height = 1 + rand() % MOST, width = 1 + rand() % MOST, dense = 1 + rand() % 40;
    for (int32_t i = 0; i < height * width; i++) {
        const int drawn = rand() % 100;
        classes[i] = (uint8_t)(drawn < dense ? 1 + rand() % 2 : drawn == 99 ? UNET_IGNORED : 0);
    }
    compare(classes, height, width, "random");
}

static void test_simple(void) {
    uint8_t nothing[12] = {0}, ignored[12], one[12] = {0, 0, 1}, two[12] = {1, 0, 0, 0, 2};
    memset(ignored, UNET_IGNORED, sizeof ignored);
    compare(nothing, 3, 4, "no cell");
    compare(ignored, 3, 4, "nothing");
    compare(one, 3, 4, "one cell");
    compare(two, 1, 12, "two cells");
}

/* ---- of samples ---- */

/* Labels of four classes fill input 1, and their weights input 0. */
static void fake_weights(Fake *fake) {
    static const int32_t values[] = {0, -1, 1, -1, 2, -1, 3, -1};
    fake_pairs(fake, 2, 1, SIDE, UNET_F32);
    fake->inputs[0] = (UnetInput){.name = "weight", .channels = 1, .is_target = true};
    fake->inputs[1] = (UnetInput){
        .name = "truth", .kind = UNET_LABELS, .is_target = true, .channels = 1, .classes = 4, .ignore = -1};
    fake->train_layout[1].type = UNET_U8;
    fake->train_layout[1].sample_bytes /= (int64_t)sizeof(float);
    fake->term[0][0].pattern = "truth/*.png";
    fake->source[0].name = "truth";
    fake->source[0].values = values;
    fake->source[0].ignores_others = true;
    fake->term[1][0] =
        (UnetSourceTerm){.op = UNET_SRC_BORDER, .pattern = "truth", .value = by.w0, .high = by.sigma};
    fake->source[1].name = "weight";
}

static void draw_masks(void) {
    char path[300];
    const UnetImageInfo info = {.width = 30, .height = 26, .channels = 1, .bits = 8};
    UnetImageWriter *writer;
    UnetError error;
    snprintf(path, sizeof path, "%s/truth", folder);
    mkdir(path, 0777);
    strcat(path, "/p.png");
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    for (int32_t y = 0; y < info.height; y++) {
        float row[30];
        for (int32_t x = 0; x < info.width; x++) {
            const int cell = y % 7 < 4 && x % 6 < 4;
            row[x] = (float)(cell ? 1 + (x / 6 + y / 7) % 3 : (x * y) % 41 == 40 ? 9 : 0) / 255.0f;
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
}

static void test_samples(UnetTransform transform, bool crops) {
    Fake fake;
    UnetDataset *dataset;
    UnetError error;
    int32_t valid[3];
    fake_weights(&fake);
    if (crops) {
        fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = UNET_PAD_VALUE});
    }
    fake_add(&fake, transform);
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    void *scratch = aligned_alloc(64, (unet_dataset_scratch_bytes(dataset) + 63) / 64 * 64);
    const UnetLayout *layout = fake.train_layout;
    void *inputs[] = {calloc(2, (size_t)layout[0].sample_bytes), calloc(2, (size_t)layout[1].sample_bytes)};
    for (uint32_t epoch = 0; epoch < 3; epoch++) {
        uint8_t classes[SIDE * SIDE];
        float row[SIDE], wanted[SIDE * SIDE];
        size_t bytes;
        CHECK_OK(unet_dataset_read(dataset, 0, 5, epoch, scratch, NULL, inputs, 1, 1, valid, &error),
                 error);
        for (int32_t i = 0; i < SIDE * SIDE; i++) {
            unet_layout_load_row(&layout[1], inputs[1], 1, 0, i / SIDE, row);
            classes[i] = (uint8_t)row[i % SIDE];
        }
        CHECK(border_weight_bytes(SIDE, SIDE, &bytes), "the size overflows");
        void *work = malloc(bytes);
        border_weight(&by, SIDE, SIDE, classes, work, wanted);
        free(work);
        for (int32_t y = 0; y < SIDE; y++) {
            unet_layout_load_row(&layout[0], inputs[0], 1, 0, y, row);
            CHECK(memcmp(row, wanted + y * SIDE, sizeof row) == 0, "row %d of epoch %u", y, epoch);
        }
    }
    free(inputs[0]), free(inputs[1]), free(scratch);
    unet_dataset_close(dataset);
}

int main(void) {
    test_simple();
    for (int seed = 0; seed < 40; seed++) {
        test_random(seed);
    }
    make_folder(folder);
    draw_masks();
    test_samples((UnetTransform){.op = UNET_DO_FLIP, .axes = 6, .p = 0.5}, true);
    test_samples((UnetTransform){.op = UNET_DO_ROTATE, .amount = {40}, .p = 1}, true);
    test_samples((UnetTransform){.op = UNET_DO_ROT90, .p = 1}, true);
    remove_folder(folder);
    return check_result();
}
