/* dataset_test.c - data sets: which files belong together, the errors when they do not; what a sample
 * shows of its files (windows, padding, flips, noise), in float and double layouts. */
#include "check.h"
#include "fake_data.h"
#include "make_png.h"
#include "unet/layout.h"
#include "unet/rng.h"

#include <math.h>
#include <unistd.h>

static char folder[64];

/* One sample read into buffers of its own. */
typedef struct {
    UnetStatus status;
    UnetError error;
    char *input[FAKE_INPUTS];
    int32_t valid[3];
    const UnetProgram *program;
} Read;

static UnetDataset *open_or_stop(const Fake *fake, UnetPurpose purpose) {
    UnetDataset *dataset;
    UnetError error;
    if (unet_dataset_open(&dataset, &fake->model, purpose, unet_in_folder(folder), &error) != UNET_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return dataset;
}

/* Reads as number 1 of a batch of 2, to see that it goes to its own place. */
static Read read_sample(const UnetDataset *dataset, int32_t sample, uint64_t seed, uint32_t epoch) {
    Read read = {.program = unet_dataset_program(dataset)};
    void *inputs[FAKE_INPUTS];
    for (int i = 0; i < FAKE_INPUTS; i++) {
        inputs[i] = read.input[i] = calloc(2, (size_t)read.program->inputs[i].sample_bytes);
    }
    void *scratch = aligned_alloc(64, unet_dataset_scratch_bytes(dataset));
    read.status = unet_dataset_read(dataset, sample, seed, epoch, scratch, NULL, inputs, 1, 1, read.valid,
                                    &read.error);
    free(scratch);
    return read;
}

static void forget(Read *read) {
    for (int i = 0; i < FAKE_INPUTS; i++) {
        free(read->input[i]);
    }
}

/* Element (c, y, x) of an input, from its definition. */
static double element(const Read *read, int input, int32_t c, int32_t y, int32_t x) {
    const UnetLayout *layout = &read->program->inputs[input];
    int64_t at = layout->origin + layout->sample + c / layout->block * layout->plane + y * layout->row +
                 x * layout->block + c % layout->block;
    const void *base = read->input[input];
    return layout->type == UNET_F64  ? ((const double *)base)[at]
           : layout->type == UNET_U8 ? ((const uint8_t *)base)[at]
                                     : (double)((const float *)base)[at];
}

/* Everything that is no point of sample 1 is still zero. */
static bool is_clean_around(const Read *read, int input) {
    const UnetLayout *layout = &read->program->inputs[input];
    double sum = 0, inside = 0;
    int64_t all = 2 * layout->sample;
    for (int64_t i = 0; i < all; i++) {
        sum += layout->type == UNET_F64 ? fabs(((double *)(void *)read->input[input])[i])
                                        : fabs((double)((float *)(void *)read->input[input])[i]);
    }
    for (int32_t c = 0; c < layout->channels; c++) {
        for (int32_t y = 0; y < layout->size[1]; y++) {
            for (int32_t x = 0; x < layout->size[2]; x++) {
                inside += fabs(element(read, input, c, y, x));
            }
        }
    }
    return fabs(sum - inside) < 1e-6;
}

/* Whether the sample shows the picture at (TOP, LEFT), mirrored or not; padded as PAD says. */
static bool shows(const Read *read, int input, int picture, const int32_t file[2], int32_t top,
                  int32_t left, bool mirror_y, bool mirror_x, UnetPad pad, double fill) {
    const UnetLayout *layout = &read->program->inputs[input];
    int32_t height = layout->size[1], width = layout->size[2];
    for (int32_t c = 0; c < layout->channels; c++) {
        for (int32_t y = 0; y < height; y++) {
            for (int32_t x = 0; x < width; x++) {
                int32_t fy = unet_pad_index(pad, top + (mirror_y ? height - 1 - y : y), file[0]);
                int32_t fx = unet_pad_index(pad, left + (mirror_x ? width - 1 - x : x), file[1]);
                double expected = fy < 0 || fx < 0 ? fill : (double)fake_number(picture, c, fy, fx) / 255.0;
                if (fabs(element(read, input, c, y, x) - expected) > 1e-6) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* ---- matching --------------------------------------------------------------------------------- */

static void check_open_fails(const Fake *fake, UnetPurpose purpose, const char *says) {
    UnetDataset *dataset;
    UnetError error;
    CHECK_FAILS(unet_dataset_open(&dataset, &fake->model, purpose, unet_in_folder(folder), &error), error,
                says);
    CHECK(dataset == NULL, "a data set although %s", error.text);
}

static void make_pairs(int count, int32_t channels, int32_t height, int32_t width) {
    for (int i = 0; i < count; i++) {
        char name[20];
        snprintf(name, sizeof name, "p%02d", (i * 7) % count); /* not in the order of the names */
        fake_picture(folder, "clean", name, (i * 7) % count, channels, height, width);
        fake_picture(folder, "noisy", name, 100 + (i * 7) % count, channels, height, width);
    }
}

static void remove_file(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(unlink(path) == 0, "%s cannot be removed", path);
}

static void test_matching(void) {
    static const int32_t file[2] = {12, 12};
    Fake fake;
    fake_pairs(&fake, 2, 3, 12, UNET_F32);
    check_open_fails(&fake, UNET_TRAINING, "cannot read the folder of \"clean/*.png\": No such file");
    make_pairs(9, 3, 12, 12);
    fake_picture(folder, "clean", ".hidden", 0, 1, 3, 3);
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    CHECK(unet_dataset_samples(dataset) == 9, "%d samples", unet_dataset_samples(dataset));
    for (int32_t i = 0; i < unet_dataset_samples(dataset); i++) {
        Read read = read_sample(dataset, i, 0, 0);
        CHECK_OK(read.status, read.error);
        char stem[20];
        snprintf(stem, sizeof stem, "p%02d", i);
        CHECK(strcmp(unet_dataset_stem(dataset, i), stem) == 0, "sample %d is %s", i,
              unet_dataset_stem(dataset, i));
        CHECK(shows(&read, 1, i, file, 0, 0, false, false, UNET_PAD_NONE, 0), "clean of sample %d", i);
        CHECK(shows(&read, 0, 100 + i, file, 0, 0, false, false, UNET_PAD_NONE, 0), "noisy of sample %d",
              i);
        CHECK(is_clean_around(&read, 0) && is_clean_around(&read, 1), "something beside the points");
        CHECK(read.valid[0] == 1 && read.valid[1] == 12 && read.valid[2] == 12, "the valid part");
        forget(&read);
    }
    unet_dataset_close(dataset);

    remove_file("noisy/p04.png");
    check_open_fails(&fake, UNET_TRAINING, "clean/p04.png has no partner: \"noisy/*.png\" asks for");
    remove_file("clean/p04.png");
    remove_file("clean/p08.png");
    check_open_fails(&fake, UNET_TRAINING, "noisy/p08.png has no partner: \"clean/*.png\" asks for");
    fake_picture(folder, "clean", "p08", 8, 3, 12, 13);
    check_open_fails(&fake, UNET_TRAINING,
                     "clean/p08.png is 12 x 13, and without `crop` it must be 12 x 12");
    fake_picture(folder, "clean", "p08", 8, 3, 12, 12);
    fake_picture(folder, "noisy", "p08", 8, 3, 14, 12);
    check_open_fails(&fake, UNET_TRAINING, "p08.png is 14 x 12, and its partner");
    remove_file("noisy/p08.png");
    remove_file("clean/p08.png");
    fake.term[0][0].pattern = "clean/*.tif";
    check_open_fails(&fake, UNET_TRAINING,
                     "no file matches \"clean/*.tif\"; a file that is there is called \"");
    fake.term[0][0].pattern = "*/p*.png";
    check_open_fails(&fake, UNET_TRAINING, "cannot be paired: 2 and 1 stars");
}

/* Files of a training set are kept once they have been decoded, files of evaluation are decoded each time.
 */
static void test_kept_files(void) {
    Fake fake;
    fake_pairs(&fake, 2, 3, 12, UNET_F32);
    fake.eval_data = fake.data;
    fake.model.eval_data = &fake.eval_data;
    UnetDataset *training = open_or_stop(&fake, UNET_TRAINING);
    UnetDataset *evaluation = open_or_stop(&fake, UNET_EVALUATION);
    CHECK(unet_dataset_cache_bytes(training) == 7 * 2 * 12 * 12 * 3, "%zu bytes are kept",
          unet_dataset_cache_bytes(training));
    CHECK(unet_dataset_cache_bytes(evaluation) == 0, "files of evaluation are kept");
    for (int32_t i = 0; i < unet_dataset_samples(training); i++) {
        Read decoded = read_sample(training, i, 0, 0), kept = read_sample(training, i, 0, 1);
        Read again = read_sample(evaluation, i, 0, 0);
        CHECK_OK(decoded.status, decoded.error);
        for (int input = 0; input < FAKE_INPUTS; input++) {
            size_t bytes = (size_t)(2 * fake.train_layout[input].sample_bytes);
            CHECK(memcmp(decoded.input[input], kept.input[input], bytes) == 0, "sample %d from memory", i);
            CHECK(memcmp(decoded.input[input], again.input[input], bytes) == 0, "sample %d from its file",
                  i);
        }
        forget(&decoded);
        forget(&kept);
        forget(&again);
    }
    unet_dataset_close(training);
    unet_dataset_close(evaluation);
}

static void test_two_stars(void) {
    Fake fake;
    fake_pairs(&fake, 2, 1, 8, UNET_F32);
    fake.term[0][0].pattern = "scenes/*/gt_*.png";
    fake.term[1][0].pattern = "scenes/*/in_*.png";
    char path[100];
    snprintf(path, sizeof path, "%s/scenes", folder);
    mkdir(path, 0777);
    write_bytes(strcat(path, "/notes.txt"), "no folder", 9);
    static const char *const scenes[] = {"scenes/b", "scenes/a", "scenes/a"};
    static const char *const names[] = {"gt_1", "gt_1", "gt_2"};
    for (int i = 0; i < 3; i++) {
        fake_picture(folder, scenes[i], names[i], i, 1, 8, 8);
        fake_picture(folder, scenes[i], i == 2 ? "in_2" : "in_1", 50 + i, 1, 8, 8);
    }
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    static const char *const stems[] = {"a/1", "a/2", "b/1"};
    CHECK(unet_dataset_samples(dataset) == 3, "%d samples of two stars", unet_dataset_samples(dataset));
    for (int i = 0; i < unet_dataset_samples(dataset); i++) {
        CHECK(strcmp(unet_dataset_stem(dataset, i), stems[i]) == 0, "%s", unet_dataset_stem(dataset, i));
    }
    unet_dataset_close(dataset);
}

static void test_holdout(void) {
    Fake fake;
    fake_pairs(&fake, 2, 3, 12, UNET_F32);
    fake.data.holdout = 0.3;
    fake.data.holdout_seed = 4;
    UnetDataset *training = open_or_stop(&fake, UNET_TRAINING);
    UnetDataset *evaluation = open_or_stop(&fake, UNET_EVALUATION);
    int32_t kept = unet_dataset_samples(training), held = unet_dataset_samples(evaluation);
    CHECK(kept == 5 && held == 2, "%d and %d of 7", kept, held);
    int32_t order[7];
    char stems[7][20];
    unet_split_order(4, 7, order);
    fake.data.holdout = 0;
    UnetDataset *all = open_or_stop(&fake, UNET_TRAINING);
    for (int i = 0; i < 7; i++) {
        strcpy(stems[i], unet_dataset_stem(all, order[i]));
        const char *got =
            i < kept ? unet_dataset_stem(training, i) : unet_dataset_stem(evaluation, i - kept);
        CHECK(strcmp(stems[i], got) == 0, "place %d of the split is %s, should be %s", i, got, stems[i]);
    }
    unet_dataset_close(all);
    unet_dataset_close(training);
    unet_dataset_close(evaluation);
    CHECK(!unet_dataset_exists(&fake.model, UNET_EVALUATION), "evaluation without a holdout");
    fake.data.holdout = 0.1;
    check_open_fails(&fake, UNET_EVALUATION, "holdout 0.1 of 7 samples leaves none for evaluation");
}

/* Each sample is held out by one fold, the others are trained on, and both come sorted. */
static void test_folds(void) {
    Fake fake;
    int32_t held[7] = {0}, order[7];
    fake_pairs(&fake, 2, 3, 12, UNET_F32);
    UnetDataset *all = open_or_stop(&fake, UNET_TRAINING);
    fake.data.folds = 3;
    fake.data.fold_seed = 12345;
    unet_numpy_permutation(12345, 7, order);
    for (int32_t fold = 0; fold < 4; fold++) { /* the last is no fold, but two of seven that are drawn */
        const UnetDataPlace place = {.folder = folder, .fold = fold};
        UnetDataset *part[2];
        UnetError error;
        CHECK_OK(unet_dataset_open(&part[0], &fake.model, UNET_TRAINING, place, &error), error);
        CHECK_OK(unet_dataset_open(&part[1], &fake.model, UNET_EVALUATION, place, &error), error);
        const int32_t count = unet_dataset_samples(part[1]), wanted = fold == 0 ? 3 : 2;
        CHECK(count == wanted && unet_dataset_samples(part[0]) == 7 - count, "fold %d holds out %d", fold,
              count);
        for (int p = 0; p < 2; p++) {
            for (int32_t i = 1; i < unet_dataset_samples(part[p]); i++) {
                CHECK(strcmp(unet_dataset_stem(part[p], i - 1), unet_dataset_stem(part[p], i)) < 0,
                      "fold %d is not sorted", fold);
            }
        }
        for (int32_t i = 0; i < count; i++) {
            int32_t sample = 0;
            while (strcmp(unet_dataset_stem(all, sample), unet_dataset_stem(part[1], i)) != 0) {
                sample++;
            }
            held[sample] += fold < 3;
            bool is_drawn = fold == 3;
            for (int32_t k = 0; k < wanted; k++) {
                is_drawn |= fold < 3 && order[(fold == 0 ? 0 : 1 + 2 * fold) + k] == sample;
            }
            CHECK(is_drawn, "fold %d holds out sample %d", fold, sample);
        }
        unet_dataset_close(part[0]);
        unet_dataset_close(part[1]);
    }
    for (int i = 0; i < 7; i++) {
        CHECK(held[i] == 1, "sample %d is held out %d times", i, held[i]);
    }
    fake.data.folds = 9;
    UnetDataset *none;
    UnetError error;
    CHECK_FAILS(unet_dataset_open(&none, &fake.model, UNET_EVALUATION,
                                  (UnetDataPlace){.folder = folder, .fold = 8}, &error),
                error, "9 folds of 7 samples leave none for evaluation");
    unet_dataset_close(all);
}

/* ---- windows ---------------------------------------------------------------------------------- */

/* Finds where the window is, inside a larger file or around a smaller one; both inputs must show the same.
 */
static bool find_window(const Read *read, const int32_t file[2], UnetPad pad, bool flips, int32_t start[2],
                        bool flip[2]) {
    int32_t room[2] = {file[0] - read->program->size[1], file[1] - read->program->size[2]};
    for (int32_t top = room[0] < 0 ? room[0] : 0; top <= (room[0] < 0 ? 0 : room[0]); top++) {
        for (int32_t left = room[1] < 0 ? room[1] : 0; left <= (room[1] < 0 ? 0 : room[1]); left++) {
            for (int f = 0; f < (flips ? 4 : 1); f++) {
                if (shows(read, 0, 100, file, top, left, (f & 1) != 0, (f & 2) != 0, pad, 0.25)) {
                    start[0] = top;
                    start[1] = left;
                    flip[0] = (f & 1) != 0;
                    flip[1] = (f & 2) != 0;
                    return shows(read, 1, 0, file, top, left, flip[0], flip[1], pad, 0.25);
                }
            }
        }
    }
    return false;
}

/* Windows stay inside (or around a small file), reach both ends, differ, and depend on seed and epoch only.
 */
static void test_crop(const int32_t file[2], UnetPad pad, bool flips) {
    Fake fake;
    fake_pairs(&fake, 2, 1, 8, UNET_F64);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = pad, .pad_value = 0.25});
    if (flips) {
        fake_add(&fake, (UnetTransform){.op = UNET_DO_FLIP, .axes = 7, .p = 0.5});
    }
    fake.term[0][0].pattern = "one/clean_*.png";
    fake.term[1][0].pattern = "one/noisy_*.png";
    fake_picture(folder, "one", "clean_x", 0, 1, file[0], file[1]);
    fake_picture(folder, "one", "noisy_x", 100, 1, file[0], file[1]);
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    int32_t lowest[2] = {99, 99}, highest[2] = {-99, -99};
    int flipped[2] = {0, 0};
    enum { EPOCHS = 60 };
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        Read read = read_sample(dataset, 0, 17, epoch);
        Read again = read_sample(dataset, 0, 17, epoch);
        CHECK_OK(read.status, read.error);
        size_t bytes = (size_t)(2 * fake.train_layout[0].sample_bytes);
        CHECK(memcmp(read.input[0], again.input[0], bytes) == 0, "the same sample twice");
        int32_t start[2] = {0, 0};
        bool flip[2] = {false, false};
        CHECK(find_window(&read, file, pad == UNET_PAD_NONE ? UNET_PAD_REFLECT : pad, flips, start, flip),
              "%d x %d, epoch %u: no window", file[0], file[1], epoch);
        for (int axis = 0; axis < 2; axis++) {
            lowest[axis] = start[axis] < lowest[axis] ? start[axis] : lowest[axis];
            highest[axis] = start[axis] > highest[axis] ? start[axis] : highest[axis];
            flipped[axis] += flip[axis];
        }
        forget(&read);
        forget(&again);
    }
    for (int axis = 0; axis < 2; axis++) {
        int32_t room = file[axis] - 8;
        CHECK(lowest[axis] == (room < 0 ? room : 0) && highest[axis] == (room < 0 ? 0 : room),
              "%d x %d: windows start from %d to %d", file[0], file[1], lowest[axis], highest[axis]);
        CHECK(flips ? flipped[axis] > EPOCHS / 4 && flipped[axis] < EPOCHS * 3 / 4 : flipped[axis] == 0,
              "flipped %d times of %d", flipped[axis], EPOCHS);
    }
    unet_dataset_close(dataset);
}

static void test_colour(void) {
    Fake fake;
    fake_pairs(&fake, 2, 3, 8, UNET_F32);
    fake.term[0][0].pattern = "one/clean_*.png";
    fake.data.nsource = 1;
    fake_picture(folder, "one", "clean_x", 0, 3, 8, 8);
    fake.source[0].channels = fake.train_layout[1].channels = 1;
    check_open_fails(&fake, UNET_TRAINING, "clean_x.png: is in colour, and the model reads one channel");
}

/* Evaluation shows the centre, pads behind, tells the valid part, and never changes. */
static void test_evaluation(const int32_t file[2], int32_t top, int32_t left) {
    Fake fake;
    fake_pairs(&fake, 2, 1, 8, UNET_F32);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true});
    fake_add(&fake, (UnetTransform){.op = UNET_DO_FLIP, .axes = 6, .p = 1});
    fake.eval_data = fake.data;
    fake.eval_data.ntransform = 0;
    fake.model.eval_data = &fake.eval_data;
    fake_noise(&fake, 0.1);
    fake.term[0][0].pattern = "one/clean_*.png";
    fake_picture(folder, "one", "clean_x", 0, 1, file[0], file[1]);
    UnetDataset *dataset = open_or_stop(&fake, UNET_EVALUATION);
    Read read = read_sample(dataset, 0, 1, 2), other = read_sample(dataset, 0, 3, 4);
    CHECK_OK(read.status, read.error);
    CHECK(shows(&read, 1, 0, file, top, left, false, false, UNET_PAD_REFLECT, 0), "%d x %d: not its centre",
          file[0], file[1]);
    CHECK(read.valid[1] == (file[0] < 8 ? file[0] : 8) && read.valid[2] == (file[1] < 8 ? file[1] : 8),
          "%d x %d: valid is %d x %d", file[0], file[1], read.valid[1], read.valid[2]);
    CHECK(memcmp(read.input[0], other.input[0], (size_t)(2 * fake.eval_layout[0].sample_bytes)) == 0,
          "noise of evaluation depends on the seed");
    forget(&read);
    forget(&other);
    unet_dataset_close(dataset);
}

