/* matrix.c - convolutions of bf16 by the registers that some processors have for matrices.
 *
 * Such a register holds 16 rows of 64 bytes.  One instruction adds the product of two to a third: 16 points
 * by 32 channels times 32 channels by 16 outputs (Intel, Architecture Instruction Set Extensions
 * Programming Reference, AMX).  Sums stay in four registers while all input channels and taps pass by: of
 * 32 points and two vectors of outputs, or of 64 points and one.
 *
 * Two neighbouring points of a block of 16 channels lie side by side, so a row of the first operand holds
 * what two taps meet.  The weights of these taps lie one behind another, too.  A tap that is left over, or
 * whose neighbour lies elsewhere, has registers half as wide.
 *
 * Sizes are handed over in a struct, and one copy of the code serves all layers. */
#include "prologue.c"

/* BEGIN */
#ifdef MATRICES
/* Registers: four of sums from SUM_0 on, and of each operand a whole one and a half one. */
#define SUM_0 0
#define SUM_1 1
#define SUM_2 2
#define SUM_3 3
#define X_WHOLE 4
#define X_HALF 5
#define W_WHOLE 6
#define W_HALF 7
enum { REGISTERS = 8, SIDE = 16 };

typedef struct {
    uint8_t palette, start, unused[14];
    uint16_t bytes[16]; /* of a row */
    uint8_t rows[16];
} Shapes;
static const Shapes shapes = {.palette = 1,
                              .bytes = {64, 64, 64, 64, [X_WHOLE] = 64, [X_HALF] = 32, 64, 64},
                              .rows = {16, 16, 16, 16, 16, 16, [W_WHOLE] = 16, [W_HALF] = 8}};

#ifdef UNET_MATRIX_MODEL
/* The arithmetic of the instruction, bit by bit: products of the first numbers of all pairs, which are
 * exact, are added to one sum, products of the second numbers to another; then both are added, and then to
 * the register.  Numbers below 2^-126 are zero. */
typedef struct {
    Words row[SIDE];
} Matrix;
static _Thread_local Matrix matrix[REGISTERS];

INLINE Vector normal(Vector v) {
    const Bits size = (Bits)v & 0x7fffffff;
    return (Vector)((Bits)v & ~(size < 0x00800000));
}

static void matrices_begin(void) {
    memset(matrix, 0xff, sizeof matrix); /* NaNs */
}

static void matrices_end(void) {
    memset(matrix, 0xff, sizeof matrix);
}

static void matrix_zero(int t) {
    memset(&matrix[t], 0, sizeof matrix[t]);
}

static void matrix_load(int t, const void *p, long row) {
    for (int r = 0; r < shapes.rows[t]; r++)
        memcpy(&matrix[t].row[r], (const char *)p + r * row, shapes.bytes[t]);
}

static void matrix_store(int t, void *p, long row) {
    for (int r = 0; r < shapes.rows[t]; r++)
        memcpy((char *)p + r * row, &matrix[t].row[r], shapes.bytes[t]);
}

static void matrix_add(int sum, int a, int b) {
    const Words upper = (Words){0} + 0xffff0000;
    for (int m = 0; m < SIDE; m++) {
        Vector first = {0}, second = {0};
        for (int k = 0; k < shapes.rows[b]; k++) {
            const Words x = (Words){0} + matrix[a].row[m][k], w = matrix[b].row[k];
            first = normal(first + normal((Vector)(x << 16)) * normal((Vector)(w << 16)));
            second = normal(second + normal((Vector)(x & upper)) * normal((Vector)(w & upper)));
        }
        matrix[sum].row[m] = (Words)normal(normal((Vector)matrix[sum].row[m]) + normal(first + second));
    }
}
#define MATRIX_ZERO(t) matrix_zero(t)
#define MATRIX_LOAD(t, p, row) matrix_load(t, p, row)
#define MATRIX_STORE(t, p, row) matrix_store(t, p, row)
#define MATRIX_ADD(sum, a, b) matrix_add(sum, a, b)
#else
/* Compilers' own functions will not do: gcc's do not tell it that they read memory, or not all of it. */
INLINE void matrices_begin(void) {
    __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
}

