/* dataset_volume_test.c - samples of volumes: windows, mirrors, padding, normalisation, windows around
 * voxels of a class, several channels, and the errors of volumes that do not go together. */
#include "check.h"
#include "make_nifti.h"
#include "unet/dataset.h"
#include "unet/rng.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { D = 8, H = 9, W = 10, VOXELS = D * H * W, MOST_WINDOW = 12 * 12 * 12 };

static char folder[64], path[300];

/* A model of one input and labels, read from img/ and seg/. */
typedef struct {
    UnetModel model;
    UnetProgram train, eval;
    UnetData data, eval_data;
    UnetInput inputs[2];
    UnetLayout layout[2];
    UnetSource source[2];
    UnetSourceTerm image[2], labels;
    UnetTransform transform[3];
} Volumes;

static UnetLayout layout_of(int32_t channels, int32_t d, int32_t h, int32_t w, UnetType type) {
    const int64_t sample = (int64_t)channels * d * h * w;
    return (UnetLayout){.type = type,
                        .channels = channels,
                        .size = {d, h, w},
                        .block = channels,
                        .sample = sample,
                        .plane = sample,
                        .depth = (int64_t)channels * h * w,
                        .row = (int64_t)channels * w,
                        .sample_bytes = sample * (int64_t)unet_type_bytes(type)};
}

static void make_model(Volumes *v, int32_t channels, int32_t d, int32_t h, int32_t w) {
    *v = (Volumes){.inputs = {{.name = "scan", .kind = UNET_VOLUME, .channels = channels},
                              {.name = "truth",
                               .kind = UNET_LABELS,
                               .is_target = true,
                               .channels = 1,
                               .classes = 3,
                               .ignore = -1}}};
    v->layout[0] = layout_of(channels, d, h, w, UNET_F32);
    v->layout[1] = layout_of(1, d, h, w, UNET_U8);
    v->train = (UnetProgram){
        .name = "train", .batch = 2, .size = {d, h, w}, .measured = {d, h, w}, .inputs = v->layout};
    v->eval = v->train;
    v->eval.name = "eval";
    v->image[0] = (UnetSourceTerm){.op = UNET_SRC_FILES, .pattern = "img/*_0000.nii.gz", .volumes = true};
    v->image[1] = v->image[0];
    v->image[1].pattern = "img/*_0001.nii.gz";
    v->image[1].channel = 1;
    v->labels = (UnetSourceTerm){.op = UNET_SRC_FILES, .pattern = "seg/*.nii.gz", .volumes = true};
    v->source[0] = (UnetSource){"scan", 0, channels, channels, v->image, NULL, false, false, false, 0};
    v->source[1] = (UnetSource){"truth", 1, 1, 1, &v->labels, NULL, false, false, false, 0};
    v->transform[0] = (UnetTransform){.op = UNET_DO_CROP, .random = true};
    v->transform[1] = (UnetTransform){.op = UNET_DO_FLIP, .axes = 7, .p = 0.5};
    v->data = (UnetData){.source = v->source, .nsource = 2, .transform = v->transform, .ntransform = 2};
    v->eval_data = v->data;
    v->model = (UnetModel){.name = "volumes",
                           .source = "volumes.unet",
                           .ninput = 2,
                           .inputs = v->inputs,
                           .train = &v->train,
                           .eval = &v->eval,
                           .data = &v->data,
                           .eval_data = &v->eval_data};
}

static const char *file(const char *sub, const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, sub);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s.nii.gz", folder, sub, name);
    return path;
}

/* Voxel (z, y, x) says where it is: 100 z + 10 y + x + 1. */
static int16_t told(int z, int y, int x) {
    return (int16_t)(100 * z + 10 * y + x + 1);
}

static void write_scan(const char *name, float left) {
    int16_t voxel[VOXELS];
    for (int i = 0; i < VOXELS; i++) {
        voxel[i] = told(i / (H * W), i / W % H, i % W);
    }
    Nifti scan = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&scan, 2, 1, 0.5f, left);
    nifti_write(&scan, file("img", name), 0);
}

/* Class 1 at one voxel, class 2 at another; or nowhere. */
static void write_labels(const char *name, bool any, int16_t wrong) {
    int16_t voxel[VOXELS] = {0};
    voxel[(3 * H + 4) * W + 5] = any ? 1 : 0;
    voxel[(7 * H + 8) * W + 9] = any ? 2 : 0;
    voxel[0] = wrong;
    Nifti labels = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&labels, 2, 1, 0.5f, 0);
    nifti_write(&labels, file("seg", name), 0);
}

typedef struct {
    float scan[2 * MOST_WINDOW];
    uint8_t truth[MOST_WINDOW];
    int32_t valid[3];
} Sample;

static void read_sample(const UnetDataset *dataset, int32_t sample, uint32_t epoch, int32_t n,
                        int32_t batch, Sample *read) {
    UnetError error;
    void *scratch = aligned_alloc(64, (unet_dataset_scratch_bytes(dataset) + 63) / 64 * 64);
    float *scan = calloc(2 * sizeof(float), 2 * MOST_WINDOW);
    uint8_t *truth = calloc(2, MOST_WINDOW);
    void *inputs[2] = {scan, truth};
    CHECK_OK(
        unet_dataset_read(dataset, sample, 5, epoch, scratch, NULL, inputs, n, batch, read->valid, &error),
        error);
    const UnetLayout *layout = unet_dataset_program(dataset)->inputs;
    memcpy(read->scan, scan + n * layout[0].sample, (size_t)layout[0].sample * sizeof *scan);
    memcpy(read->truth, truth + n * layout[1].sample, (size_t)layout[1].sample);
    free(scan);
    free(truth);
    free(scratch);
}

static UnetDataset *open_data(Volumes *v, UnetPurpose purpose) {
    UnetDataset *dataset;
    UnetError error;
    CHECK_OK(unet_dataset_open(&dataset, &v->model, purpose, unet_in_folder(folder), &error), error);
    if (dataset == NULL) {
        exit(check_result());
    }
    return dataset;
}