/* ---- noise ------------------------------------------------------------------------------------ */

static void test_noise(void) {
    enum { SIZE = 64 };
    Fake fake;
    fake_pairs(&fake, 2, 3, SIZE, UNET_F32);
    fake_noise(&fake, 0.1);
    fake.term[0][0].pattern = "flat/*.png";
    fake_picture(folder, "flat", "a", 3, 3, SIZE, SIZE);
    fake_picture(folder, "flat", "b", 3, 3, SIZE, SIZE);
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    Read reads[4] = {read_sample(dataset, 0, 1, 0), read_sample(dataset, 1, 1, 0),
                     read_sample(dataset, 0, 1, 1), read_sample(dataset, 0, 2, 0)};
    double mean[4] = {0}, square[4] = {0}, product[4] = {0};
    int32_t count = 3 * SIZE * SIZE;
    for (int r = 0; r < 4; r++) {
        CHECK_OK(reads[r].status, reads[r].error);
        for (int32_t i = 0; i < count; i++) {
            int32_t c = i / (SIZE * SIZE), y = i / SIZE % SIZE, x = i % SIZE;
            double noise = element(&reads[r], 0, c, y, x) - element(&reads[r], 1, c, y, x);
            double first = element(&reads[0], 0, c, y, x) - element(&reads[0], 1, c, y, x);
            mean[r] += noise / count;
            square[r] += noise * noise / count;
            product[r] += noise * first / count;
        }
        CHECK(fabs(mean[r]) < 0.003 && fabs(square[r] - 0.01) < 0.0005, "noise %d: %g %g", r, mean[r],
              square[r]);
        CHECK(r == 0 || fabs(product[r]) < 0.0004, "noise %d is like noise 0: %g", r, product[r]);
    }
    for (int r = 0; r < 4; r++) {
        forget(&reads[r]);
    }
    unet_dataset_close(dataset);
}

