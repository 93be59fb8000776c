/* warp.c - where the points of a window come from: the geometric transforms, composed.
 *
 * Quarter turns, mirrors and cuts have whole coefficients, so that positions come out exact and every point
 * of the window is one point of the file. */
#include "warp.h"
#include "window.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Normal numbers are cut off here; the cubic between them overshoots by at most so much. */
static const double MOST_SIGMAS = 3, OVERSHOOT = 1.5625;

bool warp_needed(const UnetTransform *transform, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (transform[i].op != UNET_DO_CROP && transform[i].op != UNET_DO_FLIP) {
            return true;
        }
    }
    return false;
}

/* ---- affine maps ------------------------------------------------------------------------------ */

static Affine identity(void) {
    return (Affine){{{1, 0}, {0, 1}}, {0, 0}};
}

static void map(const Affine *affine, const double at[2], double to[2]) {
    const double y = at[0], x = at[1];
    for (int i = 0; i < 2; i++) {
        to[i] = affine->m[i][0] * y + affine->m[i][1] * x + affine->b[i];
    }
}

/* First INNER, then OUTER. */
static Affine compose(const Affine *outer, const Affine *inner) {
    Affine both;
    map(outer, inner->b, both.b);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            both.m[i][k] = outer->m[i][0] * inner->m[0][k] + outer->m[i][1] * inner->m[1][k];
        }
    }
    return both;
}

/* Exact for quarter turns. */
static void turn(double degrees, double *cosine, double *sine) {
    double quarters = degrees / 90;
    if (quarters == floor(quarters)) {
        static const double table[] = {1, 0, -1, 0};
        int quarter = (int)(((int64_t)quarters % 4 + 4) % 4);
        *cosine = table[quarter];
        *sine = table[(quarter + 3) % 4];
        return;
    }
    *cosine = cos(degrees * PI / 180);
    *sine = sin(degrees * PI / 180);
}

/* ---- random numbers --------------------------------------------------------------------------- */

/* One transform on its way back: the affine map from its result to its operand; CANVAS, the size of the
 * operand, becomes the size of the result. */
typedef struct {
    const UnetTransform *transform;
    UnetKey key;
    const int32_t *size; /* of the window */
    int32_t canvas[2];
} Step;

static double draw_between(const Step *step, double low, double high) {
    return low + (high - low) * unet_random_uniform(&step->key, 1);
}

static Affine scale(Step *step) {
    const UnetTransform *does = step->transform;
    const double low = does->amount[0], high = does->amount[1], by = does->amount[2];
    double factor = draw_between(step, low, high);
    if (by > 0) {
        int64_t steps = (int64_t)floor((high - low) / by + 1e-9);
        factor = low + by * (double)unet_random_below(&step->key, 1, steps + 1);
    }
    Affine back = identity();
    for (int axis = 0; axis < 2; axis++) {
        int32_t before = step->canvas[axis];
        double after = round(before * factor);
        step->canvas[axis] = after < 1 ? 1 : after > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)after;
        back.m[axis][axis] = (double)before / step->canvas[axis];
    }
    return back;
}

static Affine crop(Step *step) {
    Affine back = identity();
    for (int axis = 0; axis < 2; axis++) {
        back.b[axis] =
            (double)window_start(step->transform, step->canvas[axis], step->size[axis], &step->key, axis);
        step->canvas[axis] = step->size[axis];
    }
    return back;
}

static Affine flip(Step *step) {
    Affine back = identity();
    for (int axis = 0; axis < 2; axis++) {
        if (window_flips(step->transform, &step->key, axis)) {
            back.m[axis][axis] = -1;
            back.b[axis] = step->canvas[axis];
        }
    }
    return back;
}

/* Counterclockwise, as numpy.rot90 turns. */
static Affine quarter_turns(Step *step) {
    Affine back = identity();
    for (int64_t k = unet_random_below(&step->key, 1, 4); k > 0; k--) {
        const int32_t height = step->canvas[0], width = step->canvas[1];
        const Affine one = {{{0, 1}, {-1, 0}}, {0, width}};
        back = compose(&back, &one);
        step->canvas[0] = width;
        step->canvas[1] = height;
    }
    return back;
}

