/* normal_test.c - normalisation of inputs: the measured numbers, that windows, padding and evaluation are
 * normalised by it and targets are not, and that its text can be read back. */
#include "check.h"
#include "fake_data.h"
#include "unet/normal.h"

#include <math.h>

static char folder[64];

enum { SIDE = 8 };

static double element(const UnetLayout *layout, const void *base, int32_t c, int32_t y, int32_t x) {
    return (double)((const float *)base)[layout->origin + y * layout->row + x * layout->block + c];
}

/* Both inputs of a sample; the caller frees them. */
static void read_sample(const UnetDataset *dataset, int32_t sample, void *inputs[FAKE_INPUTS]) {
    const UnetProgram *program = unet_dataset_program(dataset);
    void *scratch = aligned_alloc(64, (unet_dataset_scratch_bytes(dataset) + 63) / 64 * 64);
    int32_t valid[3];
    UnetError error;
    for (int i = 0; i < FAKE_INPUTS; i++) {
        inputs[i] = calloc(1, (size_t)program->inputs[i].sample_bytes);
    }
    CHECK_OK(unet_dataset_read(dataset, sample, 5, 0, scratch, NULL, inputs, 0, 1, valid, &error), error);
    free(scratch);
}

/* Two pictures of different sizes. */
static void make(Fake *fake, int32_t channels) {
    static const int32_t size[2][2] = {{9, 12}, {10, 8}};
    fake_pairs(fake, 2, channels, SIDE, UNET_F32);
    fake_add(fake, (UnetTransform){.op = UNET_DO_CROP, .random = true});
    for (int i = 0; i < 2; i++) {
        fake_picture(folder, "clean", i == 0 ? "a" : "b", i, channels, size[i][0], size[i][1]);
        fake_picture(folder, "noisy", i == 0 ? "a" : "b", 5 + i, channels, size[i][0], size[i][1]);
    }
    fake->inputs[0].normalizing = UNET_NORMALIZED_AS_MEASURED;
}

/* Mean and deviation of channel C of both pictures, scaled by FACTOR. */
static void expect(int32_t c, double factor, double *mean, double *deviation) {
    double sum = 0, squares = 0;
    int count = 0;
    for (int i = 0; i < 2; i++) {
        for (int32_t y = 0; y < (i == 0 ? 9 : 10); y++) {
            for (int32_t x = 0; x < (i == 0 ? 12 : 8); x++) {
                double value = factor * fake_number(5 + i, c, y, x) / 255.0;
                sum += value;
                squares += value * value;
                count++;
            }
        }
    }
    *mean = sum / count;
    *deviation = sqrt(squares / count - *mean * *mean);
}

static void test_measure(double factor, bool warped) {
    static const UnetSourceTerm scaled[] = {{.op = UNET_SRC_FILES, .pattern = "noisy/*.png"},
                                            {.op = UNET_SRC_NUMBER, .value = 3},
                                            {.op = UNET_SRC_MUL}};
    Fake fake;
    UnetNormal normal[FAKE_INPUTS] = {{.clips = false}};
    UnetError error;
    UnetDataset *dataset;
    make(&fake, 3);
    if (factor > 1) {
        fake.source[1].term = scaled;
        fake.source[1].nterm = 3;
    }
    if (warped) {
        fake_add(&fake, (UnetTransform){.op = UNET_DO_GAMMA, .p = 1, .amount = {2, 2}});
    }
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    CHECK_OK(unet_dataset_measure(dataset, normal, &error), error);
    for (int32_t c = 0; c < 3; c++) {
        double mean, deviation;
        expect(c, factor, &mean, &deviation);
        CHECK(fabs(normal[0].mean[c] - mean) < 1e-6 && fabs(normal[0].deviation[c] - deviation) < 1e-6,
              "channel %d: %g and %g, should be %g and %g", c, normal[0].mean[c], normal[0].deviation[c],
              mean, deviation);
        CHECK(normal[1].mean[c] == 0, "a target is measured");
    }
    unet_dataset_close(dataset);
}