/* A window of whole volumes shows each voxel where it is, from its first one on, maybe mirrored. */
static void check_window(const Sample *read, const int size[3], int start[3], bool flip[3]) {
    const int first = (int)read->scan[0] - 1;
    const int last = (int)read->scan[size[0] * size[1] * size[2] - 1] - 1;
    const int at[3] = {first / 100, first / 10 % 10, first % 10},
              end[3] = {last / 100, last / 10 % 10, last % 10};
    for (int axis = 0; axis < 3; axis++) {
        flip[axis] = end[axis] < at[axis];
        start[axis] = flip[axis] ? end[axis] : at[axis];
        CHECK(abs(end[axis] - at[axis]) == size[axis] - 1, "axis %d goes from %d to %d", axis, at[axis],
              end[axis]);
    }
    for (int i = 0; i < size[0] * size[1] * size[2]; i++) {
        int place[3] = {i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]};
        for (int axis = 0; axis < 3; axis++) {
            place[axis] = start[axis] + (flip[axis] ? size[axis] - 1 - place[axis] : place[axis]);
        }
        const int wanted = told(place[0], place[1], place[2]);
        const int class = wanted == told(3, 4, 5) ? 1 : wanted == told(7, 8, 9) ? 2 : 0;
        CHECK(read->scan[i] == (float)wanted, "voxel %d is %g, not %d", i, (double)read->scan[i], wanted);
        CHECK(read->truth[i] == class, "class of voxel %d is %d", i, read->truth[i]);
    }
}

static void test_windows(void) {
    static const int size[3] = {4, 5, 6};
    Volumes v;
    make_model(&v, 1, 4, 5, 6);
    UnetDataset *dataset = open_data(&v, UNET_TRAINING);
    int seen[3] = {0}, flipped[3] = {0};
    for (uint32_t epoch = 0; epoch < 60; epoch++) {
        Sample read, again;
        int start[3];
        bool flip[3];
        read_sample(dataset, 0, epoch, 0, 2, &read);
        check_window(&read, size, start, flip);
        read_sample(dataset, 0, epoch, 1, 2, &again);
        CHECK(memcmp(read.scan, again.scan, sizeof(float) * 120) == 0, "the place in the batch counts");
        for (int axis = 0; axis < 3; axis++) {
            seen[axis] |= 1 << start[axis];
            flipped[axis] += flip[axis];
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        CHECK(seen[axis] == 31, "starts along axis %d: %x", axis, seen[axis]);
        CHECK(flipped[axis] > 15 && flipped[axis] < 45, "axis %d is mirrored %d times of 60", axis,
              flipped[axis]);
    }
    unet_dataset_close(dataset);
}

/* Only the box of voxels that are not 0 is left of a volume, and the holes of its mask are normalised. */
static void test_trim(void) {
    int16_t voxel[VOXELS] = {0};
    double sum = 0, squares = 0;
    int count = 0;
    Volumes v;
    Sample read;
    for (int i = 0; i < VOXELS; i++) {
        const int z = i / (H * W), y = i / W % H, x = i % W;
        const bool box = z >= 2 && z < 7 && y >= 3 && y < 8 && x >= 1 && x < 8, corner = z == 2 && y == 3,
                   hole = z == 4 && y == 5 && x == 4;
        voxel[i] = box && !corner && !hole ? told(z, y, x) : 0;
        sum += voxel[i];
        squares += voxel[i] * voxel[i];
        count += box && !corner;
    }
    Nifti scan = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&scan, 2, 1, 0.5f, 0);
    nifti_write(&scan, file("img", "a_0000"), 0);
    const double mean = sum / count, deviation = sqrt(squares / count - mean * mean);
    make_model(&v, 1, 4, 5, 6);
    v.model.trims = true;
    v.inputs[0].normalizing = UNET_NORMALIZED_MASKED;
    v.transform[1] = (UnetTransform){.op = UNET_DO_NOISE, .amount = {1}, .p = 1};
    v.transform[2] = (UnetTransform){.op = UNET_DO_ROTATE, .amount = {1e-9}, .axes = 7, .p = 1};
    for (v.data.ntransform = 1; v.data.ntransform <= 3; v.data.ntransform++) {
        UnetDataset *dataset = open_data(&v, UNET_TRAINING);
        int seen = 0;
        for (uint32_t epoch = 0; epoch < 20; epoch++) {
            int start = -1;
            read_sample(dataset, 0, epoch, 0, 1, &read);
            for (int z = 2; z <= 3; z++) { /* where the window lies, by what fits */
                for (int x = 1; x <= 2; x++) {
                    int differ = 0;
                    for (int i = 0; i < 120; i++) {
                        const int at[3] = {z + i / 30, 3 + i / 6 % 5, x + i % 6};
                        const bool masked = at[0] != 2 || at[1] != 3;
                        const double value = voxel[(at[0] * H + at[1]) * W + at[2]],
                                     wanted = masked ? (value - mean) / deviation : 0;
                        const double most = !masked ? 0 : v.data.ntransform > 1 ? 8 : 1e-5;
                        differ += !(fabs((double)read.scan[i] - wanted) <= most);
                    }
                    start = differ == 0 ? 10 * z + x : start;
                }
            }
            CHECK(start > 0, "%d transforms, epoch %u: no window of the box is that", v.data.ntransform,
                  epoch);
            seen |= start >= 0 ? 1 << (start % 10 + start / 10 * 2 - 5) : 0;
        }
        CHECK(seen == 15 || v.data.ntransform > 1, "windows lie at %x", seen);
        unet_dataset_close(dataset);
    }
    UnetDataset *dataset = open_data(&v, UNET_EVALUATION);
    int32_t whole[3];
    unet_dataset_volume_size(dataset, 0, whole);
    CHECK(whole[0] == D && whole[1] == H && whole[2] == W, "labels are there of all of it");
    unet_dataset_close(dataset);
    write_scan("a_0000", 0);
}