static Affine rotate(Step *step) {
    const double most = step->transform->amount[0], by = step->transform->amount[1];
    double degrees = draw_between(step, -most, most), cosine, sine;
    if (by > 0) { /* a half turn to the left is one to the right */
        int64_t steps = (int64_t)floor(most / by + 1e-9);
        bool twice = (double)steps * by == 180;
        degrees = by * (double)(unet_random_below(&step->key, 1, 2 * steps + !twice) - steps + twice);
    }
    turn(degrees, &cosine, &sine);
    const double y = step->canvas[0] / 2.0, x = step->canvas[1] / 2.0;
    return (Affine){{{cosine, sine}, {-sine, cosine}},
                    {y - cosine * y - sine * x, x + sine * y - cosine * x}};
}

static void bend(Warp *warp, const Step *step) {
    const double sigma = step->transform->amount[0];
    warp->grid = (int32_t)step->transform->amount[1];
    const int32_t count = warp->grid * warp->grid;
    for (int axis = 0; axis < 2; axis++) {
        warp->canvas[axis] = step->canvas[axis];
        float *shift = warp->shift[axis];
        unet_random_normal(&step->key, 4 + (uint64_t)axis * (uint64_t)count, (size_t)count, shift);
        for (int32_t i = 0; i < count; i++) {
            double number = shift[i] > MOST_SIGMAS    ? MOST_SIGMAS
                            : shift[i] < -MOST_SIGMAS ? -MOST_SIGMAS
                                                      : (double)shift[i];
            shift[i] = (float)(number * sigma);
        }
    }
}

static bool happens(const Step *step) {
    return unet_random_uniform(&step->key, 0) < step->transform->p;
}

void warp_draw(Warp *warp, const UnetTransform *transform, int32_t count, const int32_t file[2],
               const int32_t size[2], const UnetKey *key) {
    Step step = {.key = *key, .size = size, .canvas = {file[0], file[1]}};
    warp->grid = 0;
    warp->inner = warp->outer = identity();
    for (int32_t i = 0; i < count; i++) {
        Affine back = identity();
        step.transform = &transform[i];
        step.key.stream = UNET_STREAM_TRANSFORM + (uint32_t)i;
        if (transform[i].op == UNET_DO_CROP) {
            back = crop(&step);
        } else if (transform[i].op == UNET_DO_FLIP) {
            back = flip(&step);
        } else if (!happens(&step)) {
            continue;
        } else if (transform[i].op == UNET_DO_SCALE) {
            back = scale(&step);
        } else if (transform[i].op == UNET_DO_ROT90) {
            back = quarter_turns(&step);
        } else if (transform[i].op == UNET_DO_ROTATE) {
            back = rotate(&step);
        } else if (transform[i].op == UNET_DO_ELASTIC) {
            bend(warp, &step);
        }
        Affine *side = warp->grid > 0 ? &warp->outer : &warp->inner;
        *side = compose(side, &back);
    }
}

/* ---- positions -------------------------------------------------------------------------------- */

/* Keys' cubic with a = -1/2: the weights of the four neighbours of a position T behind the second. */
static void cubic(double t, double weight[4]) {
    weight[0] = ((-0.5 * t + 1) * t - 0.5) * t;
    weight[1] = (1.5 * t - 2.5) * t * t + 1;
    weight[2] = ((-1.5 * t + 2) * t + 0.5) * t;
    weight[3] = (0.5 * t - 0.5) * t * t;
}

static int32_t clamp(int32_t index, int32_t count) {
    return index < 0 ? 0 : index >= count ? count - 1 : index;
}

/* Adds the displacement at AT. */
static void displace(const Warp *warp, double at[2]) {
    double weight[2][4], moved[2] = {0, 0};
    int32_t first[2];
    for (int axis = 0; axis < 2; axis++) {
        double place = at[axis] / warp->canvas[axis] * (warp->grid - 1);
        place = place < 0 ? 0 : place > warp->grid - 1 ? warp->grid - 1 : place;
        first[axis] = (int32_t)place - 1;
        cubic(place - floor(place), weight[axis]);
    }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            int32_t place = clamp(first[0] + i, warp->grid) * warp->grid + clamp(first[1] + k, warp->grid);
            for (int axis = 0; axis < 2; axis++) {
                moved[axis] += weight[0][i] * weight[1][k] * (double)warp->shift[axis][place];
            }
        }
    }
    at[0] += moved[0];
    at[1] += moved[1];
}