/* ---- files of different sizes ------------------------------------------------------------------- */

/* `clean` is TIMES as large as `noisy`, of 8 x 8 points; both show a slope of 7 a row and 3 a column, so
 * that a point tells its place. */
static void make_slopes(Fake *fake, int32_t times, const int32_t file[2], UnetPad pad) {
    fake_pairs(fake, 2, 1, 8, UNET_F32);
    fake_add(fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = pad, .pad_value = 0.5});
    fake_add(fake, (UnetTransform){.op = UNET_DO_FLIP, .axes = 6, .p = 0.5});
    fake->term[0][0].pattern = "one/clean_*.png";
    fake->term[1][0].pattern = "one/noisy_*.png";
    fake->train_layout[1] = fake->eval_layout[1] = fake_layout(1, 8 * times, 8 * times, UNET_F32);
    fake->train.measured[1] = fake->train.measured[2] = 8 * times;
    fake->eval.measured[1] = fake->eval.measured[2] = 8 * times;
    fake_picture(folder, "one", "clean_x", 0, 1, file[0] * times, file[1] * times);
    fake_picture(folder, "one", "noisy_x", 0, 1, file[0], file[1]);
}

/* Whether the points of `clean` around (Y, X) of `noisy` belong to its point, in the order of their
 * neighbours. */
