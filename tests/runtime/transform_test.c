/* transform_test.c - transforms that scale, turn, bend and colour: exact ones are exact, masks move with
 * their images, colours stay off masks and noise off targets, and nothing is written beside the working
 * memory. */
#include "check.h"
#include "fake_data.h"
#include "unet/layout.h"

#include <math.h>

static char folder[64];

enum { SIDE = 16, CANARY = 64 };

/* A window of pair `p`, whose image is read into input 0 and whose partner into input 1. */
typedef struct {
    double image[3][SIDE][SIDE], partner[3][SIDE][SIDE];
} Shown;

static double element(const UnetLayout *layout, const void *base, int32_t c, int32_t y, int32_t x) {
    int64_t at = layout->origin + y * layout->row + x * layout->block + c;
    return layout->type == UNET_U8 ? ((const uint8_t *)base)[at] : (double)((const float *)base)[at];
}

static void read_shown(const UnetDataset *dataset, int32_t sample, uint32_t epoch, Shown *shown) {
    const UnetProgram *program = unet_dataset_program(dataset);
    const size_t bytes = (unet_dataset_scratch_bytes(dataset) + 63) / 64 * 64;
    unsigned char *scratch = aligned_alloc(64, bytes + CANARY);
    void *inputs[FAKE_INPUTS];
    int32_t valid[3];
    UnetError error;
    for (int i = 0; i < FAKE_INPUTS; i++) {
        inputs[i] = calloc(1, (size_t)program->inputs[i].sample_bytes);
    }
    memset(scratch + bytes, 0xa5, CANARY);
    CHECK_OK(unet_dataset_read(dataset, sample, 5, epoch, scratch, NULL, inputs, 0, 1, valid, &error),
             error);
    for (int i = 0; i < CANARY; i++) {
        CHECK(scratch[bytes + (size_t)i] == 0xa5, "written behind the working memory");
    }
    for (int32_t y = 0; y < program->size[1]; y++) {
        for (int32_t x = 0; x < program->size[2]; x++) {
            for (int32_t c = 0; c < program->inputs[0].channels; c++) {
                shown->image[c][y][x] = element(&program->inputs[0], inputs[0], c, y, x);
            }
            for (int32_t c = 0; c < program->inputs[1].channels; c++) {
                shown->partner[c][y][x] = element(&program->inputs[1], inputs[1], c, y, x);
            }
        }
    }
    free(inputs[0]);
    free(inputs[1]);
    free(scratch);
}

/* Images of shown/ and their masks, the same numbers, of truth/. */
static void fake_masks(Fake *fake, int32_t channels) {
    fake_pairs(fake, 2, 1, SIDE, UNET_F32);
    fake->inputs[1] = (UnetInput){.name = "truth",
                                  .kind = UNET_LABELS,
                                  .is_target = true,
                                  .channels = 1,
                                  .classes = 255,
                                  .ignore = 255};
    fake->term[0][0].pattern = "truth/*.png";
    fake->term[1][0].pattern = "shown/*.png";
    fake->source[0].name = "truth";
    fake->train_layout[1].type = UNET_U8;
    fake->train_layout[0] = fake_layout(channels, SIDE, SIDE, UNET_F32);
    fake->inputs[0].channels = fake->source[1].channels = channels;
}

