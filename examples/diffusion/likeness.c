/* likeness.c - how alike two sets of small pictures are: the distance of Frechet between their features.
 *
 *     likeness SHEET OTHER...        each a picture with so many pictures side by side
 *
 * Each picture has some numbers, its features: means and deviations of colours, mean steps between
 * neighbours, means of its quarters, shares of bright points and of edges.  A set has a mean m and a
 * covariance C of them, in units of the deviations of the first set, and the distance of two sets is
 *
 *     |m - n|^2 + trace(C + D - 2 (C D)^(1/2))
 *
 * FID is the same distance by the features of a large network.  Two sets of one kind are not at 0 either,
 * for sets are finite.
 */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, MARGIN = 2, FEATURES = 16 };

typedef struct {
    int count;
    double (*feature)[FEATURES];
    double mean[FEATURES], covariance[FEATURES][FEATURES];
} Set;

/* ---- features ---------------------------------------------------------------------------------- */

/* A picture in a sheet: numbers from 0 to 1. */
typedef struct {
    double at[3][SIDE][SIDE], grey[SIDE][SIDE];
} Picture;

static Picture picture_at(const uint8_t *rgb, size_t stride) {
    Picture p;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            p.grey[y][x] = 0;
            for (int c = 0; c < 3; c++) {
                p.at[c][y][x] = rgb[(size_t)y * stride + 3 * (size_t)x + (size_t)c] / 255.0;
                p.grey[y][x] += p.at[c][y][x] / 3;
            }
        }
    return p;
}

static void colour_features(const Picture *p, double *to) {
    for (int c = 0; c < 3; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < SIDE * SIDE; i++) {
            const double v = p->at[c][i / SIDE][i % SIDE];
            sum += v;
            squares += v * v;
        }
        const double mean = sum / (SIDE * SIDE), variance = squares / (SIDE * SIDE) - mean * mean;
        to[c] = mean;
        to[3 + c] = sqrt(variance > 0 ? variance : 0);
    }
}

/* Steps to the right, down, and of steps; shares of large steps and of small ones. */
static void edge_features(const Picture *p, double *to) {
    const double n = (SIDE - 2) * (SIDE - 2);
    for (int y = 1; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++) {
            const double v = p->grey[y][x], right = p->grey[y][x + 1] - v, down = p->grey[y + 1][x] - v,
                         bend = p->grey[y][x + 1] + p->grey[y][x - 1] + p->grey[y + 1][x] +
                                p->grey[y - 1][x] - 4 * v;
            to[0] += fabs(right) / n;
            to[1] += fabs(down) / n;
            to[2] += fabs(bend) / n;
            to[3] += (fabs(right) + fabs(down) > 0.1) / n;
            to[4] += (fabs(right) + fabs(down) < 0.02) / n;
        }
}

static void place_features(const Picture *p, double *to) {
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            to[y / (SIDE / 2) * 2 + x / (SIDE / 2)] += p->grey[y][x] / (SIDE * SIDE / 4);
            to[4] += (p->grey[y][x] > 0.5) / (double)(SIDE * SIDE);
        }
}

static void take_features(const Picture *p, double to[FEATURES]) {
    memset(to, 0, FEATURES * sizeof *to);
    colour_features(p, to);
    edge_features(p, to + 6);
    place_features(p, to + 11);
}

/* ---- sets -------------------------------------------------------------------------------------- */

static int read_set(const char *path, Set *set) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_file(&image, path) == 0)
        return fprintf(stderr, "likeness: %s: %s\n", path, image.message), 0;
    image.format = PNG_FORMAT_RGB;
    const int across = ((int)image.width - MARGIN) / (SIDE + MARGIN),
              down = ((int)image.height - MARGIN) / (SIDE + MARGIN);
    const size_t stride = 3 * (size_t)image.width;
    uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
    set->count = across * down;
    set->feature = calloc((size_t)(set->count > 0 ? set->count : 1), sizeof *set->feature);
    if (rgb == NULL || set->feature == NULL || set->count < 2 * FEATURES ||
        png_image_finish_read(&image, NULL, rgb, 0, NULL) == 0) {
        free(rgb);
        return fprintf(stderr, "likeness: %s: no picture of at least %d pictures\n", path, 2 * FEATURES), 0;
    }
    for (int i = 0; i < set->count; i++) {
        const Picture p = picture_at(rgb + (size_t)(i / across * (SIDE + MARGIN) + MARGIN) * stride +
                                         3 * (size_t)(i % across * (SIDE + MARGIN) + MARGIN),
                                     stride);
        take_features(&p, set->feature[i]);
    }
    free(rgb);
    return 1;
}

