/* dataset_turn.c - windows of volumes that are turned, scaled and mirrored, composed to one map, so that
 * each of their points is taken from the files once.
 *
 *     window --mirrored, scaled, turned about its middle--> volume --8 voxels--> point
 *
 * Numbers are linear between voxels; a point beside the volume has the value that `pad` says, which comes
 * to the share of its voxels once all else is normalised.  Each label has the weights of its voxels, and
 * the heaviest label counts, or the least of equally heavy ones; a point beside the volume is a label, too,
 * and comes before them all.  nnU-Net computes the same, class by class.
 *
 * Requires: the place of the window.  Provides: in some samples of training another way to their rows.
 */
#include "dataset_reading.h"
#include "unet/layout.h"

#include <math.h>
#include <string.h>

/* Which numbers a key draws for what. */
enum { CHANCE, FACTOR, ANGLES = FACTOR };

enum { BESIDE = -1 };

/* Axes here: 0 depth, 1 height, 2 width, as they lie in files. */
static int window_axis(int axis) {
    return axis == 0 ? 2 : axis - 1;
}

static bool turn_needed(const UnetTransform *transform, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (transform[i].op == UNET_DO_ROTATE || transform[i].op == UNET_DO_SCALE) {
            return true;
        }
    }
    return false;
}

/* ---- random numbers --------------------------------------------------------------------------- */

/* Composes M with STEP, which comes first: M takes a place from the right. */
static void compose(double m[3][3], double step[3][3]) {
    double both[3][3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            both[i][k] = m[i][0] * step[0][k] + m[i][1] * step[1][k] + m[i][2] * step[2][k];
        }
    }
    memcpy(m, both, sizeof both);
}

static void identity(double m[3][3]) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            m[i][k] = i == k;
        }
    }
}

/* About depth first, then height, then width, each by an angle of its own. */
static void rotate(double m[3][3], const UnetTransform *transform, const UnetKey *key) {
    static const int plane[3][2] = {{2, 1}, {2, 0}, {1, 0}}; /* the axes that turn about each */
    static const double PI = 3.14159265358979323846;
    for (int axis = 2; axis >= 0; axis--) {
        const double part = 2 * unet_random_uniform(key, ANGLES + (uint64_t)axis) - 1;
        const double angle = part * transform->amount[0] * PI / 180;
        const double sign = axis == 1 ? -1 : 1; /* about height the other way round, as nnU-Net turns */
        double step[3][3];
        identity(step);
        if ((transform->axes >> axis & 1) != 0) {
            const int a = plane[axis][0], b = plane[axis][1];
            step[a][a] = step[b][b] = cos(angle);
            step[a][b] = sign * sin(angle);
            step[b][a] = -step[a][b];
        }
        compose(m, step);
    }
}

/* A window shows the more of a volume the smaller the factor is. */
static void scale(double m[3][3], const UnetTransform *transform, const UnetKey *key) {
    const double *amount = transform->amount;
    const double least = 1 / amount[1], most = 1 / amount[0];
    double step[3][3];
    identity(step);
    for (int axis = 0; axis < 3; axis++) {
        if ((transform->axes >> axis & 1) != 0) {
            step[axis][axis] = least + (most - least) * unet_random_uniform(key, FACTOR);
        }
    }
    compose(m, step);
}

static void mirror(double m[3][3], const UnetTransform *transform, const UnetKey *key) {
    double step[3][3];
    identity(step);
    for (int axis = 0; axis < 3; axis++) {
        step[axis][axis] = window_flips(transform, key, window_axis(axis)) ? -1 : 1;
    }
    compose(m, step);
}

void turn_draw(Reading *at) {
    const UnetDataset *dataset = at->dataset;
    Turn *turn = &at->turn;
    turn->turns = false;
    identity(turn->m);
    for (int32_t i = 0; i < dataset->ntransform && dataset->purpose == UNET_TRAINING; i++) {
        const UnetTransform *transform = &dataset->transform[i];
        UnetKey key = at->key;
        key.stream = UNET_STREAM_TRANSFORM + (uint32_t)i;
        const bool happens = unet_random_uniform(&key, CHANCE) < transform->p;
        if (transform->op == UNET_DO_FLIP) {
            mirror(turn->m, transform, &key);
        } else if (transform->op == UNET_DO_ROTATE && happens) {
            rotate(turn->m, transform, &key);
            turn->turns = true;
        } else if (transform->op == UNET_DO_SCALE && happens) {
            scale(turn->m, transform, &key);
            turn->turns = true;
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        const int of = window_axis(axis);
        turn->middle[axis] = (double)at->window.start[of] + (at->window.size[of] - 1) / 2.0;
    }
}

/* ---- points ----------------------------------------------------------------------------------- */

static void find_corners(const Reading *at, const double place[3], Corners *c) {
    const int32_t *size = at->sample->volume[0].info.size;
    int64_t index[3][2];
    float weight[3][2];
    bool all = true;
    c->inside = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double low = floor(place[axis]);
        for (int i = 0; i < 2; i++) {
            const int of = window_axis(axis);
            const int64_t in = unet_pad_index(at->window.pad, (int64_t)low + i, at->sample->size[of]);
            index[axis][i] = in < 0 ? in : in + at->sample->origin[of];
        }
        weight[axis][1] = (float)(place[axis] - low);
        weight[axis][0] = 1 - weight[axis][1];
    }
    for (int i = 0; i < CORNERS; i++) {
        const int64_t z = index[0][i >> 2], y = index[1][i >> 1 & 1], x = index[2][i & 1];
        c->weight[i] = weight[0][i >> 2] * weight[1][i >> 1 & 1] * weight[2][i & 1];
        c->voxel[i] = z < 0 || y < 0 || x < 0 ? BESIDE : (z * size[1] + y) * size[2] + x;
        all &= c->voxel[i] != BESIDE;
        c->inside += c->voxel[i] == BESIDE ? 0 : c->weight[i];
    }
    c->inside = all ? 1 : c->inside;
}