static UnetDataset *open_or_stop(const Fake *fake) {
    UnetDataset *dataset;
    UnetError error;
    if (unet_dataset_open(&dataset, &fake->model, UNET_TRAINING, unet_in_folder(folder), &error) !=
        UNET_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return dataset;
}

/* A picture of channel values between 0 and 255 by a rule of its place. */
static void draw(const char *sub, int32_t channels, int32_t height, int32_t width,
                 double (*rule)(int32_t c, double y, double x)) {
    char path[300];
    const UnetImageInfo info = {.width = width, .height = height, .channels = channels, .bits = 8};
    UnetImageWriter *writer;
    UnetError error;
    snprintf(path, sizeof path, "%s/%s", folder, sub);
    mkdir(path, 0777);
    strcat(path, "/p.png");
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    float *row = calloc((size_t)(channels * width), sizeof *row);
    for (int32_t y = 0; y < height; y++) {
        for (int32_t i = 0; i < channels * width; i++) {
            row[i] = (float)(rule(i / width, y, i % width) / 255);
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    free(row);
    CHECK_OK(unet_image_finish(writer, &error), error);
}

static double any(int32_t c, double y, double x) {
    return fmod(y * 37 + x * 11 + c * 59, 255);
}

static double slope(int32_t c, double y, double x) {
    return c == 0 ? 8 * y : c == 1 ? 8 * x : 100;
}

static double quadrants(int32_t c, double y, double x) {
    return c * 0 + (y < 16 ? 0 : 100) + (x < 16 ? 10 : 60);
}

/* ---- exact ones ------------------------------------------------------------------------------- */

/* One of the eight ways to lay a square on itself. */
static double symmetric(int which, int32_t y, int32_t x) {
    const int32_t a = (which & 1) != 0 ? SIDE - 1 - y : y, b = (which & 2) != 0 ? SIDE - 1 - x : x;
    return (which & 4) != 0 ? any(0, b, a) : any(0, a, b);
}

static int find_symmetry(const Shown *shown) {
    for (int which = 0; which < 8; which++) {
        bool equal = true;
        for (int32_t y = 0; y < SIDE && equal; y++) {
            for (int32_t x = 0; x < SIDE && equal; x++) {
                equal = fabs(255 * shown->image[0][y][x] - symmetric(which, y, x)) < 1e-4 &&
                        shown->partner[0][y][x] == symmetric(which, y, x);
            }
        }
        if (equal) {
            return which;
        }
    }
    return -1;
}

/* Every picture is the file laid on itself in one of the EXPECTED ways (a bit each), and all of them occur.
 */
static void check_symmetries(const Fake *fake, unsigned expected) {
    unsigned seen = 0;
    draw("shown", 1, SIDE, SIDE, any);
    draw("truth", 1, SIDE, SIDE, any);
    UnetDataset *dataset = open_or_stop(fake);
    for (uint32_t epoch = 0; epoch < 60; epoch++) {
        Shown shown;
        read_shown(dataset, 0, epoch, &shown);
        const int which = find_symmetry(&shown);
        CHECK(which >= 0, "epoch %u: no permutation of the file", epoch);
        seen |= which >= 0 ? 1U << which : 0;
    }
    CHECK(seen == expected, "the ways are %x, should be %x", seen, expected);
    unet_dataset_close(dataset);
}

static void test_exact(void) {
    static const UnetTransform turn = {.op = UNET_DO_ROT90, .p = 1};
    static const UnetTransform flip = {.op = UNET_DO_FLIP, .axes = 6, .p = 0.5};
    static const UnetTransform quarters = {.op = UNET_DO_ROTATE, .p = 1, .amount = {180, 90}};
    static const UnetTransform halves = {.op = UNET_DO_ROTATE, .p = 1, .amount = {180, 180}};
    Fake fake;
    fake_masks(&fake, 1);
    fake_add(&fake, turn);
    check_symmetries(&fake, 1 << 0 | 1 << 3 | 1 << 5 | 1 << 6);
    fake_add(&fake, flip);
    check_symmetries(&fake, 0xff);
    fake.data.ntransform = 0;
    fake_add(&fake, quarters);
    check_symmetries(&fake, 1 << 0 | 1 << 3 | 1 << 5 | 1 << 6);
    fake.data.ntransform = 0;
    fake_add(&fake, halves);
    check_symmetries(&fake, 1 << 0 | 1 << 3);
}

/* Classes that count nowhere; the others, and the image, show the same place. */
static int ignored_points(const Shown *shown) {
    int ignored = 0;
    for (int32_t y = 0; y < SIDE; y++) {
        for (int32_t x = 0; x < SIDE; x++) {
            const bool beside = shown->partner[0][y][x] == UNET_IGNORED;
            CHECK(beside || fabs(255 * shown->image[0][y][x] - shown->partner[0][y][x]) < 1e-4,
                  "mask and image");
            ignored += beside;
        }
    }
    return ignored;
}

static void hear_padded(void *context, const char *note) {
    (void)context;
    CHECK(strstr(note, "1 of 1 samples, such as p, can be smaller than the window of 16 x 16") != NULL,
          "%s", note);
}

/* A quarter turn in front of a crop turns the whole file; a window is then some square of it. */
static void test_turned_crop(void) {
    Fake fake;
    fake_masks(&fake, 1);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_ROT90, .p = 1});
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true});
    draw("shown", 1, 20, 40, any);
    draw("truth", 1, 20, 40, any);
    UnetDataset *dataset = open_or_stop(&fake);
    for (uint32_t epoch = 0; epoch < 12; epoch++) {
        Shown shown;
        read_shown(dataset, 0, epoch, &shown);
        for (int32_t y = 0; y < SIDE; y++) {
            for (int32_t x = 0; x < SIDE; x++) {
                CHECK(fabs(255 * shown.image[0][y][x] - shown.partner[0][y][x]) < 1e-4, "mask and image");
            }
        }
    }
    unet_dataset_close(dataset);
    draw("shown", 1, 12, 40, any);
    draw("truth", 1, 12, 40, any);
    dataset = open_or_stop(&fake);
    for (uint32_t epoch = 0; epoch < 12; epoch++) {
        Shown shown;
        read_shown(dataset, 0, epoch, &shown);
        CHECK(ignored_points(&shown) == 4 * SIDE,
              "a picture of 12 rows in a window of 16: %d points beside it", ignored_points(&shown));
    }
    unet_dataset_notes(dataset, hear_padded, NULL);
    unet_dataset_close(dataset);
}