/* ---- what changes numbers ---- */

enum { POINTS = 4 * 5 * 6 };

/* Numbers that the third transform draws in EPOCH. */
static double drawn(uint32_t epoch, uint64_t index) {
    const UnetKey key = {.seed = 5, .epoch = epoch, .stream = UNET_STREAM_TRANSFORM + 2};
    return unet_random_uniform(&key, index);
}

static double around_one(uint32_t epoch, uint64_t index, double low, double high) {
    const double part = drawn(epoch, index + 1);
    return drawn(epoch, index) < 0.5 ? low + part * (1 - low) : 1 + part * (high - 1);
}

/* The window of EPOCH before and after a transform, which happens with probability 1 and leaves labels
 * alone. */
static void change(UnetTransform transform, uint32_t epoch, float before[POINTS], float after[POINTS]) {
    Volumes v;
    Sample read[2];
    make_model(&v, 1, 4, 5, 6);
    v.transform[2] = transform;
    for (int i = 0; i < 2; i++) {
        v.data.ntransform = 2 + i;
        UnetDataset *dataset = open_data(&v, UNET_TRAINING);
        read_sample(dataset, 0, epoch, 1, 2, &read[i]);
        unet_dataset_close(dataset);
    }
    memcpy(before, read[0].scan, POINTS * sizeof *before);
    memcpy(after, read[1].scan, POINTS * sizeof *after);
    CHECK(memcmp(read[0].truth, read[1].truth, POINTS) == 0, "labels changed");
}

typedef struct {
    double mean, deviation, least, most;
} Facts;

static Facts facts_of(const float *value) {
    Facts f = {.least = (double)value[0], .most = (double)value[0]};
    for (int i = 0; i < POINTS; i++) {
        f.mean += (double)value[i] / POINTS;
        f.least = fmin(f.least, (double)value[i]);
        f.most = fmax(f.most, (double)value[i]);
    }
    for (int i = 0; i < POINTS; i++) {
        f.deviation += ((double)value[i] - f.mean) * ((double)value[i] - f.mean) / (POINTS - 1);
    }
    f.deviation = sqrt(f.deviation);
    return f;
}

static void expect(const char *what, int i, float value, double wanted) {
    CHECK(fabs((double)value - wanted) < 1e-3, "%s: point %d is %g, not %g", what, i, (double)value,
          wanted);
}

static void test_light(uint32_t epoch) {
    float before[POINTS], after[POINTS];
    change((UnetTransform){.op = UNET_DO_DISTORT, .p = 1, .amount = {0.25, 0}}, epoch, before, after);
    for (int i = 0; i < POINTS; i++) {
        expect("brightness", i, after[i], (double)before[i] * around_one(epoch, 8, 0.75, 1.25));
    }
    change((UnetTransform){.op = UNET_DO_DISTORT, .p = 1, .amount = {0, 0.25}}, epoch, before, after);
    const Facts f = facts_of(before);
    for (int i = 0; i < POINTS; i++) {
        const double wanted = ((double)before[i] - f.mean) * around_one(epoch, 10, 0.75, 1.25) + f.mean;
        expect("contrast", i, after[i], fmax(f.least, fmin(f.most, wanted)));
    }
}

static void test_gamma(uint32_t epoch, int inverts) {
    float before[POINTS], after[POINTS];
    double wanted[POINTS], mean = 0, deviation = 0;
    change((UnetTransform){.op = UNET_DO_GAMMA, .p = 1, .amount = {0.7, 1.5, inverts}}, epoch, before,
           after);
    const Facts f = facts_of(before);
    const double sign = inverts ? -1 : 1, least = inverts ? -f.most : f.least;
    for (int i = 0; i < POINTS; i++) {
        const double share = (sign * (double)before[i] - least) / (f.most - f.least);
        wanted[i] = sign * (pow(share, around_one(epoch, 8, 0.7, 1.5)) * (f.most - f.least) + least);
        mean += wanted[i] / POINTS;
    }
    for (int i = 0; i < POINTS; i++) {
        deviation += (wanted[i] - mean) * (wanted[i] - mean) / (POINTS - 1);
    }
    for (int i = 0; i < POINTS; i++) {
        expect("gamma", i, after[i], (wanted[i] - mean) * f.deviation / sqrt(deviation) + f.mean);
    }
}

static void test_noise(uint32_t epoch) {
    float before[POINTS], after[POINTS];
    double square = 0;
    const double sigma = 50 * drawn(epoch, 2);
    change((UnetTransform){.op = UNET_DO_NOISE, .p = 1, .amount = {50}}, epoch, before, after);
    for (int i = 0; i < POINTS; i++) {
        square += (double)(after[i] - before[i]) * (double)(after[i] - before[i]) / POINTS;
    }
    CHECK(fabs(sqrt(square) - sigma) < 0.25 * sigma, "noise of %g, not %g", sqrt(square), sigma);
    change((UnetTransform){.op = UNET_DO_NOISE, .p = 0, .amount = {50}}, epoch, before, after);
    CHECK(memcmp(before, after, sizeof before) == 0, "noise that does not happen");
}

static int reflected(int i, int n) {
    i = abs(i);
    return i < n ? i : 2 * (n - 1) - i;
}