/* Windows of the same epoch with and without. */
static void test_reading(UnetPurpose purpose, bool warped) {
    Fake fake;
    UnetNormal normal[FAKE_INPUTS] = {{.mean = {0.25, 0.5, 0.75}, .deviation = {0.1, 2, 0.5}}};
    UnetError error;
    UnetDataset *dataset;
    void *plain[FAKE_INPUTS], *changed[FAKE_INPUTS];
    make(&fake, 3);
    fake.eval_data = fake.data;
    fake.model.eval_data = &fake.eval_data;
    fake.transform[0].pad = UNET_PAD_VALUE;
    fake.transform[0].pad_value = 0.5;
    fake_program(&fake.train, "train", fake.train_layout, 2, 3, 14, 14,
                 UNET_F32); /* larger than the files */
    fake_program(&fake.eval, "eval", fake.eval_layout, 1, 3, 14, 14, UNET_F32);
    if (warped) {
        fake_add(&fake, (UnetTransform){.op = UNET_DO_ROTATE, .p = 1, .amount = {40}});
    }
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, purpose, unet_in_folder(folder), &error), error);
    read_sample(dataset, 1, plain);
    unet_dataset_normalize(dataset, normal);
    read_sample(dataset, 1, changed);
    const UnetLayout *layout = unet_dataset_program(dataset)->inputs;
    for (int32_t i = 0; i < 3 * 14 * 14; i++) {
        const int32_t c = i / (14 * 14), y = i / 14 % 14, x = i % 14;
        const double was = element(layout, plain[0], c, y, x), is = element(layout, changed[0], c, y, x);
        CHECK(fabs(is - (was - normal[0].mean[c]) / normal[0].deviation[c]) < 1e-5, "%g became %g", was,
              is);
    }
    CHECK(memcmp(plain[1], changed[1], (size_t)layout[1].sample_bytes) == 0, "a target is normalised");
    for (int i = 0; i < FAKE_INPUTS; i++) {
        free(plain[i]);
        free(changed[i]);
    }
    unet_dataset_close(dataset);
}

static void test_text(void) {
    static const UnetNormal normal = {.mean = {0.485, -1e-300, 1.0 / 3},
                                      .deviation = {0.229, 1e300, 1.0 / 7}};
    UnetNormal read = {.clips = false};
    char text[UNET_NORMAL_BYTES];
    unet_normal_format(&normal, 3, text);
    CHECK(unet_normal_parse(&read, 3, false, text) && memcmp(&read, &normal, sizeof read) == 0, "%s", text);
    CHECK(!unet_normal_parse(&read, 2, false, text), "more numbers than channels");
    CHECK(!unet_normal_parse(&read, 2, false, "1 2 3"), "fewer numbers than channels");
    CHECK(!unet_normal_parse(&read, 1, false, "1 0") && !unet_normal_parse(&read, 1, false, "nan 1"),
          "no deviation");
    static const UnetNormal clipped = {
        .mean = {1, 2}, .deviation = {3, 4}, .clips = true, .low = {-1024, 0.1}, .high = {300, 1.0 / 3}};
    unet_normal_format(&clipped, 2, text);
    read = (UnetNormal){.clips = false};
    CHECK(unet_normal_parse(&read, 2, true, text) && memcmp(&read, &clipped, sizeof read) == 0, "%s", text);
    CHECK(!unet_normal_parse(&read, 2, false, text), "limits that nobody asked for");
    CHECK(!unet_normal_parse(&read, 1, true, "1 1 5 4"), "limits in reverse");
}

int main(void) {
    make_folder(folder);
    test_measure(1, false);
    test_measure(3, false);
    test_measure(1, true);
    for (int warped = 0; warped < 2; warped++) {
        test_reading(UNET_TRAINING, warped == 1);
        test_reading(UNET_EVALUATION, warped == 1);
    }
    test_text();
    remove_folder(folder);
    return check_result();
}