/* ---- between points --------------------------------------------------------------------------- */

/* The place in the file that a point of a `slope` shows. */
static void place(const Shown *shown, int32_t y, int32_t x, double at[2]) {
    at[0] = 255 * shown->image[0][y][x] / 8;
    at[1] = 255 * shown->image[1][y][x] / 8;
}

static UnetDataset *open_slope(Fake *fake, UnetTransform transform) {
    fake_masks(fake, 3);
    fake_add(fake, transform);
    fake_add(fake, (UnetTransform){.op = UNET_DO_CROP, .random = true});
    draw("shown", 3, 32, 32, slope);
    draw("truth", 1, 32, 32, quadrants);
    return open_or_stop(fake);
}

/* Masks have the class of the nearest point, whatever bends the window. */
static void check_mask(const Shown *shown, bool by_value) {
    for (int32_t y = 0; y < SIDE; y++) {
        for (int32_t x = 0; x < SIDE; x++) {
            double at[2];
            place(shown, y, x, at);
            bool near_border = fabs(at[0] - 15.5) < 0.01 || fabs(at[1] - 15.5) < 0.01;
            double class = quadrants(0, round(at[0]), round(at[1]));
            CHECK(near_border || shown->partner[0][y][x] == class ||
                      (by_value && shown->partner[0][y][x] == UNET_IGNORED),
                  "class %g at (%g, %g), should be %g", shown->partner[0][y][x], at[0], at[1], class);
        }
    }
}