static bool corresponds(const Read *read, int32_t times, int32_t y, int32_t x, bool constant) {
    double coarse = element(read, 0, 0, y, x), sum = 0, slope = (7 + 3) * (times - 1) / 2.0 / 255;
    for (int32_t a = 0; a < times; a++) {
        for (int32_t b = 0; b < times; b++) {
            double fine = element(read, 1, 0, y * times + a, x * times + b);
            bool at_end = y * times + a + 1 == 8 * times;
            double below = at_end ? fine : element(read, 1, 0, y * times + a + 1, x * times + b);
            sum += fine;
            if (!constant && fabs(below - fine) > 7.0 * times / 255 + 1e-6) {
                return false;
            }
        }
    }
    double mean = sum / (times * times);
    bool filled = constant && fabs(coarse - 0.5) < 1e-6 && fabs(mean - 0.5) < 1e-6;
    return filled || fabs(mean - times * coarse - slope) < 1e-6;
}

/* A crop, a flip and a padding show the same part of the picture in both files. */
static void test_times(int32_t times, const int32_t file[2], UnetPad pad) {
    Fake fake;
    make_slopes(&fake, times, file, pad);
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    for (uint32_t epoch = 0; epoch < 30; epoch++) {
        Read read = read_sample(dataset, 0, 3, epoch);
        CHECK_OK(read.status, read.error);
        bool good = is_clean_around(&read, 1);
        for (int32_t i = 0; i < 64; i++) {
            good &= corresponds(&read, times, i / 8, i % 8, pad == UNET_PAD_VALUE);
        }
        CHECK(good, "%d times, %d x %d, epoch %u", times, file[0], file[1], epoch);
        CHECK(read.valid[1] == 8 * times && read.valid[2] == 8 * times, "valid in training");
        forget(&read);
    }
    unet_dataset_close(dataset);
}