/* One pass for each axis, over so many points that the ends of the windows reflect once. */
static void test_blur(uint32_t epoch) {
    static const int size[3] = {4, 5, 6}, step[3] = {30, 6, 1};
    float before[POINTS], after[POINTS];
    double now[POINTS], next[POINTS];
    change((UnetTransform){.op = UNET_DO_BLUR, .p = 1, .amount = {0.5, 1}}, epoch, before, after);
    for (int i = 0; i < POINTS; i++) {
        now[i] = (double)before[i];
    }
    for (int axis = 0; axis < 3 && drawn(epoch, 8) < 0.5; axis++) {
        const double sigma = 0.5 + 0.5 * drawn(epoch, 9 + (uint64_t)axis);
        const int radius = (int)(6 * sigma + 0.5) / 2;
        for (int i = 0; i < POINTS; i++) {
            const int here = i / step[axis] % size[axis];
            double sum = 0, weights = 0;
            for (int k = -radius; k <= radius; k++) {
                const double weight = exp(-k * k / (2 * sigma * sigma));
                sum += weight * now[i + (reflected(here + k, size[axis]) - here) * step[axis]];
                weights += weight;
            }
            next[i] = sum / weights;
        }
        memcpy(now, next, sizeof now);
    }
    for (int i = 0; i < POINTS; i++) {
        expect("blur", i, after[i], now[i]);
    }
}

/* Nearest down, by the middles, and linear up. */
static void test_low_resolution(uint32_t epoch) {
    static const int size[3] = {4, 5, 6}, step[3] = {30, 6, 1};
    float before[POINTS], after[POINTS];
    double now[POINTS], next[POINTS];
    change((UnetTransform){.op = UNET_DO_LOW_RESOLUTION, .p = 1, .amount = {0.5, 1}, .axes = 5}, epoch,
           before, after);
    for (int i = 0; i < POINTS; i++) {
        now[i] = (double)before[i];
    }
    for (int axis = 0; axis < 3 && drawn(epoch, 8) < 0.5; axis += 2) { /* not along height */
        const int n = size[axis], fewer = (int)nearbyint(n * (0.5 + 0.5 * drawn(epoch, 9)));
        for (int i = 0; i < POINTS; i++) {
            const int here = i / step[axis] % n;
            const double place = fmax((here + 0.5) * fewer / n - 0.5, 0);
            const int low = (int)place, high = low + 1 < fewer ? low + 1 : low;
            const int a = (int)((low + 0.5) * n / fewer), b = (int)((high + 0.5) * n / fewer);
            next[i] = now[i + (a - here) * step[axis]] +
                      (now[i + (b - here) * step[axis]] - now[i + (a - here) * step[axis]]) * (place - low);
        }
        memcpy(now, next, sizeof now);
    }
    for (int i = 0; i < POINTS; i++) {
        expect("low resolution", i, after[i], now[i]);
    }
}

/* By nnU-Net's formulas, from the numbers that are drawn. */
static void test_changes(void) {
    for (uint32_t epoch = 0; epoch < 6; epoch++) {
        test_light(epoch);
        test_gamma(epoch, 0);
        test_gamma(epoch, 1);
        test_noise(epoch);
        test_blur(epoch);
        test_low_resolution(epoch);
    }
}

/* ---- what turns and scales ---- */

/* By (x, y, z) times Rz Ry Rx, as nnU-Net has it: about depth, height, width by angles (of degrees), of a
 * place (z, y, x). */
static void turned(const double degrees[3], double at[3]) {
    double sine[3], cosine[3], x = at[2], y = at[1], z = at[0];
    for (int axis = 0; axis < 3; axis++) {
        sine[axis] = sin(degrees[axis] * 3.14159265358979323846 / 180);
        cosine[axis] = cos(degrees[axis] * 3.14159265358979323846 / 180);
    }
    const double x1 = x * cosine[0] + y * sine[0], y1 = y * cosine[0] - x * sine[0];
    const double x2 = x1 * cosine[1] - z * sine[1], z2 = z * cosine[1] + x1 * sine[1];
    at[0] = z2 * cosine[2] - y1 * sine[2];
    at[1] = y1 * cosine[2] + z2 * sine[2];
    at[2] = x2;
}

static int class_there(int z, int y, int x) {
    return z == 3 && y == 4 && x == 5 ? 1 : z == 7 && y == 8 && x == 9 ? 2 : 0;
}

/* The number at a place of the scan, nothing beside it; and the weight of each class there, behind the
 * weight of points beside the scan. */
static double look(const double at[3], double weight[4]) {
    double sum = 0;
    memset(weight, 0, 4 * sizeof *weight);
    for (int i = 0; i < 8; i++) {
        const int z = (int)floor(at[0]) + (i >> 2), y = (int)floor(at[1]) + (i >> 1 & 1),
                  x = (int)floor(at[2]) + (i & 1);
        const double share = (1 - fabs(at[0] - z)) * (1 - fabs(at[1] - y)) * (1 - fabs(at[2] - x));
        const bool inside = z >= 0 && z < D && y >= 0 && y < H && x >= 0 && x < W;
        weight[inside ? 1 + class_there(z, y, x) : 0] += share;
        sum += inside ? share * told(z, y, x) : 0;
    }
    return sum;
}

/* A window of EPOCH under TRANSFORM, which its third line is, is what PLACE says; returns how many of its
 * points are of a class above 0, or beside the volume. */
static int check_turned(UnetTransform transform, uint32_t epoch, const double degrees[3],
                        const double factor[3]) {
    static const int size[3] = {4, 5, 6};
    Volumes v;
    Sample read[2];
    int start[3], strange = 0;
    bool flip[3];
    make_model(&v, 1, 4, 5, 6);
    v.transform[2] = transform;
    for (int i = 0; i < 2; i++) {
        v.data.ntransform = 2 + i;
        UnetDataset *dataset = open_data(&v, UNET_TRAINING);
        read_sample(dataset, 0, epoch, 1, 2, &read[i]);
        unet_dataset_close(dataset);
    }
    check_window(&read[0], size, start, flip);
    for (int i = 0; i < POINTS; i++) {
        double at[3] = {i / 30 - 1.5, i / 6 % 5 - 2, i % 6 - 2.5}, weight[4], most = 0;
        int class = 0;
        turned(degrees, at);
        for (int axis = 0; axis < 3; axis++) {
            at[axis] =
                start[axis] + (size[axis] - 1) / 2.0 + (flip[axis] ? -1 : 1) * at[axis] * factor[axis];
        }
        expect("turned", i, read[1].scan[i], look(at, weight));
        for (int k = 0; k < 4; k++) {
            class = weight[k] > most ? k : class;
            most = fmax(most, weight[k]);
        }
        const int wanted = class == 0 ? UNET_IGNORED : class - 1;
        CHECK(read[1].truth[i] == wanted, "class of point %d is %d, not %d", i, read[1].truth[i], wanted);
        strange += wanted > 0;
    }
    return strange;
}