static void test_scale(void) {
    Fake fake;
    UnetDataset *dataset =
        open_slope(&fake, (UnetTransform){.op = UNET_DO_SCALE, .p = 1, .amount = {0.5, 2, 0.5}});
    double least = 9, most = 0;
    for (uint32_t epoch = 0; epoch < 40; epoch++) {
        Shown shown;
        double first[2], next[2];
        read_shown(dataset, 0, epoch, &shown);
        check_mask(&shown, false);
        place(&shown, 7, 7, first);
        place(&shown, 8, 9, next);
        double step = next[0] - first[0];
        CHECK(fabs(next[1] - first[1] - 2 * step) < 1e-4, "one scale for both axes");
        bool known = false;
        for (int k = 1; k <= 4; k++) {
            known |= fabs(step - 1 / (0.5 * k)) < 1e-4;
        }
        CHECK(known, "a step of %g points", step);
        least = fmin(least, step);
        most = fmax(most, step);
    }
    CHECK(least < 0.51 && most > 1.99, "scales from %g to %g", 1 / most, 1 / least);
    unet_dataset_close(dataset);
    fake.transform[0].amount[0] = 0.25; /* can become 8 x 8 */
    dataset = open_or_stop(&fake);
    bool padded = false;
    for (uint32_t epoch = 0; epoch < 20; epoch++) {
        Shown shown;
        int ignored = 0;
        read_shown(dataset, 0, epoch, &shown);
        check_mask(&shown, true);
        for (int32_t k = 0; k < SIDE * SIDE; k++) {
            ignored += shown.partner[0][k / SIDE][k % SIDE] == UNET_IGNORED;
        }
        CHECK(ignored == 0 || ignored == SIDE * SIDE * 3 / 4, "%d points beside a picture of 8 x 8",
              ignored);
        padded |= ignored > 0;
    }
    CHECK(padded, "no picture is padded");
    unet_dataset_close(dataset);
}

/* Distances stay, angles are at most as large as asked for. */
static void test_rotate(void) {
    Fake fake;
    UnetDataset *dataset = open_slope(&fake, (UnetTransform){.op = UNET_DO_ROTATE, .p = 1, .amount = {25}});
    double most = 0;
    for (uint32_t epoch = 0; epoch < 60; epoch++) {
        Shown shown;
        double first[2], next[2];
        read_shown(dataset, 0, epoch, &shown);
        place(&shown, 7, 7, first);
        place(&shown, 7, 8, next);
        if (fmin(first[0], first[1]) < 1 || fmax(first[0], first[1]) > 30) {
            continue; /* reflected */
        }
        double degrees = atan2(next[0] - first[0], next[1] - first[1]) * 180 / 3.14159265358979;
        CHECK(fabs(hypot(next[0] - first[0], next[1] - first[1]) - 1) < 1e-4, "the scale has changed");
        most = fmax(most, fabs(degrees));
        check_mask(&shown, false);
    }
    CHECK(most > 20 && most < 25, "turned by up to %g degrees", most);
    unet_dataset_close(dataset);
}

/* Displacements are smooth, of about the deviation asked for. */
/* The numbers of the quadrants as grey of three channels, and as colours. */
static double coloured_quadrants(int32_t c, double y, double x) {
    const double value = quadrants(0, y, x);
    return c == 0 ? value : c == 1 ? 255 - value : 7;
}

/* Masks of one and of three channels are the same once they are turned. */
static void test_mask_channels(void) {
    static const int32_t colours[] = {10 << 16 | 245 << 8 | 7,  -1, 60 << 16 | 195 << 8 | 7, -1,
                                      110 << 16 | 145 << 8 | 7, -1, 160 << 16 | 95 << 8 | 7, -1};
    Fake fake;
    Shown shown[3];
    for (int kind = 0; kind < 3; kind++) {
        UnetDataset *dataset =
            open_slope(&fake, (UnetTransform){.op = UNET_DO_ROTATE, .p = 1, .amount = {40}});
        unet_dataset_close(dataset);
        draw("truth", kind == 0 ? 1 : 3, 32, 32, kind == 2 ? coloured_quadrants : quadrants);
        if (kind == 2) {
            fake.inputs[1].classes = 4;
            fake.source[0].values = colours;
            fake.source[0].colours = true;
        }
        dataset = open_or_stop(&fake);
        read_shown(dataset, 0, 1, &shown[kind]);
        unet_dataset_close(dataset);
    }
    for (int32_t y = 0; y < SIDE; y++) {
        for (int32_t x = 0; x < SIDE; x++) {
            const double value = shown[0].partner[0][y][x];
            CHECK(shown[1].partner[0][y][x] == value, "three channels: %g for %g",
                  shown[1].partner[0][y][x], value);
            CHECK(10 + 50 * shown[2].partner[0][y][x] == value, "colours: class %g for %g",
                  shown[2].partner[0][y][x], value);
        }
    }
}