/* The measured part of a file smaller than the window, if the target is larger, or is the window's centre.
 */
static void test_valid(void) {
    Fake fake;
    make_slopes(&fake, 3, (int32_t[2]){5, 7}, UNET_PAD_REFLECT);
    fake.eval_data = fake.data;
    fake.model.eval_data = &fake.eval_data;
    UnetDataset *dataset = open_or_stop(&fake, UNET_EVALUATION);
    Read read = read_sample(dataset, 0, 0, 0);
    CHECK(read.valid[1] == 15 && read.valid[2] == 21, "valid is %d x %d", read.valid[1], read.valid[2]);
    forget(&read);
    unet_dataset_close(dataset);
    fake_picture(folder, "one", "clean_x", 0, 1, 15, 20);
    check_open_fails(&fake, UNET_EVALUATION,
                     "clean_x.png is 15 x 20 (height x width), and must be a multiple of 3 x 3");

    make_slopes(&fake, 1, (int32_t[2]){5, 20}, UNET_PAD_REFLECT);
    fake.eval_data = fake.data;
    fake.model.eval_data = &fake.eval_data;
    fake.eval_layout[1] = fake_layout(1, 4, 4, UNET_F32); /* half as large, but its files are not */
    fake.eval.measured[1] = fake.eval.measured[2] = 4;
    dataset = open_or_stop(&fake, UNET_EVALUATION);
    read = read_sample(dataset, 0, 0, 0);
    CHECK(element(&read, 1, 0, 0, 0) == element(&read, 0, 0, 2, 2), "no centre of the window");
    CHECK(read.valid[1] == 3 && read.valid[2] == 4, "valid is %d x %d", read.valid[1], read.valid[2]);
    forget(&read);
    unet_dataset_close(dataset);
    fake.eval.measured[1] = fake.eval.measured[2] = 0; /* losses of several sizes */
    check_open_fails(&fake, UNET_EVALUATION, "too small for the losses and metrics of this model");
}