/* A thread that sleeps keeps no matrices: they would have to be saved. */
INLINE void matrices_end(void) {
    __asm__ volatile("tilerelease" : : : "memory");
}
#define REGISTER(t) "%%tmm" REGISTER_NUMBER(t)
#define REGISTER_NUMBER(t) #t
#define MATRIX_ZERO(t) __asm__ volatile("tilezero " REGISTER(t) : : : "memory")
#define MATRIX_LOAD(t, p, row)                                                                             \
    __asm__ volatile("tileloadd (%0,%1,1), " REGISTER(t)                                                   \
                     :                                                                                     \
                     : "r"((const void *)(p)), "r"((long)(row))                                            \
                     : "memory")
#define MATRIX_STORE(t, p, row)                                                                            \
    __asm__ volatile("tilestored " REGISTER(t) ", (%0,%1,1)"                                               \
                     :                                                                                     \
                     : "r"((void *)(p)), "r"((long)(row))                                                  \
                     : "memory")
#define MATRIX_ADD(sum, a, b)                                                                              \
    __asm__ volatile("tdpbf16ps " REGISTER(b) ", " REGISTER(a) ", " REGISTER(sum) : : : "memory")
#endif

/* ---- sums of points ------------------------------------------------------------------------------- */

/* A convolution, a transposed one, or a gradient of one by its input: from x, which may have segments, to
 * y.  A point of y is zero if m is not positive there. */
typedef struct {
    const Layout *x, *y, *m; /* m, b: NULL, if there is none */
    const stored *const *from;
    stored *to;
    const stored *mask;
    const real *w, *b;
    int segments, relu, outputs;
    Axes points, taps, stride, dilation, padding; /* points: of y */
} Convolution;

/* Vectors v and, of a pair, v + 1 of y, and their weights. */
typedef struct {
    int v, pair;
    const real *w;
} Outputs;

INLINE void sums_zero(void) {
    MATRIX_ZERO(SUM_0);
    MATRIX_ZERO(SUM_1);
    MATRIX_ZERO(SUM_2);
    MATRIX_ZERO(SUM_3);
}

/* Adds the products of so many points, `apart` elements from each other, with weights of one tap or two.
 * PAIR: of two vectors of outputs. */
#define ADD_POINTS(x_register, w_register)                                                                 \
    MATRIX_LOAD(x_register, x, 2L * apart);                                                                \
    MATRIX_LOAD(w_register, w, row);                                                                       \
    MATRIX_ADD(SUM_0, x_register, w_register);                                                             \
    if (pair) {                                                                                            \
        MATRIX_LOAD(w_register, w + LANES, row);                                                           \
        MATRIX_ADD(SUM_1, x_register, w_register);                                                         \
    }                                                                                                      \
    if (pair && points > SIDE) {                                                                           \
        MATRIX_LOAD(x_register, x + SIDE * apart, 2L * apart);                                             \
        MATRIX_ADD(SUM_3, x_register, w_register);                                                         \
        MATRIX_LOAD(w_register, w, row);                                                                   \
        MATRIX_ADD(SUM_2, x_register, w_register);                                                         \
    }                                                                                                      \
    if (!pair && points > SIDE) {                                                                          \
        MATRIX_LOAD(x_register, x + SIDE * apart, 2L * apart);                                             \
        MATRIX_ADD(SUM_1, x_register, w_register);                                                         \
    }                                                                                                      \
    if (!pair && points > 2 * SIDE) {                                                                      \
        MATRIX_LOAD(x_register, x + 2 * SIDE * apart, 2L * apart);                                         \
        MATRIX_ADD(SUM_2, x_register, w_register);                                                         \
    }                                                                                                      \
    if (!pair && points > 3 * SIDE) {                                                                      \
        MATRIX_LOAD(x_register, x + 3 * SIDE * apart, 2L * apart);                                         \
        MATRIX_ADD(SUM_3, x_register, w_register);                                                         \
    }