static void test_elastic(void) {
    Fake fake;
    double squares = 0;
    int count = 0;
    fake_masks(&fake, 3);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP});
    fake_add(&fake, (UnetTransform){.op = UNET_DO_ELASTIC, .p = 1, .amount = {1.5, 3}});
    draw("shown", 3, 32, 32, slope);
    draw("truth", 1, 32, 32, quadrants);
    UnetDataset *dataset = open_or_stop(&fake);
    for (uint32_t epoch = 0; epoch < 40; epoch++) {
        Shown shown;
        read_shown(dataset, 0, epoch, &shown);
        check_mask(&shown, false);
        for (int32_t i = 1; i < SIDE; i++) {
            double at[2], before[2];
            place(&shown, i, i, at);
            place(&shown, i - 1, i - 1, before);
            for (int axis = 0; axis < 2; axis++) {
                double moved = at[axis] - (i + 8);
                CHECK(fabs(moved) < 3 * 1.5 * 1.6, "moved by %g", moved);
                CHECK(fabs(at[axis] - before[axis] - 1) < 2, "torn at %d", i);
                squares += moved * moved;
                count++;
            }
        }
    }
    double deviation = sqrt(squares / count);
    CHECK(deviation > 0.7 && deviation < 1.8, "the deviation is %g", deviation);
    unet_dataset_close(dataset);
}

/* Beside the file there is the padding: a value that is ignored in masks, or the reflected file. */
static void test_beside(UnetPad pad) {
    Fake fake;
    int outside = 0;
    fake_masks(&fake, 1);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_ROTATE, .p = 1, .amount = {45}});
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP, .random = true, .pad = pad, .pad_value = 2});
    draw("shown", 1, 18, 18, any);
    draw("truth", 1, 18, 18, any);
    UnetDataset *dataset = open_or_stop(&fake);
    for (uint32_t epoch = 0; epoch < 10; epoch++) {
        Shown shown;
        read_shown(dataset, 0, epoch, &shown);
        for (int32_t y = 0; y < SIDE; y++) {
            for (int32_t x = 0; x < SIDE; x++) {
                bool beside = shown.partner[0][y][x] == UNET_IGNORED;
                CHECK(beside == (shown.image[0][y][x] > 1), "image and mask beside the file");
                outside += beside;
            }
        }
    }
    CHECK((outside > 0) == (pad == UNET_PAD_VALUE), "%d points beside the file", outside);
    unet_dataset_close(dataset);
}

/* ---- colours ---------------------------------------------------------------------------------- */

/* A picture after one transform, beside the same picture without it. */
static void read_changed(UnetTransform transform, uint32_t epoch, Shown *plain, Shown *changed) {
    Fake fake;
    fake_masks(&fake, 3);
    draw("shown", 3, SIDE, SIDE, any);
    draw("truth", 1, SIDE, SIDE, any);
    UnetDataset *dataset = open_or_stop(&fake);
    read_shown(dataset, 0, epoch, plain);
    unet_dataset_close(dataset);
    fake_add(&fake, transform);
    dataset = open_or_stop(&fake);
    read_shown(dataset, 0, epoch, changed);
    unet_dataset_close(dataset);
    CHECK(memcmp(plain->partner[0], changed->partner[0], sizeof plain->partner[0]) == 0,
          "colours of a mask");
    CHECK(memcmp(plain->image, changed->image, sizeof plain->image) != 0, "nothing has changed");
}