/* x = 2 * level - (level + 1) / 4, level = uniform(0.5, 0.75) of one channel. */
static void test_arithmetic(void) {
    Fake fake;
    fake_pairs(&fake, 2, 3, 12, UNET_F32);
    static const UnetSourceTerm level[] = {{.op = UNET_SRC_UNIFORM, .value = 0.5, .high = 0.75}};
    static const UnetSourceTerm formula[] = {
        {.op = UNET_SRC_NUMBER, .value = 2},
        {.op = UNET_SRC_NAME, .pattern = "level"},
        {.op = UNET_SRC_MUL},
        {.op = UNET_SRC_NAME, .pattern = "level"},
        {.op = UNET_SRC_NUMBER, .value = 1},
        {.op = UNET_SRC_ADD},
        {.op = UNET_SRC_NUMBER, .value = 4},
        {.op = UNET_SRC_DIV},
        {.op = UNET_SRC_SUB},
    };
    fake.source[1] = (UnetSource){"level", -1, 1, 1, level, NULL, false, false, false, 0};
    fake.source[2] = (UnetSource){"noisy", 0, 3, 9, formula, NULL, false, false, false, 0};
    fake.data.nsource = 3;
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    double seen[2];
    for (int sample = 0; sample < 2; sample++) {
        Read read = read_sample(dataset, sample, 5, 0);
        CHECK_OK(read.status, read.error);
        double first = element(&read, 0, 0, 0, 0);
        double x = (first + 0.25) / 1.75;
        CHECK(x >= 0.5 - 1e-6 && x <= 0.75 + 1e-6, "level %g", x);
        CHECK(element(&read, 0, 2, 11, 11) == first, "a level is one number per sample");
        seen[sample] = first;
        forget(&read);
    }
    CHECK(seen[0] != seen[1], "two samples have the same level");
    unet_dataset_close(dataset);
    fake.source[2].nterm = 8;
    UnetError error;
    CHECK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error) ==
              UNET_BUG,
          "a malformed formula");
}

/* The lines of check-data. */
static void hear(void *context, const char *problem) {
    char *heard = context;
    size_t used = strlen(heard);
    snprintf(heard + used, 4096 - used, "%s\n", problem);
}

static void hear_problem(void *context, const UnetError *problem) {
    hear(context, problem->text);
}

/* ---- labels ----------------------------------------------------------------------------------- */

/* `truth` is labels, read from truth/, whose files show the pictures of noisy/. */
static void fake_labels(Fake *fake, int32_t size) {
    fake_pairs(fake, 2, 1, size, UNET_F32);
    fake->inputs[1] = (UnetInput){.name = "truth",
                                  .kind = UNET_LABELS,
                                  .is_target = true,
                                  .channels = 1,
                                  .classes = 255,
                                  .ignore = 255};
    fake->term[0][0].pattern = "truth/*.png";
    fake->term[1][0].pattern = "shown/*.png";
    fake->source[0].name = "truth";
    fake->train_layout[1].type = fake->eval_layout[1].type = UNET_U8;
    for (int i = 0; i < 2; i++) {
        fake_picture(folder, "truth", i == 0 ? "a" : "b", i, 1, 9, 14);
        fake_picture(folder, "shown", i == 0 ? "a" : "b", i, 1, 9, 14);
    }
}

/* Cut and flipped with their images, never between two classes; padding counts nowhere. */
static void test_labels(UnetPad pad) {
    Fake fake;
    int outside = 0;
    fake_labels(&fake, 12);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = pad, .pad_value = 2});
    fake_add(&fake, (UnetTransform){.op = UNET_DO_FLIP, .axes = 6, .p = 0.5});
    UnetDataset *dataset = open_or_stop(&fake, UNET_TRAINING);
    for (uint32_t epoch = 0; epoch < 8; epoch++) {
        Read read = read_sample(dataset, 1, 3, epoch);
        CHECK_OK(read.status, read.error);
        for (int32_t y = 0; y < 12; y++) {
            for (int32_t x = 0; x < 12; x++) {
                const double image = element(&read, 0, 0, y, x), class = element(&read, 1, 0, y, x);
                CHECK(class == (image > 1 ? UNET_IGNORED : round(255 * image)),
                      "class %g where there is %g", class, 255 * image);
                outside += image > 1;
            }
        }
        forget(&read);
    }
    CHECK((outside > 0) == (pad == UNET_PAD_VALUE), "%d points of padding", outside);
    unet_dataset_close(dataset);
}