static float voxel_at(const UnetVoxels *volume, int64_t at) {
    switch (volume->info.type) {
    case UNET_VOXEL_U8:
        return ((const uint8_t *)volume->voxel)[at];
    case UNET_VOXEL_I8:
        return ((const int8_t *)volume->voxel)[at];
    case UNET_VOXEL_U16:
        return ((const uint16_t *)volume->voxel)[at];
    case UNET_VOXEL_I16:
        return ((const int16_t *)volume->voxel)[at];
    case UNET_VOXEL_F32:
        break;
    }
    return ((const float *)volume->voxel)[at];
}

/* The number between the voxels that are there. */
static float number_at(const UnetVoxels *volume, const Corners *c) {
    float sum = 0;
    for (int i = 0; i < CORNERS; i++) {
        sum += c->voxel[i] == BESIDE ? 0 : c->weight[i] * voxel_at(volume, c->voxel[i]);
    }
    return c->inside > 0 ? sum / c->inside : 0;
}

/* The value that weighs most; BESIDE: what lies beside the volume does. */
static float label_at(const UnetVoxels *volume, const Corners *c) {
    float value[CORNERS], best = BESIDE, most = 0;
    for (int i = 0; i < CORNERS; i++) {
        value[i] = c->voxel[i] == BESIDE ? BESIDE : voxel_at(volume, c->voxel[i]);
    }
    for (int i = 0; i < CORNERS; i++) {
        float sum = 0;
        for (int k = 0; k < CORNERS; k++) {
            sum += value[k] == value[i] ? c->weight[k] : 0;
        }
        if (sum > most || (sum == most && value[i] < best)) {
            best = value[i];
            most = sum;
        }
    }
    return best;
}

void turn_row(const Reading *at) {
    const FileWindow *window = &at->window;
    for (int32_t x = 0; x < window->size[1]; x++) {
        const double from[3] = {at->slice - (window->size[2] - 1) / 2.0,
                                at->row - (window->size[0] - 1) / 2.0, x - (window->size[1] - 1) / 2.0};
        double place[3];
        for (int axis = 0; axis < 3; axis++) {
            const double *m = at->turn.m[axis];
            place[axis] = at->turn.middle[axis] + m[0] * from[0] + m[1] * from[1] + m[2] * from[2];
        }
        find_corners(at, place, &at->scratch.corners[x]);
        at->scratch.map[1][x] = at->scratch.corners[x].inside > 0 ? x : -1;
    }
}

void turn_push(const Reading *at, int32_t series, float *operand) {
    const UnetVoxels *volume = &at->sample->volume[series];
    const bool labels = dataset_is_labels(at->dataset, at->dataset->series[series].source);
    for (int32_t x = 0; x < at->window.size[1]; x++) {
        const Corners *corners = &at->scratch.corners[x];
        operand[x] = labels ? label_at(volume, corners) : number_at(volume, corners);
        if (labels) {
            at->scratch.labelled[x] = operand[x] == BESIDE ? -1 : x;
            operand[x] = operand[x] == BESIDE ? 0 : operand[x];
        }
    }
}

void turn_blend(const Reading *at, int32_t channels, const float *fill, const float *value, float *into) {
    const int32_t width = at->window.size[1];
    for (int32_t c = 0; c < channels; c++) {
        for (int32_t x = 0; x < width; x++) {
            const float inside = at->scratch.corners[x].inside;
            into[c * width + x] =
                inside < 1 ? inside * value[c * width + x] + (1 - inside) * fill[c] : value[c * width + x];
        }
    }
}

bool turn_plan_scratch(UnetDataset *dataset) {
    ScratchPlan *plan = &dataset->scratch;
    const bool turns = dataset->volumes && turn_needed(dataset->transform, dataset->ntransform);
    const size_t width = turns ? (size_t)dataset->widest[1] : 0;
    return scratch_reserve(plan, &plan->corners, width, sizeof(Corners)) &&
           scratch_reserve(plan, &plan->labelled, width, sizeof(int32_t));
}