static void test_turns(void) {
    int strange = 0;
    for (uint32_t epoch = 0; epoch < 12; epoch++) {
        double degrees[3], factor[3] = {1, 1, 1};
        for (int axis = 0; axis < 3; axis++) {
            degrees[axis] = 30 * (2 * drawn(epoch, 1 + (uint64_t)axis) - 1);
        }
        strange += check_turned((UnetTransform){.op = UNET_DO_ROTATE, .p = 1, .axes = 7, .amount = {30}},
                                epoch, degrees, factor);
        memset(degrees, 0, sizeof degrees);
        factor[1] = factor[2] = 0.7 + 0.7 * drawn(epoch, 1);
        strange += check_turned(
            (UnetTransform){.op = UNET_DO_SCALE, .p = 1, .axes = 6, .amount = {1 / 1.4, 1 / 0.7}}, epoch,
            degrees, factor);
    }
    CHECK(strange > 20, "%d points of a class or beside the volume", strange);
}

/* The second of two samples shows a class, in its middle where it can. */
static void test_foreground(void) {
    static const int size[3] = {4, 5, 6};
    Volumes v;
    make_model(&v, 1, 4, 5, 6);
    v.data.ntransform = 1;
    v.transform[0].amount[0] = 0.33;
    UnetDataset *dataset = open_data(&v, UNET_TRAINING);
    int classes[3] = {0}, first = 0;
    for (uint32_t epoch = 0; epoch < 40; epoch++) {
        Sample read;
        int start[3];
        bool flip[3];
        read_sample(dataset, 0, epoch, 1, 2, &read);
        check_window(&read, size, start, flip);
        const bool one = start[0] == 1 && start[1] == 2 && start[2] == 2; /* (3, 4, 5) less (2, 2, 3) */
        const bool two = start[0] == 4 && start[1] == 4 && start[2] == 4; /* at the end, unpadded */
        CHECK(one || two, "starts at (%d, %d, %d)", start[0], start[1], start[2]);
        classes[one ? 1 : 2]++;
        read_sample(dataset, 0, epoch, 0, 2, &read);
        first += memchr(read.truth, 1, 120) != NULL;
    }
    CHECK(classes[1] > 8 && classes[2] > 8, "classes are drawn alike: %d and %d", classes[1], classes[2]);
    CHECK(first < 35, "the first sample is anywhere: %d", first);
    unet_dataset_close(dataset);

    v.transform[0].pad = UNET_PAD_MEAN; /* then a window may reach beyond the end */
    v.inputs[0].normalizing = UNET_NORMALIZED_EACH;
    dataset = open_data(&v, UNET_TRAINING);
    bool reached = false;
    for (uint32_t epoch = 0; epoch < 10; epoch++) {
        Sample read;
        read_sample(dataset, 0, epoch, 1, 2, &read);
        const int middle = (2 * 5 + 2) * 6 + 3;
        CHECK(read.truth[middle] > 0, "a class lies in the middle");
        if (read.truth[middle] == 2) {
            reached = true;
            CHECK(read.scan[119] == 0 && read.truth[119] == UNET_IGNORED, "beside the volume");
        }
    }
    CHECK(reached, "class 2 was drawn");
    unet_dataset_close(dataset);
}

static void hear_padded(void *context, const char *note) {
    *(bool *)context |=
        strstr(note, "can be smaller than the window of 4 x 10 x 3: they are padded by the mean") != NULL;
}

/* A volume of 9 rows in a window of 10, where `crop` says nothing of that. */
static void test_smaller(void) {
    Volumes v;
    make_model(&v, 1, 4, 10, 3);
    v.inputs[0].normalizing = UNET_NORMALIZED_EACH;
    UnetDataset *dataset = open_data(&v, UNET_TRAINING);
    bool told = false;
    unet_dataset_notes(dataset, hear_padded, &told);
    CHECK(told, "padding is told");
    for (uint32_t epoch = 0; epoch < 10; epoch++) {
        Sample read;
        int beside = 0;
        read_sample(dataset, 0, epoch, 0, 2, &read);
        for (int i = 0; i < 4 * 10 * 3; i++) {
            const bool ignored = read.truth[i] == UNET_IGNORED;
            CHECK(!ignored || read.scan[i] == 0, "beside the volume there is its mean");
            beside += ignored;
        }
        CHECK(beside == 4 * 3, "%d points beside the volume", beside);
    }
    unet_dataset_close(dataset);
}