INLINE void add_two_taps(const stored *x, int apart, const real *w, int points, int pair) {
    const long row = (pair ? 2 : 1) * LANES * (long)sizeof *w;
    ADD_POINTS(X_WHOLE, W_WHOLE)
}

INLINE void add_tap(const stored *x, int apart, const real *w, int points, int pair) {
    const long row = (pair ? 2 : 1) * LANES * (long)sizeof *w;
    ADD_POINTS(X_HALF, W_HALF)
}
#undef ADD_POINTS

/* Elements between the weights of two taps, of one vector of outputs or a pair. */
INLINE int weights_step(int pair) {
    return BLOCK / FACTORS * (pair ? 2 : 1) * LANES;
}

/* Adds what a row of taps meets in one block of x, from its first point on.  Registers have whole rows: of
 * fewer points a copy is read, with zeros behind them. */
INLINE void sums_slide(const stored *x, stored *copy, const real *w, int points, Taps taps, int pair) {
    const int apart = taps.stride * BLOCK, step = weights_step(pair);
    int k = 0;
    if (points % SIDE > 0) {
        const int met = (points - 1) * taps.stride + (taps.count - 1) * taps.dilation + 1;
        const int behind = (SIDE - points % SIDE) * taps.stride;
        memcpy(copy, x, (size_t)met * BLOCK * sizeof *x);
        memset(copy + met * BLOCK, 0, (size_t)behind * BLOCK * sizeof *x);
        x = copy;
    }
    for (; taps.dilation == 1 && k + 2 <= taps.count; k += 2)
        add_two_taps(x + k * BLOCK, apart, w + k * step, points, pair);
    for (; k < taps.count; k++)
        add_tap(x + k * taps.dilation * BLOCK, apart, w + k * step, points, pair);
}

/* Brings the sums of so many points from p on, `apart` from each other, to y. */
NOINLINE void sums_bring(const Convolution *c, Outputs o, Point p, int apart, int points) {
    _Alignas(64) real sums[4 * SIDE * SIDE];
    const Start start = start_of(c->b, c->outputs, o.v, o.pair);
    MATRIX_STORE(SUM_0, sums, 64);
    MATRIX_STORE(SUM_1, sums + SIDE * SIDE, 64);
    MATRIX_STORE(SUM_2, sums + 2 * SIDE * SIDE, 64);
    MATRIX_STORE(SUM_3, sums + 3 * SIDE * SIDE, 64);
    for (int side = 0; side <= o.pair; side++) {
        const int used = lanes(c->y, o.v + side);
        stored *const to = c->to + vector_at(c->y, o.v + side, p);
        const stored *const mask = c->m == NULL ? NULL : c->mask + vector_at(c->m, o.v + side, p);
        for (int i = 0; i < points; i++) {
            const int number = o.pair ? i / SIDE * 2 + side : i / SIDE;
            Vector sum = load_real(sums + (number * SIDE + i % SIDE) * SIDE) + (side ? start.b : start.a);
            if (c->relu)
                sum = vector_relu(sum);
            if (mask != NULL)
                sum = vector_mask(sum, load_some(mask + (long)i * apart * c->m->block, used));
            store_some(to + (long)i * apart * c->y->block, sum, used);
        }
    }
}

/* ---- rows ----------------------------------------------------------------------------------------- */

INLINE Taps taps_of_row(const Convolution *c) {
    return (Taps){c->taps.w, c->stride.w, c->dilation.w};
}

/* A row of y from p on: the window slides over x. */
NOINLINE void row_slide(const Convolution *c, Outputs o, Point p) {
    _Alignas(64) stored copy[(MOST_MET + SIDE * SIDE) * BLOCK];
    const Taps taps = taps_of_row(c);
    const int wide = o.pair ? WIDE / 2 : WIDE;
    for (; p.w < c->points.w; p.w += wide) {
        const int points = min_int(c->points.w - p.w, wide);
        const Point first = {p.n, p.d * c->stride.d - c->padding.d, 0, p.w * c->stride.w - c->padding.w};
        const real *w = o.w;
        sums_zero();
        for (int s = 0; s < c->segments; s++) {
            const Layout *in = &c->x[s];
            const stored *plane = c->from[s] + offset_of(in, 0, first);
            for (int left = in->blocks; left > 0; left--, plane += in->plane)
                for (int k = 0; k < c->taps.d * c->taps.h; k++, w += taps.count * weights_step(o.pair)) {
                    const int d = k / c->taps.h * c->dilation.d,
                              h = p.h * c->stride.h - c->padding.h + k % c->taps.h * c->dilation.h;
                    sums_slide(plane + d * in->depth + place_of_row(in, h) * in->row, copy, w, points, taps,
                               o.pair);
                }
        }
        sums_bring(c, o, p, 1, points);
    }
}

