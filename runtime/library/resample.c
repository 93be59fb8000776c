/* resample.c - slices of one grid from those of another (unet/resample.h).
 *
 *     fed    --> along x --> along y --> one of two planes --> along z --> taken
 *
 * Slice k of the old grid lies in plane k mod 2: what a slice of the new grid needs are two neighbours.
 */
#include "unet/resample.h"
#include "size_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3 };

/* Along one axis. */
typedef struct {
    int32_t from, to;
    int32_t *low; /* of each point of the new axis the voxel at or before it, */
    double *part; /*   and how far on it lies toward the next one, from 0 to 1; nearest: 0 */
} Axis;

struct UnetResampler {
    Axis axis[AXES]; /* z, y, x */
    float *lines;    /* old height, new width */
    float *plane[2]; /* new height and width */
    int32_t fed, taken;
};

static void place(const Axis *axis, UnetInterpolation how) {
    for (int64_t i = 0; i < axis->to; i++) {
        if (how == UNET_NEAREST || axis->from == axis->to) {
            axis->low[i] = (int32_t)((2 * i + 1) * axis->from / (2 * (int64_t)axis->to));
            continue;
        }
        const double p = ((double)i + 0.5) * axis->from / axis->to - 0.5,
                     inside = fmin(fmax(p, 0), axis->from - 1);
        axis->low[i] = (int32_t)inside;
        axis->part[i] = inside - axis->low[i];
    }
}

static bool make_axis(Axis *axis, int32_t from, int32_t to, UnetInterpolation how) {
    *axis = (Axis){.from = from, .to = to};
    axis->low = calloc((size_t)to, sizeof *axis->low);
    axis->part = calloc((size_t)to, sizeof *axis->part);
    if (axis->low == NULL || axis->part == NULL) {
        return false;
    }
    place(axis, how);
    return true;
}

static float *new_plane(int32_t height, int32_t width) {
    size_t points;
    return checked_mul((size_t)height, (size_t)width, &points) ? calloc(points, sizeof(float)) : NULL;
}

UnetResampler *unet_resampler_new(const int32_t from[3], const int32_t to[3], UnetInterpolation how) {
    UnetResampler *r = calloc(1, sizeof *r);
    bool good = r != NULL;
    for (int i = 0; i < AXES && good; i++) {
        good = make_axis(&r->axis[i], from[i], to[i], how);
    }
    if (good) {
        r->lines = new_plane(from[1], to[2]);
        r->plane[0] = new_plane(to[1], to[2]);
        r->plane[1] = new_plane(to[1], to[2]);
        good = r->lines != NULL && r->plane[0] != NULL && r->plane[1] != NULL;
    }
    if (!good) {
        unet_resampler_free(r);
        return NULL;
    }
    return r;
}

void unet_resampler_free(UnetResampler *resampler) {
    for (int i = 0; resampler != NULL && i < AXES; i++) {
        free(resampler->axis[i].low);
        free(resampler->axis[i].part);
    }
    if (resampler != NULL) {
        free(resampler->lines);
        free(resampler->plane[0]);
        free(resampler->plane[1]);
    }
    free(resampler);
}

static float between(float a, float b, double part) {
    return (float)((double)a + ((double)b - (double)a) * part);
}

/* The voxel behind what point I is made of. */
static int32_t high(const Axis *axis, int32_t i) {
    return axis->part[i] > 0 ? axis->low[i] + 1 : axis->low[i];
}

static void mix_rows(const float *a, const float *b, double part, size_t count, float *row) {
    if (!(part > 0)) {
        memcpy(row, a, count * sizeof *row);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        row[i] = between(a[i], b[i], part);
    }
}

static void fill_plane(const UnetResampler *r, const float *slice, float *plane) {
    const Axis *y = &r->axis[1], *x = &r->axis[2];
    const size_t width = (size_t)x->to;
    for (int32_t row = 0; row < y->from; row++) {
        const float *line = slice + (size_t)row * (size_t)x->from;
        float *out = r->lines + (size_t)row * width;
        for (int32_t i = 0; i < x->to; i++) {
            const float first = line[x->low[i]];
            out[i] = x->part[i] > 0 ? between(first, line[x->low[i] + 1], x->part[i]) : first;
        }
    }
    for (int32_t row = 0; row < y->to; row++) {
        mix_rows(r->lines + (size_t)y->low[row] * width, r->lines + (size_t)high(y, row) * width,
                 y->part[row], width, plane + (size_t)row * width);
    }
}

void unet_resampler_feed(UnetResampler *resampler, const float *slice) {
    const Axis *z = &resampler->axis[0];
    const int32_t next = resampler->taken, slot = resampler->fed % 2;
    if (next < z->to && resampler->fed >= z->low[next]) {
        fill_plane(resampler, slice, resampler->plane[slot]);
    }
    resampler->fed++;
}

bool unet_resampler_ready(const UnetResampler *resampler) {
    return resampler->taken < resampler->axis[0].to &&
           resampler->fed > high(&resampler->axis[0], resampler->taken);
}

void unet_resampler_take(UnetResampler *resampler, float *slice) {
    const Axis *z = &resampler->axis[0];
    const int32_t i = resampler->taken++;
    mix_rows(resampler->plane[z->low[i] % 2], resampler->plane[high(z, i) % 2], z->part[i],
             (size_t)resampler->axis[1].to * (size_t)resampler->axis[2].to, slice);
}