static void test_normal(void) {
    Volumes v;
    Sample read;
    make_model(&v, 2, 8, 9, 10);
    v.data.ntransform = 0;
    v.inputs[0].normalizing = UNET_NORMALIZED_EACH;
    int16_t second[VOXELS] = {0}; /* a box of 2 x 2 x 2 in nothing, and both count in the larger box */
    for (int i = 0; i < 8; i++) {
        second[((2 + i / 4) * H + 3 + i / 2 % 2) * W + 4 + i % 2] = (int16_t)(10 + i);
    }
    Nifti scan = nifti_make(D, H, W, 4, 16, second);
    nifti_place(&scan, 2, 1, 0.5f, 0);
    nifti_write(&scan, file("img", "a_0001"), 0);
    UnetDataset *dataset = open_data(&v, UNET_TRAINING);
    read_sample(dataset, 0, 0, 0, 1, &read);
    for (int c = 0; c < 2; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < VOXELS; i++) {
            const double value = c == 0 ? told(i / (H * W), i / W % H, i % W) : second[i];
            sum += value / VOXELS;
            squares += value * value / VOXELS;
        }
        const double deviation = sqrt(squares - sum * sum);
        for (int i = 0; i < VOXELS; i += 7) {
            const double value = c == 0 ? told(i / (H * W), i / W % H, i % W) : second[i];
            CHECK(fabs((double)read.scan[2 * i + c] - (value - sum) / deviation) < 1e-5,
                  "channel %d, voxel %d", c, i);
        }
    }
    unet_dataset_close(dataset);
    CHECK(unlink(file("img", "a_0001")) == 0, "the second channel");

    make_model(&v, 1, 8, 9, 10); /* measured as pictures are */
    v.data.ntransform = 0;
    v.inputs[0].normalizing = UNET_NORMALIZED_AS_MEASURED;
    dataset = open_data(&v, UNET_TRAINING);
    UnetNormal normal[2];
    UnetError error;
    CHECK_OK(unet_dataset_measure(dataset, normal, &error), error);
    CHECK(fabs(normal[0].mean[0] - 395.5) < 1e-9, "the mean is %.17g", normal[0].mean[0]);
    unet_dataset_close(dataset);
}

static int ascending(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

/* Percentiles, mean and deviation of voxels of a class above 0: all but the first 20 voxels. */
static void test_ct(void) {
    Volumes v;
    Sample read;
    UnetNormal normal[2];
    UnetError error;
    int16_t voxel[VOXELS], sorted[VOXELS];
    make_model(&v, 1, 8, 9, 10);
    v.data.ntransform = 0;
    v.inputs[0].normalizing = UNET_NORMALIZED_CT;
    for (int i = 0; i < VOXELS; i++) {
        voxel[i] = i >= 20;
    }
    Nifti labels = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&labels, 2, 1, 0.5f, 0);
    nifti_write(&labels, file("seg", "a"), 0);
    for (int i = 0; i < VOXELS; i++) {
        sorted[i] = voxel[i] = (int16_t)((i * 7919 % 1000) * 3 - 1024);
    }
    Nifti scan = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&scan, 2, 1, 0.5f, 0);
    nifti_write(&scan, file("img", "a_0000"), 0);
    UnetDataset *dataset = open_data(&v, UNET_TRAINING);
    CHECK_OK(unet_dataset_measure(dataset, normal, &error), error);
    const int count = VOXELS - 20;
    qsort(sorted + 20, (size_t)count, sizeof *sorted, ascending);
    double sum = 0, squares = 0;
    for (int i = 20; i < VOXELS; i++) {
        sum += (double)sorted[i] / count;
        squares += (double)sorted[i] * sorted[i] / count;
    }
    const double low = sorted[20 + 3] + 0.495 * (sorted[20 + 4] - sorted[20 + 3]); /* 0.005 * 699 = 3.495 */
    const double high = sorted[20 + 695] + 0.505 * (sorted[20 + 696] - sorted[20 + 695]);
    CHECK(fabs(normal[0].mean[0] - sum) < 1e-9 &&
              fabs(normal[0].deviation[0] - sqrt(squares - sum * sum)) < 1e-9,
          "mean %.17g, deviation %.17g", normal[0].mean[0], normal[0].deviation[0]);
    CHECK(normal[0].clips && fabs(normal[0].low[0] - low) < 1e-9 && fabs(normal[0].high[0] - high) < 1e-9,
          "clipped to %.17g, %.17g and not %.17g, %.17g", normal[0].low[0], normal[0].high[0], low, high);
    unet_dataset_normalize(dataset, normal);
    read_sample(dataset, 0, 0, 0, 1, &read);
    for (int i = 0; i < VOXELS; i++) {
        const double clipped = fmin(fmax(voxel[i], low), high);
        CHECK(fabs((double)read.scan[i] - (clipped - sum) / normal[0].deviation[0]) < 1e-5, "voxel %d", i);
    }
    unet_dataset_close(dataset);
    write_labels("a", false, 0);
    dataset = open_data(&v, UNET_TRAINING);
    CHECK_FAILS(unet_dataset_measure(dataset, normal, &error), error,
                "a class above 0, and the training data");
    unet_dataset_close(dataset);
    write_scan("a_0000", 0);
    write_labels("a", true, 0);
}

/* Evaluation shows the middle of a larger volume, and all of a smaller one. */
static void test_evaluation(void) {
    static const int size[3] = {4, 5, 6};
    Volumes v;
    Sample read;
    int start[3];
    bool flip[3];
    make_model(&v, 1, 4, 5, 6);
    UnetDataset *dataset = open_data(&v, UNET_EVALUATION);
    read_sample(dataset, 0, 0, 0, 1, &read);
    check_window(&read, size, start, flip);
    CHECK(start[0] == 2 && start[1] == 2 && start[2] == 2, "the middle");
    CHECK(read.valid[0] == 4 && read.valid[1] == 5 && read.valid[2] == 6, "all of it counts");
    unet_dataset_close(dataset);
    make_model(&v, 1, 10, 10, 12);
    dataset = open_data(&v, UNET_EVALUATION);
    read_sample(dataset, 0, 0, 0, 1, &read);
    CHECK(read.valid[0] == D && read.valid[1] == H && read.valid[2] == W, "what counts is the volume");
    CHECK(read.scan[0] == 1 && read.scan[(7 * 10 + 8) * 12 + 9] == (float)told(7, 8, 9), "from its corner");
    CHECK(read.scan[8 * 120] == (float)told(6, 0, 0), "behind it reflected");
    unet_dataset_close(dataset);
}

static void check_fails(Volumes *v, const char *said) {
    UnetDataset *dataset;
    UnetError error;
    CHECK_FAILS(unet_dataset_open(&dataset, &v->model, UNET_TRAINING, unet_in_folder(folder), &error),
                error, said);
}