/* Taps of a row in front of the taps of a phase: packed_tap() has the order. */
INLINE int taps_before(Taps row, const Phase *phase) {
    int before = 0;
    for (int first = 0; first < phase->first; first++)
        before += (row.count - first + phase->step - 1) / phase->step;
    return before;
}

/* The points of a row of y that belong to a phase: see phase_of().  They follow the points of x as the taps
 * stand. */
NOINLINE void row_unslide(const Convolution *c, Outputs o, Point p, const Phase *phase) {
    _Alignas(64) stored copy[(MOST_MET + SIDE * SIDE) * BLOCK];
    const Taps row = taps_of_row(c), taps = {phase->count, 1, phase->back};
    const int wide = o.pair ? WIDE / 2 : WIDE, before = taps_before(row, phase) * weights_step(o.pair);
    const int all = (c->points.w - phase->column + row.stride - 1) / row.stride;
    for (int j = 0; j < all; j += wide) {
        const int points = min_int(all - j, wide);
        const Point first = {p.n, 0, 0, phase->at + j - (phase->count - 1) * phase->back};
        const real *w = o.w;
        sums_zero();
        for (int s = 0; s < c->segments; s++) {
            const Layout *in = &c->x[s];
            const stored *plane = c->from[s] + offset_of(in, 0, first);
            for (int left = in->blocks; left > 0; left--, plane += in->plane)
                for (int k = 0; k < c->taps.d * c->taps.h; k++, w += row.count * weights_step(o.pair)) {
                    const int d = p.d + c->padding.d - k / c->taps.h * c->dilation.d,
                              h = p.h + c->padding.h - k % c->taps.h * c->dilation.h;
                    if (d % c->stride.d == 0 && h % c->stride.h == 0 && phase->count > 0)
                        sums_slide(plane + d / c->stride.d * in->depth +
                                       place_of_row(in, h / c->stride.h) * in->row,
                                   copy, w + before, points, taps, o.pair);
                }
        }
        p.w = phase->column + j * row.stride;
        sums_bring(c, o, p, row.stride, points);
    }
}

/* ---- the work ------------------------------------------------------------------------------------- */

/* Rows of y; SLIDES: a window slides over x, else over y. */
INLINE void rows_compute(const Convolution *c, int n, Rows rows, int slides) {
    const int height = c->points.h, strip_rows = 127 / c->points.w + 1;
    const long depth = (long)stored_channels(c->x, c->segments) * (c->taps.d * c->taps.h * c->taps.w);
    matrices_begin();
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = rows.begin; strip < rows.end; strip += strip_rows)
            for (int v = 0; v < vectors(c->y); v += 2)
                for (int r = strip; r < min_int(strip + strip_rows, rows.end); r++) {
                    const Outputs o = {v, v + 1 < vectors(c->y), c->w + v * LANES * depth};
                    const Point p = {i, r / height, r % height, 0};
                    if (slides)
                        row_slide(c, o, p);
                    for (int column = 0; !slides && column < c->stride.w; column++) {
                        const Phase phase = phase_of(column, taps_of_row(c), c->padding.w);
                        row_unslide(c, o, p, &phase);
                    }
                }
    matrices_end();
}

UNUSED static void matrices_slide(const Convolution *c, int n, Rows rows) {
    rows_compute(c, n, rows, 1);
}

UNUSED static void matrices_unslide(const Convolution *c, int n, Rows rows) {
    rows_compute(c, n, rows, 0);
}
#endif
/* END */
