/* resize_grad.cu - gradient of a map of another size: a point collects from the points that are made of it.
 *
 * A block takes some points of a row of dx, and as many columns of vectors as it has threads at most.  It
 * goes along the rows of dy that are made of this row, some vectors of each at a time: first it adds up
 * these rows, as much of each as the row of dx is of it, and then a team of threads for each vector of dx
 * adds the points that are made of its point.  So dy is read along its rows, most of it once or twice.  A
 * block has so few points that each thread has about one vector of dy: a point may be made into many, and
 * then there are few points. */
#include "prologue.cuh"

#define KERNEL resize_grad
#include "../example_cuda.h"

/* BEGIN */
/* Vectors of a thread that it adds up at a time. */
constexpr int KERNEL_AT_ONCE = 2;

/* The columns and the points of dx of a block, and the threads of a team: a power of two, a warp at most.
 */
static constexpr __host__ __device__ int KERNEL_columns() {
    SIZES;
    return DX.block / LANES < THREADS ? DX.block / LANES : (int)THREADS;
}

static constexpr __host__ __device__ int KERNEL_points() {
    SIZES;
    constexpr long made = UNIT_W > STEP_W ? UNIT_W / STEP_W : 1, fit = THREADS / (made * KERNEL_columns());
    return fit < 1 ? 1 : (int)fit;
}

static constexpr __host__ __device__ int KERNEL_team() {
    int team = 1;
    while (team < WARP && 2 * team * KERNEL_points() * KERNEL_columns() <= THREADS)
        team *= 2;
    return team;
}

/* The part of block `block`: the columns from `column` on, the points from `first` to `last` of row `row`.
 */
struct KERNEL_Part {
    int sample, row, column, first, last;
};

static constexpr __host__ __device__ int KERNEL_parts_of_row() {
    SIZES;
    return (IW + KERNEL_points() - 1) / KERNEL_points();
}

static constexpr __host__ __device__ int KERNEL_parts_of_columns() {
    SIZES;
    return (DX.block / LANES + KERNEL_columns() - 1) / KERNEL_columns();
}

DEVICE KERNEL_Part KERNEL_part(Rows rows, unsigned block) {
    SIZES;
    constexpr unsigned along = KERNEL_parts_of_row(), across = KERNEL_parts_of_columns();
    const int count = rows.end - rows.begin, row = (int)(block / across / along);
    const int first = (int)(block / across % along) * KERNEL_points(), end = first + KERNEL_points();
    return {row / count, rows.begin + row % count, (int)(block % across) * KERNEL_columns(), first,
            (end < IW ? end : IW) - 1};
}

/* Adds up the rows of dy: of the points from `begin` to END the vectors of the block's columns, counted
 * from `first` on. */
template <class Sums>
DEVICE void KERNEL_add_rows(Sums &sums, const stored *__restrict__ dy, KERNEL_Part part, int begin, int end,
                            int first) {
    SIZES;
    constexpr Grid out = {D, H, W, DY.block / LANES, DY.ring};
    constexpr Positions in_d = {STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO};
    constexpr Positions in_h = {STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO};
    constexpr int columns = KERNEL_columns();
    const int id = part.row / IH, ih = part.row % IH;
    const Rows d = readers_of(in_d, id, D), h = readers_of(in_h, ih, H);
    Vector total[KERNEL_AT_ONCE];
    unsigned at[KERNEL_AT_ONCE]; /* in a row of dy */
    bool there[KERNEL_AT_ONCE];
#pragma unroll
    for (int k = 0; k < KERNEL_AT_ONCE; k++) {
        const int own = first + (int)threadIdx.x + k * THREADS, w = begin + own / columns,
                  column = part.column + own % columns;
        total[k] = filled(0);
        at[k] = (unsigned)w * out.columns + column;
        there[k] = w < end && column < out.columns;
    }
    for (int od = d.begin; od < d.end; od++)
#pragma unroll 4
        for (int oh = h.begin; oh < h.end; oh++) {
            const real share = share_in(in_d, id, od) * share_in(in_h, ih, oh);
            const unsigned from = index(out, Point{part.sample, od, oh, 0, 0});
#pragma unroll
            for (int k = 0; k < KERNEL_AT_ONCE; k++)
                if (there[k])
                    total[k] = sum(total[k], times(share, load_vector(dy, from + at[k])));
        }
#pragma unroll
    for (int k = 0; k < KERNEL_AT_ONCE; k++)
        sums[threadIdx.x + k * THREADS] = total[k];
}

/* The sum of a member of the team of a vector over the vectors in SUMS: over every team-th point. */
template <class Sums>
DEVICE Vector KERNEL_collect(Sums &sums, Vector total, int w, int column, int member, int begin,
                             int first) {
    SIZES;
    constexpr Positions in_w = {STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO};
    constexpr int columns = KERNEL_columns(), team = KERNEL_team();
    const Rows readers = readers_of(in_w, w, W);
    for (int ow = readers.begin + member; ow < readers.end; ow += team) {
        const int own = (ow - begin) * columns + column - first;
        if (own >= 0 && own < KERNEL_AT_ONCE * THREADS)
            total = sum(total, times(share_in(in_w, w, ow), sums[own]));
    }
    return total;
}

static __global__ void KERNEL_rows(stored *__restrict__ dx, const stored *__restrict__ dy, Rows rows) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES, DX.ring};
    constexpr Positions in_w = {STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO};
    constexpr int columns = KERNEL_columns(), team = KERNEL_team(), wide = KERNEL_AT_ONCE * THREADS;
    static_assert(DX.block == DY.block, "a map of another size has as many channels");
    SHARED(Vector, sums, [wide]);
    const KERNEL_Part part = KERNEL_part(rows, blockIdx.x);
    const int begin = readers_of(in_w, part.first, W).begin, end = readers_of(in_w, part.last, W).end;
    const int own = (int)threadIdx.x / team, member = (int)threadIdx.x % team;
    const int w = part.first + own / columns, column = own % columns;
    const bool busy = w <= part.last && part.column + column < in.columns;
    Vector total = filled(0);
    for (int first = 0; first < (end - begin) * columns; first += wide) {
        __syncthreads();
        KERNEL_add_rows(sums, dy, part, begin, end, first);
        __syncthreads();
        if (busy)
            total = KERNEL_collect(sums, total, w, column, member, begin, first);
    }
    __syncthreads();
    sums[threadIdx.x] = total;
    __syncthreads();
    if (!busy || member > 0)
        return;
    for (int other = 1; other < team; other++)
        total = sum(total, sums[threadIdx.x + other]);
    store_vector(dx, index(in, Point{part.sample, part.row / IH, part.row % IH, w, part.column + column}),
                 total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    if (rows.begin < rows.end)
        LAUNCH_BLOCKS(at, KERNEL_rows,
                      N * (rows.end - rows.begin) * KERNEL_parts_of_row() * KERNEL_parts_of_columns(), dx,
                      dy, rows);
}
/* END */
