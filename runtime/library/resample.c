/* resample.c - slices of one grid from slices of another (unet/resample.h).
 *
 *     fed    --> along x --> along y --> one of two planes --> along z --> taken
 *
 * Slice k of the old grid lies in plane k mod 2: a slice of the new grid needs two neighbours; splines
 * need more, and there are as many planes.
 */
#include "unet/resample.h"
#include "size_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3, REACH = 16, MOST_TAPS = 2 * REACH + 2 };

/* Along one axis. */
typedef struct {
    int32_t from, to;
    int32_t *low;   /* of each point of the new axis the voxel at or before it, */
    double *part;   /*   and how far on it lies toward the next one, from 0 to 1; nearest: 0 */
    int32_t taps;   /* cubic: voxels, from LOW on, whose sum it is; else 0 */
    double *weight; /*   and their weights */
} Axis;

struct UnetResampler {
    Axis axis[AXES]; /* z, y, x */
    float *lines;    /* old height, new width */
    float **plane;   /* new height and width */
    int32_t planes;  /*   so many */
    double *sum;     /* a row of the new width */
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

/* The weight of a voxel in the spline at a point that lies AWAY from it: the B-spline of order 3, whose
 * coefficients are sums over voxels, too. */
static double basis(double away) {
    const double t = fabs(away);
    return t < 1 ? 2.0 / 3 - t * t + t * t * t / 2 : t < 2 ? (2 - t) * (2 - t) * (2 - t) / 6 : 0;
}

static double tap(double p, int64_t voxel) {
    const int64_t low = (int64_t)floor(p);
    const double pole = sqrt(3) - 2;
    double sum = 0;
    for (int64_t k = low - 1; k <= low + 2; k++) {
        sum += basis(p - (double)k) * sqrt(3) * pow(pole, (double)llabs(k - voxel));
    }
    return sum;
}

static bool place_taps(Axis *axis) {
    axis->taps = axis->from < MOST_TAPS ? axis->from : MOST_TAPS;
    axis->weight = calloc((size_t)axis->to * (size_t)axis->taps, sizeof *axis->weight);
    for (int64_t i = 0; i < axis->to && axis->weight != NULL; i++) {
        const double p = ((double)i + 0.5) * axis->from / axis->to - 0.5;
        const int32_t low = (int32_t)floor(p), last = axis->from - 1, most = axis->from - axis->taps;
        const int32_t first = low - REACH < 0 ? 0 : low - REACH > most ? most : low - REACH;
        axis->low[i] = first;
        for (int32_t k = low - REACH; k <= low + REACH + 1; k++) {
            const int32_t voxel = k < 0 ? 0 : k > last ? last : k;
            axis->weight[i * axis->taps + voxel - first] += tap(p, k);
        }
    }
    return axis->weight != NULL;
}

static bool make_axis(Axis *axis, int32_t from, int32_t to, UnetInterpolation how) {
    *axis = (Axis){.from = from, .to = to};
    axis->low = calloc((size_t)to, sizeof *axis->low);
    axis->part = calloc((size_t)to, sizeof *axis->part);
    if (axis->low == NULL || axis->part == NULL) {
        return false;
    }
    if (how == UNET_CUBIC && from != to) {
        return place_taps(axis);
    }
    place(axis, how);
    return true;
}

static float *new_plane(int32_t height, int32_t width) {
    size_t points;
    return checked_mul((size_t)height, (size_t)width, &points) ? calloc(points, sizeof(float)) : NULL;
}

static bool make_planes(UnetResampler *r, int32_t height, int32_t width) {
    r->planes = r->axis[0].taps > 2 ? r->axis[0].taps : 2;
    r->plane = calloc((size_t)r->planes, sizeof *r->plane);
    bool good = r->plane != NULL;
    for (int32_t i = 0; i < r->planes && good; i++) {
        good = (r->plane[i] = new_plane(height, width)) != NULL;
    }
    return good;
}

UnetResampler *unet_resampler_new(const int32_t from[3], const int32_t to[3],
                                  const UnetInterpolation how[3]) {
    UnetResampler *r = calloc(1, sizeof *r);
    bool good = r != NULL;
    for (int i = 0; i < AXES && good; i++) {
        good = make_axis(&r->axis[i], from[i], to[i], how[i]);
    }
    if (good) {
        r->lines = new_plane(from[1], to[2]);
        r->sum = calloc((size_t)to[2], sizeof *r->sum);
        good = r->lines != NULL && r->sum != NULL && make_planes(r, to[1], to[2]);
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
        free(resampler->axis[i].weight);
    }
    for (int32_t i = 0; resampler != NULL && resampler->plane != NULL && i < resampler->planes; i++) {
        free(resampler->plane[i]);
    }
    if (resampler != NULL) {
        free(resampler->lines);
        free(resampler->plane);
        free(resampler->sum);
    }
    free(resampler);
}

static float between(float a, float b, double part) {
    return (float)((double)a + ((double)b - (double)a) * part);
}

/* Returns the last voxel that point I is made of. */
static int32_t high(const Axis *axis, int32_t i) {
    return axis->taps > 0      ? axis->low[i] + axis->taps - 1
           : axis->part[i] > 0 ? axis->low[i] + 1
                               : axis->low[i];
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

static float sum_of(const Axis *axis, int32_t i, const float *line) {
    const double *weight = axis->weight + (size_t)i * (size_t)axis->taps;
    double sum = 0;
    for (int32_t k = 0; k < axis->taps; k++) {
        sum += weight[k] * (double)line[axis->low[i] + k];
    }
    return (float)sum;
}

static float point_of(const Axis *axis, int32_t i, const float *line) {
    const float first = line[axis->low[i]];
    return axis->part[i] > 0 ? between(first, line[axis->low[i] + 1], axis->part[i]) : first;
}

/* The voxel that tap K of point I reads, or, behind the last tap, the last. */
static int32_t voxel_of(const Axis *axis, int32_t i, int32_t k) {
    const int32_t last = high(axis, i);
    return axis->low[i] + k < last ? axis->low[i] + k : last;
}

/* Makes a row for point I of AXIS from the rows of its voxels: tap K reads ROW[K]. */
static void mix(const UnetResampler *r, const Axis *axis, int32_t i, const float *const row[MOST_TAPS],
                float *out) {
    const size_t count = (size_t)r->axis[2].to;
    if (axis->taps == 0) {
        mix_rows(row[0], row[high(axis, i) - axis->low[i]], axis->part[i], count, out);
        return;
    }
    const double *weight = axis->weight + (size_t)i * (size_t)axis->taps;
    memset(r->sum, 0, count * sizeof *r->sum);
    for (int32_t k = 0; k < axis->taps; k++) {
        for (size_t x = 0; x < count; x++) {
            r->sum[x] += weight[k] * (double)row[k][x];
        }
    }
    for (size_t x = 0; x < count; x++) {
        out[x] = (float)r->sum[x];
    }
}

static void fill_plane(const UnetResampler *r, const float *slice, float *plane) {
    const Axis *y = &r->axis[1], *x = &r->axis[2];
    const size_t width = (size_t)x->to;
    for (int32_t row = 0; row < y->from; row++) {
        const float *line = slice + (size_t)row * (size_t)x->from;
        float *out = r->lines + (size_t)row * width;
        for (int32_t i = 0; i < x->to; i++) {
            out[i] = x->taps > 0 ? sum_of(x, i, line) : point_of(x, i, line);
        }
    }
    for (int32_t i = 0; i < y->to; i++) {
        const float *row[MOST_TAPS];
        for (int32_t k = 0; k < MOST_TAPS; k++) {
            row[k] = r->lines + (size_t)voxel_of(y, i, k) * width;
        }
        mix(r, y, i, row, plane + (size_t)i * width);
    }
}

void unet_resampler_feed(UnetResampler *resampler, const float *slice) {
    const Axis *z = &resampler->axis[0];
    const int32_t next = resampler->taken, slot = resampler->fed % resampler->planes;
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
    const int32_t i = resampler->taken++, width = resampler->axis[2].to;
    for (int32_t y = 0; y < resampler->axis[1].to; y++) {
        const size_t at = (size_t)y * (size_t)width;
        const float *row[MOST_TAPS];
        for (int32_t k = 0; k < MOST_TAPS; k++) {
            row[k] = resampler->plane[voxel_of(z, i, k) % resampler->planes] + at;
        }
        mix(resampler, z, i, row, slice + at);
    }
}