/* Counts, classes that are never seen, and weights, of masks of 4 x 4: three quarters 2, the rest 0 and
 * 255. */
static void test_counts(Fake *fake, char *heard) {
    const UnetImageInfo info = {.width = 4, .height = 4, .channels = 1, .bits = 8};
    UnetDataCheck check;
    UnetError error;
    for (int i = 0; i < 2; i++) {
        UnetImageWriter *writer;
        char path[200];
        snprintf(path, sizeof path, "%s/truth/%c.png", folder, 'a' + i);
        CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
        for (int y = 0; y < 4; y++) {
            const float two = 2 / 255.0f, row[] = {two, two, two, y < 2 || i == 1 ? 0 : 1};
            CHECK_OK(unet_image_write_row(writer, row, &error), error);
        }
        CHECK_OK(unet_image_finish(writer, &error), error);
    }
    fake->inputs[1].classes = 3;
    fake->inputs[1].ignore = 255;
    CHECK_OK(
        unet_check_data(&fake->model, unet_in_folder(folder), hear_problem, hear, heard, &check, &error),
        error);
    CHECK(strcmp(heard, "truth: 2 files of 4 x 4\n"
                        "  class 0 (value 0)           6 points  18.75 % in 2 files\n"
                        "  class 1 (value 1) is never seen\n"
                        "  class 2 (value 2)          24 points  75.00 % in 2 files\n"
                        "  ignored (value 255)           2 points   6.25 % in 1 file\n"
                        "  for classes that count alike: weight = [2.5, 1, 0.625]\n") == 0,
          "%s", heard);
    heard[0] = '\0';
    fake->inputs[1].classes = 2;
    CHECK_OK(
        unet_check_data(&fake->model, unet_in_folder(folder), hear_problem, hear, heard, &check, &error),
        error);
    CHECK(check.problems == 2 && strstr(heard, "weight = ") == NULL, "masks that are refused count: %s",
          heard);
    fake->inputs[1].classes = 3;
    heard[0] = '\0';
    for (int i = 0; i < 2; i++) {
        const PngKind kind = {.width = 4, .height = 4, .colour = PNG_COLOR_TYPE_PALETTE, .bits = 2};
        char path[200];
        snprintf(path, sizeof path, "%s/truth/%c.png", folder, 'a' + i);
        make_png(path, &kind);
    }
}

static void test_values(void) {
    static const int32_t values[] = {4, -1, 1, -1};
    const PngKind kind = {.width = 4, .height = 4, .colour = PNG_COLOR_TYPE_PALETTE, .bits = 2};
    char path[200], heard[4096] = "";
    Fake fake;
    UnetDataset *dataset;
    UnetDataCheck check;
    UnetError error;
    fake_labels(&fake, 4);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP});
    fake.inputs[1].classes = 2;
    fake.inputs[1].ignore = -1;
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    Read read = read_sample(dataset, 0, 0, 0);
    CHECK(read.status == UNET_IO && strstr(read.error.text, "truth/a.png has a point of value") != NULL &&
              strstr(read.error.text, "the classes 0 to 1") != NULL,
          "a value that is no class: %s", read.error.text);
    forget(&read);
    unet_dataset_close(dataset);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/truth/%c.png", folder, 'a' + i);
        make_png(path, &kind);
        fake_picture(folder, "shown", i == 0 ? "a" : "b", i, 1, 4, 4);
    }
    fake.inputs[1].classes = 4;
    CHECK_OK(
        unet_check_data(&fake.model, unet_in_folder(folder), hear_problem, hear, heard, &check, &error),
        error);
    CHECK(check.problems == 0 && strstr(heard, "truth: 2 files of 4 x 4\n  class 0 (value 0) ") != NULL,
          "palettes are read as indices: %s", heard);
    heard[0] = '\0';
    test_counts(&fake, heard);
    fake.source[0].values = values;
    fake.inputs[1].classes = 2;
    fake.inputs[1].ignore = 3;
    CHECK_OK(
        unet_check_data(&fake.model, unet_in_folder(folder), hear_problem, hear, heard, &check, &error),
        error);
    CHECK(check.problems == 2 && strstr(heard, "not among the `values` of \"truth\"") != NULL,
          "a value that is not listed: %s", heard);
    remove_file("truth/a.png");
    CHECK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error) ==
                  UNET_IO &&
              strstr(error.text, "a.png has no partner") != NULL,
          "a mask that is missing: %s", error.text);
    fake_picture(folder, "truth", "a", 0, 1, 4, 5);
    CHECK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error) ==
                  UNET_IO &&
              strstr(error.text, "and its partner") != NULL,
          "a mask of another size: %s", error.text);
}

/* ---- check-data ------------------------------------------------------------------------------- */