static double grey(const Shown *shown, int32_t y, int32_t x) {
    return 0.299 * shown->image[0][y][x] + 0.587 * shown->image[1][y][x] + 0.114 * shown->image[2][y][x];
}

static double mean_grey(const Shown *shown) {
    double sum = 0;
    for (int32_t y = 0; y < SIDE; y++) {
        for (int32_t x = 0; x < SIDE; x++) {
            sum += grey(shown, y, x);
        }
    }
    return sum / (SIDE * SIDE);
}

/* Brightness, contrast and saturation: every value is OTHER + factor * (value - OTHER), one factor for all.
 */
static void test_blend(int kind) {
    UnetTransform distort = {.op = UNET_DO_DISTORT, .p = 1};
    distort.amount[kind] = 0.3;
    for (uint32_t epoch = 0; epoch < 10; epoch++) {
        Shown plain, changed;
        double factor = 0;
        read_changed(distort, epoch, &plain, &changed);
        const double mean = mean_grey(&plain);
        for (int32_t i = 0; i < 3 * SIDE * SIDE; i++) {
            const int32_t c = i / (SIDE * SIDE), y = i / SIDE % SIDE, x = i % SIDE;
            const double other = kind == 0 ? 0 : kind == 1 ? mean : grey(&plain, y, x);
            const double away = plain.image[c][y][x] - other, now = changed.image[c][y][x];
            if (fabs(away) < 0.05 || now <= 0 || now >= 1) {
                continue;
            }
            factor = factor > 0 ? factor : (now - other) / away;
            CHECK(fabs((now - other) / away - factor) < 1e-4 && factor > 0.7 && factor < 1.3,
                  "kind %d: %g, and %g elsewhere", kind, (now - other) / away, factor);
        }
    }
}

/* Turning the hue keeps the largest and the smallest of the three, and grey. */
static void test_hue(void) {
    const UnetTransform distort = {.op = UNET_DO_DISTORT, .p = 1, .amount = {0, 0, 0, 120}};
    for (uint32_t epoch = 0; epoch < 10; epoch++) {
        Shown plain, changed;
        read_changed(distort, epoch, &plain, &changed);
        for (int32_t i = 0; i < SIDE * SIDE; i++) {
            double range[2][2];
            for (int k = 0; k < 2; k++) {
                const Shown *shown = k == 0 ? &plain : &changed;
                const double r = shown->image[0][i / SIDE][i % SIDE],
                             g = shown->image[1][i / SIDE][i % SIDE],
                             b = shown->image[2][i / SIDE][i % SIDE];
                range[k][0] = fmin(r, fmin(g, b));
                range[k][1] = fmax(r, fmax(g, b));
            }
            CHECK(fabs(range[0][0] - range[1][0]) < 1e-5 && fabs(range[0][1] - range[1][1]) < 1e-5,
                  "saturation or value has changed");
        }
    }
}

static void test_gamma(void) {
    const UnetTransform gamma = {.op = UNET_DO_GAMMA, .p = 1, .amount = {0.5, 1.5}};
    Shown plain, changed;
    read_changed(gamma, 3, &plain, &changed);
    const double exponent = log(changed.image[0][3][3]) / log(plain.image[0][3][3]);
    CHECK(exponent > 0.5 && exponent < 1.5, "an exponent of %g", exponent);
    for (int32_t i = 0; i < 3 * SIDE * SIDE; i++) {
        const int32_t c = i / (SIDE * SIDE), y = i / SIDE % SIDE, x = i % SIDE;
        CHECK(fabs(pow(plain.image[c][y][x], exponent) - changed.image[c][y][x]) < 1e-5, "gamma");
    }
}