static int heard;
static char last_note[1024];

static void hear(void *context, const char *problem) {
    (void)context;
    heard++;
    snprintf(last_note, sizeof last_note, "%s", problem);
}

static void hear_problem(void *context, const UnetError *problem) {
    hear(context, problem->text);
}

/* Notes that are of dataset.json. */
static void hear_json(void *context, const char *note) {
    if (strstr(note, "dataset.json") != NULL) {
        hear(context, note);
    }
}

static bool told_of[4];

static void listen(void *context, const char *note) {
    static const char *const wanted[] = {
        "scan: warning: 2 voxels of \"img/*_0000.nii.gz\" are not finite, and count as 0",
        ("scan: warning: voxels of 2 x 1 x 0.5 to 4 x 1 x 0.5 mm (depth first): they are not resampled "
         "without `spacing`"),
        "scan: warning: axes point to RAS in 1 volume (a), RAI in 1 volume (b): they are not turned",
        "truth: warning: 1 of 2 volumes have no voxel of a class above 0, such as b"};
    (void)context;
    for (int i = 0; i < 4; i++) {
        told_of[i] |= strcmp(note, wanted[i]) == 0;
    }
}

/* A second sample with larger voxels, upside down, with nothing in it, and numbers that are none. */
static void test_notes(void) {
    Volumes v;
    UnetDataCheck check;
    UnetError error;
    float voxel[VOXELS] = {NAN, INFINITY, 1};
    int16_t empty[VOXELS] = {0};
    make_model(&v, 1, 4, 5, 6);
    v.model.eval_data = NULL;
    Nifti scan = nifti_make(D, H, W, 16, 32, voxel), labels = nifti_make(D, H, W, 4, 16, empty);
    nifti_place(&scan, -4, 1, 0.5f, 0);
    nifti_place(&labels, -4, 1, 0.5f, 0);
    nifti_write(&scan, file("img", "b_0000"), 0);
    nifti_write(&labels, file("seg", "b"), 0);
    CHECK_OK(unet_check_data(&v.model, unet_in_folder(folder), hear_problem, listen, NULL, &check, &error),
             error);
    CHECK(check.problems == 0 && check.samples[UNET_TRAINING] == 2, "%d problems", (int)check.problems);
    for (int i = 0; i < 4; i++) {
        CHECK(told_of[i], "note %d", i);
    }
}

/* Checks the lines of check-data on a dataset.json. */
static void check_json(Volumes *v, const char *json, const char *said) {
    UnetDataCheck check;
    UnetError error;
    snprintf(path, sizeof path, "%s/dataset.json", folder);
    FILE *out = fopen(path, "w");
    CHECK(out != NULL && fputs(json, out) != EOF && fclose(out) == 0, "dataset.json");
    last_note[0] = '\0';
    CHECK_OK(
        unet_check_data(&v->model, unet_in_folder(folder), hear_problem, hear_json, NULL, &check, &error),
        error);
    CHECK(strstr(last_note, said) != NULL, "\"%s\" is not said, but \"%s\"", said, last_note);
    CHECK(unlink(path) == 0, "dataset.json");
}

static void test_json(void) {
    Volumes v;
    make_model(&v, 1, 4, 5, 6);
    v.model.eval_data = NULL;
    check_json(&v,
               "{\"labels\": {\"background\": 0, \"a\": 1, \"b\": 2}, \"channel_names\": {\"0\": \"T1\"}}",
               "names the channel \"T1\", for which nnU-Net would `normalize \"zscore\"`");
    v.inputs[0].normalizing = UNET_NORMALIZED_CT;
    check_json(&v,
               "{\"labels\": {\"background\": 0, \"a\": 1, \"b\": 2}, \"channel_names\": {\"0\": \"ct\"}}",
               "");
    check_json(&v,
               "{\"labels\": {\"background\": 0, \"a\": [1, 2], \"b\": 2}, \"modality\": {\"0\": \"CT\"}}",
               "has regions");
    check_json(&v, "{\"labels\": {\"background\": 0, \"a\": 1}, \"channel_names\": {\"0\": \"CT\"}}",
               "dataset.json has labels up to 1, and \"truth\" has 3 classes: declare `labels(2)`");
    check_json(&v,
               "{\"labels\": {\"background\": 0, \"a\": 1, \"b\": 2, \"ignore\": 3}, "
               "\"channel_names\": {\"0\": \"CT\"}}",
               "label 3 counts nowhere: declare `labels(3, ignore = 3)`");
    check_json(&v,
               "{\"labels\": {\"background\": 0, \"a\": 1, \"b\": 2}, "
               "\"channel_names\": {\"0\": \"T1\", \"1\": \"T2\"}}",
               "names 2 channels, and \"scan\" reads 1");
    check_json(&v,
               "{\"labels\": {\"background\": 0, \"a\": 1, \"b\": 2}, "
               "\"channel_names\": {\"0\": \"CT\"}, \"numTraining\": 9}",
               "speaks of 9 cases, and there are 1");
    check_json(&v, "{\"labels\": {\"a\": -1}}", "the label \"a\" is no whole number");
    check_json(&v, "{\n\"labels\"", "dataset.json:2: ");
    check_json(&v, "[]", "is no object");
    check_json(&v, "{}", "has no object \"labels\"");
}

/* The note that says how large voxels are. */
static void hear_rounded(void *context, const char *note) {
    if (strstr(note, "whole numbers") != NULL) {
        hear(context, note);
    }
}

static void hear_spacing(void *context, const char *note) {
    if (strstr(note, "voxels of") != NULL) {
        hear(context, note);
    }
}