/* Mean and covariance of features [FIRST, FIRST + COUNT), in units of SCALE. */
static void measure(Set *set, int first, int count, const double scale[FEATURES]) {
    memset(set->mean, 0, sizeof set->mean);
    memset(set->covariance, 0, sizeof set->covariance);
    for (int i = first; i < first + count; i++)
        for (int k = 0; k < FEATURES; k++)
            set->mean[k] += set->feature[i][k] / scale[k] / count;
    for (int i = first; i < first + count; i++)
        for (int j = 0; j < FEATURES; j++)
            for (int k = 0; k < FEATURES; k++)
                set->covariance[j][k] += (set->feature[i][j] / scale[j] - set->mean[j]) *
                                         (set->feature[i][k] / scale[k] - set->mean[k]) / (count - 1);
}

/* ---- the distance ------------------------------------------------------------------------------ */

/* Turns A into a diagonal matrix by Jacobi's rotations; columns of V are the eigenvectors. */
static void diagonalise(double a[FEATURES][FEATURES], double v[FEATURES][FEATURES]) {
    for (int i = 0; i < FEATURES; i++)
        for (int j = 0; j < FEATURES; j++)
            v[i][j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < FEATURES; p++)
            for (int q = p + 1; q < FEATURES; q++) {
                const double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]), c = cos(angle),
                             s = sin(angle);
                for (int k = 0; k < FEATURES; k++) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < FEATURES; k++) {
                    const double x = a[p][k], y = a[q][k], u = v[k][p], w = v[k][q];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                    v[k][p] = c * u - s * w;
                    v[k][q] = s * u + c * w;
                }
            }
}

static double root(double x) {
    return sqrt(x > 0 ? x : 0);
}

/* The trace of (C D)^(1/2).  (R D R)^(1/2) has the same trace, R being the root of C. */
static double trace_of_root(const Set *c, const Set *d) {
    double a[FEATURES][FEATURES], v[FEATURES][FEATURES], r[FEATURES][FEATURES] = {{0}},
                                                         rd[FEATURES][FEATURES] = {{0}}, sum = 0;
    memcpy(a, c->covariance, sizeof a);
    diagonalise(a, v);
    for (int i = 0; i < FEATURES; i++)
        for (int j = 0; j < FEATURES; j++)
            for (int k = 0; k < FEATURES; k++)
                r[i][j] += v[i][k] * root(a[k][k]) * v[j][k];
    for (int i = 0; i < FEATURES; i++)
        for (int j = 0; j < FEATURES; j++)
            for (int k = 0; k < FEATURES; k++)
                rd[i][j] += r[i][k] * d->covariance[k][j];
    memset(a, 0, sizeof a);
    for (int i = 0; i < FEATURES; i++)
        for (int j = 0; j < FEATURES; j++)
            for (int k = 0; k < FEATURES; k++)
                a[i][j] += rd[i][k] * r[k][j];
    diagonalise(a, v);
    for (int i = 0; i < FEATURES; i++)
        sum += root(a[i][i]);
    return sum;
}

static double distance(const Set *c, const Set *d) {
    double sum = -2 * trace_of_root(c, d);
    for (int k = 0; k < FEATURES; k++)
        sum += (c->mean[k] - d->mean[k]) * (c->mean[k] - d->mean[k]) + c->covariance[k][k] +
               d->covariance[k][k];
    return sum;
}

int main(int argc, char **argv) {
    Set held, other;
    double scale[FEATURES];
    for (int k = 0; k < FEATURES; k++)
        scale[k] = 1;
    if (argc < 3)
        return fputs("usage: likeness SHEET OTHER...\n", stderr), 2;
    if (!read_set(argv[1], &held))
        return 4;
    measure(&held, 0, held.count, scale);
    for (int k = 0; k < FEATURES; k++)
        scale[k] = root(held.covariance[k][k]) > 1e-9 ? root(held.covariance[k][k]) : 1;
    measure(&held, 0, held.count, scale);
    for (int i = 2; i < argc; i++) {
        if (!read_set(argv[i], &other))
            return 4;
        measure(&other, 0, other.count, scale);
        printf("%-24s %8.3f\n", argv[i], distance(&held, &other));
        free(other.feature);
    }
    free(held.feature);
    return 0;
}