/* A blur by its definition, at one point far from the borders. */
static void test_blur(void) {
    const UnetTransform blur = {.op = UNET_DO_BLUR, .p = 1, .amount = {1, 1}};
    Shown plain, changed;
    double sum = 0, weights = 0;
    read_changed(blur, 0, &plain, &changed);
    for (int32_t y = -3; y <= 3; y++) {
        for (int32_t x = -3; x <= 3; x++) {
            double weight = exp(-0.5 * (y * y + x * x));
            sum += weight * plain.image[1][8 + y][8 + x];
            weights += weight;
        }
    }
    CHECK(fabs(sum / weights - changed.image[1][8][8]) < 1e-5, "blurred to %g, should be %g",
          changed.image[1][8][8], sum / weights);
}

static void test_noise(void) {
    const UnetTransform noise = {.op = UNET_DO_NOISE, .p = 1, .amount = {0.1}};
    double most = 0;
    for (uint32_t epoch = 0; epoch < 30; epoch++) {
        Shown plain, changed;
        double sum = 0, squares = 0;
        read_changed(noise, epoch, &plain, &changed);
        for (int32_t i = 0; i < 3 * SIDE * SIDE; i++) {
            const int32_t c = i / (SIDE * SIDE), y = i / SIDE % SIDE, x = i % SIDE;
            double added = changed.image[c][y][x] - plain.image[c][y][x];
            sum += added;
            squares += added * added;
        }
        double count = 3 * SIDE * SIDE, deviation = sqrt(squares / count);
        CHECK(fabs(sum / count) < 4 * deviation / sqrt(count), "the mean is %g", sum / count);
        most = fmax(most, deviation);
    }
    CHECK(most > 0.08 && most < 0.105, "deviations up to %g", most);
}

/* Pairs of pictures change their colours alike; noise is added to inputs alone, and a target that nothing
 * is compared with, such as a map of weights, keeps its values. */
static void test_pairs(bool compared) {
    static const UnetResult loss = {.name = "mse(noisy, clean)", .target_input = 1};
    Fake fake;
    Shown plain, changed;
    fake_pairs(&fake, 2, 3, SIDE, UNET_F32);
    fake.model.nresult = compared;
    fake.model.results = &loss;
    fake.term[0][0].pattern = fake.term[1][0].pattern = "shown/*.png";
    draw("shown", 3, SIDE, SIDE, any);
    UnetDataset *dataset = open_or_stop(&fake);
    read_shown(dataset, 0, 0, &plain);
    unet_dataset_close(dataset);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_DISTORT, .p = 1, .amount = {0.3, 0.3, 0.3, 20}});
    dataset = open_or_stop(&fake);
    read_shown(dataset, 0, 0, &changed);
    unet_dataset_close(dataset);
    CHECK(memcmp(changed.image, plain.image, sizeof plain.image) != 0, "the input has kept its colours");
    CHECK(memcmp(changed.partner, compared ? changed.image : plain.image, sizeof plain.image) == 0,
          "the colours of the target");
    fake.data.ntransform = 0;
    fake_add(&fake, (UnetTransform){.op = UNET_DO_NOISE, .p = 1, .amount = {0.1}});
    dataset = open_or_stop(&fake);
    read_shown(dataset, 0, 0, &changed);
    unet_dataset_close(dataset);
    CHECK(memcmp(changed.partner, plain.partner, sizeof plain.partner) == 0, "noise on a target");
}

int main(void) {
    make_folder(folder);
    test_exact();
    test_turned_crop();
    test_scale();
    test_rotate();
    test_mask_channels();
    test_elastic();
    test_beside(UNET_PAD_VALUE);
    test_beside(UNET_PAD_REFLECT);
    for (int kind = 0; kind < 3; kind++) {
        test_blend(kind);
    }
    test_hue();
    test_gamma();
    test_blur();
    test_noise();
    test_pairs(true);
    test_pairs(false);
    remove_folder(folder);
    return check_result();
}