void warp_place(const Warp *warp, const double at[2], double from[2]) {
    if (warp->grid == 0) {
        map(&warp->inner, at, from);
        return;
    }
    double bent[2];
    map(&warp->outer, at, bent);
    displace(warp, bent);
    map(&warp->inner, bent, from);
}

/* ---- ranges ----------------------------------------------------------------------------------- */

/* The box around what AFFINE makes of a box. */
static void map_box(const Affine *affine, double low[2], double high[2]) {
    double middle[2], half[2];
    for (int axis = 0; axis < 2; axis++) {
        middle[axis] = (low[axis] + high[axis]) / 2;
        half[axis] = (high[axis] - low[axis]) / 2;
    }
    map(affine, middle, middle);
    for (int axis = 0; axis < 2; axis++) {
        double reach = fabs(affine->m[axis][0]) * half[0] + fabs(affine->m[axis][1]) * half[1];
        low[axis] = middle[axis] - reach;
        high[axis] = middle[axis] + reach;
    }
}

void warp_range(const Warp *warp, const int32_t size[2], int axis, double *low, double *high) {
    double from[2] = {0, 0}, to[2] = {size[0], size[1]};
    if (warp->grid > 0) {
        map_box(&warp->outer, from, to);
        for (int i = 0; i < 2; i++) {
            double most = 0;
            for (int32_t k = 0; k < warp->grid * warp->grid; k++) {
                most = fmax(most, fabs((double)warp->shift[i][k]));
            }
            from[i] -= OVERSHOOT * most;
            to[i] += OVERSHOOT * most;
        }
    }
    map_box(&warp->inner, from, to);
    *low = from[axis];
    *high = to[axis];
}

/* A box of SIDES becomes one around it turned by up to DEGREES. */
static void turn_sides(double sides[2], double degrees) {
    const double angle = fmin(degrees, 90) * PI / 180, diagonal = hypot(sides[0], sides[1]);
    const double turned[2] = {sides[0] + sides[1] * sin(angle), sides[1] + sides[0] * sin(angle)};
    sides[0] = fmin(turned[0], diagonal);
    sides[1] = fmin(turned[1], diagonal);
}

double warp_most_rows(const UnetTransform *transform, int32_t count, const int32_t size[2]) {
    double sides[2] = {size[0], size[1]};
    for (int32_t i = count - 1; i >= 0; i--) {
        const UnetTransform *does = &transform[i];
        if (does->op == UNET_DO_ROT90) {
            sides[0] = sides[1] = fmax(sides[0], sides[1]);
        } else if (does->op == UNET_DO_ROTATE) {
            turn_sides(sides, does->amount[0]);
        }
        for (int axis = 0; axis < 2; axis++) {
            if (does->op == UNET_DO_ELASTIC) {
                sides[axis] += 2 * OVERSHOOT * MOST_SIGMAS * does->amount[0];
            } else if (does->op == UNET_DO_SCALE) { /* + 1: sizes are rounded to whole points */
                double least = does->p < 1 ? fmin(1, does->amount[0]) : does->amount[0];
                sides[axis] = (sides[axis] + 1) / least;
            }
        }
    }
    return ceil(sides[0]);
}

void warp_least_size(const UnetTransform *transform, int32_t count, const int32_t file[2],
                     int32_t least[2]) {
    least[0] = file[0];
    least[1] = file[1];
    for (int32_t i = 0; i < count && transform[i].op != UNET_DO_CROP; i++) {
        if (transform[i].op == UNET_DO_ROT90) {
            least[0] = least[1] = least[0] < least[1] ? least[0] : least[1];
        } else if (transform[i].op == UNET_DO_SCALE && transform[i].amount[0] < 1) {
            for (int axis = 0; axis < 2; axis++) {
                least[axis] = (int32_t)round(least[axis] * transform[i].amount[0]);
            }
        }
    }
}