/* Voxels of 2 x 1 x 0.5 mm become some of 1 x 1 x 1: 16 x 9 x 5, linear, and of labels the nearest. */
static void test_spacing(void) {
    enum { TO = 16 * 9 * 5 };
    Volumes v;
    UnetDataCheck check;
    UnetError error;
    make_model(&v, 1, 16, 9, 5);
    v.data.ntransform = 0;
    memcpy(v.model.spacing, (const double[]){1, 1, 1}, sizeof v.model.spacing);
    UnetDataset *dataset = open_data(&v, UNET_EVALUATION);
    static Sample read;
    read_sample(dataset, 0, 0, 0, 1, &read);
    for (int i = 0; i < TO; i++) {
        const int z = i / 45, y = i / 5 % 9, x = i % 5;
        /* Scans are linear in the place of a voxel, so it is the place that counts, and where it ends. */
        const double depth = fmin(fmax((z + 0.5) / 2 - 0.5, 0), D - 1), width = (x + 0.5) * 2 - 0.5;
        const double scan = 100 * depth + 10 * y + width + 1;
        CHECK(fabs((double)read.scan[i] - scan) < 1e-3, "voxel %d is %g, and not %g", i,
              (double)read.scan[i], scan);
        const int near = (z / 2 * H + y) * W + 2 * x + 1;
        const int class = near == (3 * H + 4) * W + 5 ? 1 : near == (7 * H + 8) * W + 9 ? 2 : 0;
        CHECK(read.truth[i] == class, "class of voxel %d is %d", i, read.truth[i]);
    }
    unet_dataset_close(dataset);
    v.model.eval_data = NULL;
    CHECK_OK(
        unet_check_data(&v.model, unet_in_folder(folder), hear_problem, hear_spacing, NULL, &check, &error),
        error);
    CHECK(strcmp(last_note, "scan: voxels of 2 x 1 x 0.5 mm (depth first), resampled to 1 x 1 x 1 mm") == 0,
          "\"%s\"", last_note);
}

/* Labels of b that were saved through a slope: stored numbers of class 1 and 2, others 0. */
static void write_scaled_labels(int16_t one, int16_t two, float slope) {
    int16_t voxel[VOXELS] = {0};
    voxel[(3 * H + 4) * W + 5] = one;
    voxel[(7 * H + 8) * W + 9] = two;
    Nifti labels = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&labels, 2, 1, 0.5f, 0);
    nifti_f32(&labels, NIFTI_SLOPE, slope);
    nifti_write(&labels, file("seg", "b"), 0);
}

/* Numbers near to whole ones become whole, with a note; an error tells the place of others. */
static void test_scaled_labels(void) {
    Volumes v;
    UnetDataCheck check;
    UnetError error;
    UnetDataset *dataset;
    make_model(&v, 1, 4, 5, 6);
    v.data.ntransform = 1;
    write_scan("b_0000", 0);
    write_scaled_labels(16384, 32767, 6.1037e-5f);
    heard = 0;
    CHECK_OK(
        unet_check_data(&v.model, unet_in_folder(folder), hear_problem, hear_rounded, NULL, &check, &error),
        error);
    CHECK(check.problems == 0 && heard == 2, "%d problems, %d notes: %s", (int)check.problems, heard,
          last_note);
    CHECK(strcmp(last_note, "truth: 2 voxels of \"seg/*.nii.gz\" are no whole numbers, and count as the "
                            "nearest") == 0,
          "\"%s\"", last_note);
    write_scaled_labels(260, 520, 0.0038f);
    check_fails(&v,
                "b.nii.gz: voxel (5, 4, 3) (x, y, z) is 0.988, by the slope 0.0038 and intercept 0 of its "
                "header");
    v.source[1].rounds = true;
    CHECK_OK(unet_dataset_open(&dataset, &v.model, UNET_TRAINING, unet_in_folder(folder), &error), error);
    float row[W];
    CHECK_OK(unet_dataset_classes(dataset, 1, 1, 3, 4, row, &error), error);
    CHECK(row[5] == 1 && row[4] == 0, "class %g", (double)row[5]);
    unet_dataset_close(dataset);
    v.source[1].rounds = false;
    write_labels("b", true, 0);
}

static void test_mistakes(void) {
    Volumes v;
    UnetDataCheck check;
    UnetError error;
    heard = 0;
    make_model(&v, 1, 4, 5, 6);
    v.data.ntransform = 0;
    check_fails(&v, "a_0000.nii.gz is 8 x 9 x 10 voxels, and without `crop` it must be 4 x 5 x 6");
    make_model(&v, 1, 4, 5, 6);
    write_scan("b_0000", 3);
    write_labels("b", true, 0);
    check_fails(&v, "b.nii.gz does not lie where its partner");
    write_scan("b_0000", 0);
    write_labels("b", true, 7);
    check_fails(&v, "seg/b.nii.gz has a point of value 7");
    write_labels("b", true, -1);
    check_fails(&v, "seg/b.nii.gz holds no classes: its voxels go from -1 to 2");
    CHECK_OK(unet_check_data(&v.model, unet_in_folder(folder), hear_problem, NULL, NULL, &check, &error),
             error);
    CHECK(heard == 2 && check.problems == 2 && /* of both sections */ check.samples[UNET_TRAINING] == 1,
          "%d problems: %s", heard, last_note);
    FILE *picture = fopen(file("img", "b_0000"), "wb");
    for (int i = 0; picture != NULL && i < 100; i++) {
        fputs("\x89PNG\r\n\x1a\n", picture);
    }
    CHECK(picture != NULL && fclose(picture) == 0, "a picture");
    write_labels("b", false, 0);
    check_fails(&v, "img/b_0000.nii.gz: no NIfTI-1 file");
}

int main(void) {
    make_folder(folder);
    write_scan("a_0000", 0);
    write_labels("a", true, 0);
    test_windows();
    test_trim();
    test_changes();
    test_turns();
    test_foreground();
    test_smaller();
    test_normal();
    test_ct();
    test_evaluation();
    test_spacing();
    test_json();
    test_notes();
    test_scaled_labels();
    test_mistakes();
    remove_folder(folder);
    return check_result();
}