static void test_check(void) {
    Fake fake;
    fake_pairs(&fake, 2, 3, 12, UNET_F32);
    fake.data.holdout = 0.25;
    char heard[4096] = "";
    UnetDataCheck check;
    UnetError error;
    CHECK_OK(
        unet_check_data(&fake.model, unet_in_folder(folder), hear_problem, NULL, heard, &check, &error),
        error);
    CHECK(check.problems == 0 && check.files == 14 && heard[0] == '\0', "%d problems in %d files: %s",
          (int)check.problems, (int)check.files, heard);

    char path[200];
    size_t length;
    snprintf(path, sizeof path, "%s/clean/p02.png", folder);
    unsigned char *bytes = read_bytes(path, &length);
    write_bytes(path, bytes, length / 2);
    free(bytes);
    snprintf(path, sizeof path, "%s/clean/p05.png", folder);
    bytes = read_bytes(path, &length);
    bytes[length / 2] ^= 0x55; /* found by decoding alone */
    write_bytes(path, bytes, length);
    free(bytes);
    remove_file("noisy/p03.png");
    CHECK_OK(
        unet_check_data(&fake.model, unet_in_folder(folder), hear_problem, NULL, heard, &check, &error),
        error);
    CHECK(check.problems == 3, "%d problems:\n%s", (int)check.problems, heard);
    CHECK(strstr(heard, "p02.png: cut short") != NULL && strstr(heard, "p05.png: damaged in row") != NULL &&
              strstr(heard, "p03.png has no partner") != NULL,
          "the problems are:\n%s", heard);
}

/* The notes on pictures of 16 bits and of floats are true. */
static void test_notes(void) {
    static const struct {
        UnetType type;
        const char *deep, *floats;
    } cases[] = {{UNET_F32, "all 16 bits are kept", "numbers are kept as they are"},
                 {UNET_UNORM8, "16 bits are rounded to 8", "numbers are clamped to 0..1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char heard[4096] = "", path[200];
        Fake fake;
        UnetDataset *dataset;
        UnetError error;
        UnetImageWriter *writer;
        snprintf(path, sizeof path, "%s/deep", folder);
        mkdir(path, 0777);
        snprintf(path, sizeof path, "%s/deep/a.png", folder);
        const UnetImageInfo info = {.width = 4, .height = 4, .channels = 1, .bits = 16};
        CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
        for (int y = 0; y < 4; y++) {
            CHECK_OK(unet_image_write_row(writer, (float[4]){0}, &error), error);
        }
        CHECK_OK(unet_image_finish(writer, &error), error);
        fake_pairs(&fake, 1, 1, 4, cases[i].type);
        fake.term[0][0].pattern = fake.term[1][0].pattern = "deep/*.png";
        CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
                 error);
        unet_dataset_notes(dataset, hear, heard);
        CHECK(strstr(heard, cases[i].deep) != NULL, "of 16 bits is said: %s", heard);
        CHECK(strstr(unet_image_trait(5, cases[i].type), cases[i].floats) != NULL, "of floats is said: %s",
              unet_image_trait(5, cases[i].type));
        unet_dataset_close(dataset);
    }
}

static void test_pad_index(void) {
    static const int32_t reflected[] = {2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0};
    for (int i = 0; i < 11; i++) {
        CHECK(unet_pad_index(UNET_PAD_REFLECT, i - 4 + 2, 3) == reflected[i],
              "reflection of 3 points at %d", i - 2);
        CHECK(unet_pad_index(UNET_PAD_REFLECT, i - 5, 1) == 0, "reflection of one point");
    }
    CHECK(unet_pad_index(UNET_PAD_REPLICATE, -3, 5) == 0 && unet_pad_index(UNET_PAD_REPLICATE, 9, 5) == 4,
          "replicate");
    CHECK(unet_pad_index(UNET_PAD_ZERO, -1, 5) == -1 && unet_pad_index(UNET_PAD_VALUE, 5, 5) == -1,
          "constant");
}

int main(void) {
    make_folder(folder);
    test_pad_index();
    test_matching();
    test_kept_files();
    test_two_stars();
    test_holdout();
    test_folds();
    test_arithmetic();
    test_crop((int32_t[2]){12, 10}, UNET_PAD_NONE, false);
    test_crop((int32_t[2]){10, 9}, UNET_PAD_NONE, true);
    test_crop((int32_t[2]){5, 12}, UNET_PAD_VALUE, false);
    test_crop((int32_t[2]){6, 5}, UNET_PAD_REFLECT, false);
    test_crop((int32_t[2]){6, 2}, UNET_PAD_REPLICATE, false);
    test_crop((int32_t[2]){5, 11}, UNET_PAD_NONE, true); /* by reflection */
    test_colour();
    test_evaluation((int32_t[2]){8, 8}, 0, 0);
    test_evaluation((int32_t[2]){15, 8}, 3, 0);
    test_evaluation((int32_t[2]){3, 20}, 0, 6);
    test_evaluation((int32_t[2]){2, 1}, 0, 0);
    test_noise();
    test_times(2, (int32_t[2]){12, 10}, UNET_PAD_NONE);
    test_times(3, (int32_t[2]){5, 6}, UNET_PAD_REFLECT);
    test_times(2, (int32_t[2]){6, 9}, UNET_PAD_VALUE);
    test_valid();
    test_check();
    test_labels(UNET_PAD_VALUE);
    test_labels(UNET_PAD_REFLECT);
    test_values();
    test_notes();
    remove_folder(folder);
    return check_result();
}
