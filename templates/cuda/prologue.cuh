/* prologue.cuh - what stands at the head of the kernels of every program for a GPU: types, how tensors lie
 * in memory, how kernels are launched, and the kernels that several operators share.
 *
 * A thread works on one vector of 16 bytes, neighbouring threads on neighbouring vectors, so that every
 * access of a warp is one piece of memory. Sizes are constants, so that divisions become multiplications. A
 * kernel that adds up elements splits them among a fixed number of threads and adds the parts in a fixed
 * order.
 *
 * Tests that run kernels on a CPU bring a LAUNCH of their own; all else is plain C++. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <unet/cuda.h>

#ifndef UNET_STORED
#define UNET_STORED float
#endif

/* BEGIN */
typedef UNET_STORED stored; /* activations and their gradients */
typedef float real;         /* parameters, their gradients, the optimiser's state, arithmetic */

/* The places of the elements of a tensor, in elements; see unet/model.h. Here `block` is the number of
 * stored channels, and points follow each other without gaps. */
struct Layout {
    int channels, block, blocks;
    long origin, sample, plane, depth, row;
    int ring; /* 0: each row has a place of its own */
};

/* Which part of dense weights [K][C][TAPS] a filter [kp][TAPS][cp] of cuDNN is: kn filters from k0 on, cn
 * channels from c0 on; it begins at element `offset` of its buffer. */
struct Filter {
    int k0, kn, kp, c0, cn, cp;
    long offset;
};

enum {
    LANES = 16 / sizeof(stored), /* of a vector */
    WARP = 32,
    THREADS = 256, /* of a block */
};

#define DEVICE [[maybe_unused]] static __device__ __forceinline__
#define LAUNCHER extern "C"

/* LAUNCH is for kernels in which threads do not wait for each other, LAUNCH_BLOCKS for the others. SHARED
 * declares an array that the threads of a block share. */
#ifndef LAUNCH
#define LAUNCH(at, kernel, grid, ...)                                                                      \
    (kernel<<<(grid), THREADS, 0, (at).stream>>>(__VA_ARGS__),                                             \
     unet_cuda_check((at), cudaGetLastError(), __func__))
#define LAUNCH_BLOCKS LAUNCH
#define SHARED(type, name, extents) __shared__ type name extents
#endif

/* The segments of an operand, as a kernel gets them. */
constexpr int MAX_SEGMENTS = 64;
struct Segments {
    const stored *at[MAX_SEGMENTS];
};

/* ---- elements --------------------------------------------------------------------------------------- */

DEVICE real to_real(float x) {
    return x;
}

DEVICE real to_real(__half x) {
    return __half2float(x);
}

DEVICE real to_real(__nv_bfloat16 x) {
    return __bfloat162float(x);
}

DEVICE void round_to(float *to, real x) {
    *to = x;
}

DEVICE void round_to(__half *to, real x) {
    *to = __float2half_rn(x);
}

DEVICE void round_to(__nv_bfloat16 *to, real x) {
    *to = __float2bfloat16_rn(x);
}

DEVICE real load(const stored *p, long i) {
    return to_real(p[i]);
}

DEVICE void store(stored *p, long i, real x) {
    round_to(p + i, x);
}

/* max(x, 0), where a NaN stays one. */
DEVICE real positive(real x) {
    return x < 0 ? 0 : x;
}

/* A NaN stays one. */
DEVICE double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* G between -LIMIT and LIMIT; 0: as it is.  A NaN stays one. */
DEVICE real clipped(real g, double limit) {
    return limit > 0 ? (real)clamp(g, -limit, limit) : g;
}

/* The state of a scaled loss, as doubles: the scale; good steps since it changed; steps taken; and the
 * factor of gradients, 0 if they overflowed: then the step is not taken. */
enum { LOSS_SCALE, GOOD_STEPS, STEPS_TAKEN, UNSCALE };
/* The norm of all gradients, -1 if they overflowed, and what they are multiplied with (see UNSCALE). */
enum { GRADIENT_NORM, FACTOR };

/* ---- vectors ---------------------------------------------------------------------------------------- */

struct alignas(16) Vector {
    real lane[LANES];
};

DEVICE Vector load_vector(const stored *p, unsigned i) {
    const uint4 bits = reinterpret_cast<const uint4 *>(p)[i];
    stored part[LANES];
    memcpy((void *)part, &bits, sizeof bits);
    Vector v;
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] = to_real(part[l]);
    return v;
}

DEVICE void store_vector(stored *p, unsigned i, Vector v) {
    stored part[LANES];
#pragma unroll
    for (int l = 0; l < LANES; l++)
        round_to(part + l, v.lane[l]);
    uint4 bits;
    memcpy(&bits, (const void *)part, sizeof bits);
    reinterpret_cast<uint4 *>(p)[i] = bits;
}

/* v as store_vector stores it. */
DEVICE Vector as_stored(Vector v) {
#pragma unroll
    for (int l = 0; l < LANES; l++) {
        stored part;
        round_to(&part, v.lane[l]);
        v.lane[l] = to_real(part);
    }
    return v;
}

DEVICE Vector filled(real x) {
    Vector v;
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] = x;
    return v;
}

DEVICE Vector sum(Vector a, Vector b) {
#pragma unroll
    for (int l = 0; l < LANES; l++)
        a.lane[l] += b.lane[l];
    return a;
}

DEVICE Vector times(real factor, Vector v) {
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] *= factor;
    return v;
}

DEVICE Vector divided(Vector v, real by) {
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] /= by;
    return v;
}

/* v where m > 0, else 0. */
DEVICE Vector masked(Vector v, Vector m) {
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] = m.lane[l] > 0 ? v.lane[l] : 0;
    return v;
}

/* A number as the loader left it: f32, or a byte that stands for value / 255. */
DEVICE real staged(real x) {
    return x;
}

DEVICE real staged(uint8_t x) {
    return (real)x / 255;
}

template <class T>
DEVICE Vector load_staged(const void *p, int block, int channels, unsigned point, int column) {
    const T *from = static_cast<const T *>(p) + (long)point * block;
    Vector v;
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] = column * LANES + l < channels ? staged(from[column * LANES + l]) : 0;
    return v;
}

/* Vector `column` of the `channels` channels of a point: of a tensor, or of an image as
 * the loader left it, with `block` channels a point, in f32 (STAGED 1) or in bytes (2). */
template <int STAGED>
DEVICE Vector load_channels(const void *p, int block, int channels, unsigned point, int column) {
    if (STAGED == 2)
        return load_staged<uint8_t>(p, block, channels, point, column);
    if (STAGED == 1)
        return load_staged<real>(p, block, channels, point, column);
    return load_vector(static_cast<const stored *>(p), point * (block / LANES) + column);
}

/* Neighbouring elements of a long array. */
struct alignas(16) Four {
    real of[4];
};

/* ---- points of tensors ------------------------------------------------------------------------------ */

/* The points of a sample; at each lie `columns` vectors.  `ring` rows of an image may be there alone, and
 * row h lies in the place of row h mod `ring`; 0: each row has a place of its own. */
struct Grid {
    int d, h, w, columns, ring = 0;
};

struct Point {
    int n, d, h, w, column;
};

[[maybe_unused]] static constexpr __host__ __device__ unsigned vectors(int samples, Grid g) {
    return (unsigned)samples * g.d * g.h * g.w * g.columns;
}

DEVICE Point point_at(Grid g, unsigned i) {
    const unsigned point = i / g.columns, row = point / g.w, plane = row / g.h;
    return {(int)(plane / g.d), (int)(plane % g.d), (int)(row % g.h), (int)(point % g.w),
            (int)(i % g.columns)};
}

DEVICE unsigned index(Grid g, Point p) {
    const int rows = g.ring > 0 ? g.ring : g.h, h = g.ring > 0 ? p.h % g.ring : p.h;
    return (((unsigned)(p.n * g.d + p.d) * rows + h) * g.w + p.w) * g.columns + p.column;
}

/* The place of vector i, when vectors are counted as if each row had a place of its own. */
DEVICE unsigned place(Grid g, unsigned i) {
    return g.ring == 0 ? i : index(g, point_at(g, i));
}

DEVICE bool inside(Grid g, Point p) {
    return p.d >= 0 && p.d < g.d && p.h >= 0 && p.h < g.h && p.w >= 0 && p.w < g.w;
}

DEVICE bool inside(Rows rows, Grid g, Point p) {
    return p.d * g.h + p.h >= rows.begin && p.d * g.h + p.h < rows.end;
}

/* ---- windows ---------------------------------------------------------------------------------------- */

/* Extents, strides, padding in front and dilations. */
struct Window {
    int kd, kh, kw, sd, sh, sw, pd, ph, pw, ld = 1, lh = 1, lw = 1;
};

/* The point under a tap of window o. */
DEVICE Point under(Window w, Point o, int kd, int kh, int kw) {
    return {o.n, o.d * w.sd - w.pd + kd * w.ld, o.h * w.sh - w.ph + kh * w.lh,
            o.w * w.sw - w.pw + kw * w.lw, o.column};
}

/* The points from one window to the next are the cell of a window. These are all cells over a tensor; */
[[maybe_unused]] static constexpr __host__ __device__ Grid cells_of(Window w, Grid g) {
    return {(g.d + w.pd + w.sd - 1) / w.sd, (g.h + w.ph + w.sh - 1) / w.sh, (g.w + w.pw + w.sw - 1) / w.sw,
            g.columns};
}

/* and the rows of cells over a range of rows of points: where cells are more than one plane deep, all of
 * those planes. */
[[maybe_unused]] static constexpr Rows cell_rows(Window w, Grid g, Rows points) {
    const int first = points.begin, last = points.end - 1, height = cells_of(w, g).h;
    if (first > last)
        return points;
    return {(first / g.h + w.pd) / w.sd * height + (w.sd == 1 ? (first % g.h + w.ph) / w.sh : 0),
            (last / g.h + w.pd) / w.sd * height + (w.sd == 1 ? (last % g.h + w.ph) / w.sh : height - 1) +
                1};
}

/* The first along an axis that is no padding. */
DEVICE int first_tap(int position, int stride, int padding, int dilation) {
    return position * stride < padding ? (padding - position * stride + dilation - 1) / dilation : 0;
}

DEVICE int tap_number(Window w, int kd, int kh, int kw) {
    return (kd * w.kh + kh) * w.kw + kw;
}

/* Calls DO(o, tap) for the windows over point p, in ascending order; `tap` of window o lies on the point.
 */
template <class Do> DEVICE void each_window_over(Point p, Window w, Grid out, Do what) {
    for (int kd = w.kd - 1; kd >= 0; kd--)
        for (int kh = w.kh - 1; kh >= 0; kh--)
            for (int kw = w.kw - 1; kw >= 0; kw--) {
                const int d = p.d + w.pd - kd * w.ld, h = p.h + w.ph - kh * w.lh,
                          v = p.w + w.pw - kw * w.lw;
                const Point o = {p.n, d / w.sd, h / w.sh, v / w.sw, p.column};
                if (d >= 0 && h >= 0 && v >= 0 && d % w.sd == 0 && h % w.sh == 0 && v % w.sw == 0 &&
                    inside(out, o))
                    what(o, tap_number(w, kd, kh, kw));
            }
}

/* ---- maps of another size --------------------------------------------------------------------------- */

/* Along an axis: point o of y lies at (o * step + offset) / unit of the `extent` points of x. LINEAR:
 * between two of these; ZERO: what lies beyond the ends is zero, else as the end. */
struct Positions {
    long step, offset, unit;
    int extent, linear, zero;
};

/* The points of x that one of y is made of, and the share of the second. */
struct Made {
    int first, second;
    real share;
};

/* Beyond the ends there is no second point. */
DEVICE Made made_of(Positions p, int o) {
    const long at = o * p.step + p.offset, from = at < 0 && !p.zero ? 0 : at;
    const int below = (int)(from / p.unit), last = p.extent - 1;
    const int first = below > last && !p.zero ? last : below;
    const bool between = p.linear && at >= 0 && first < last;
    return {first, first + between, between ? (real)(from % p.unit) / (real)p.unit : 0};
}

/* a / b, rounded down */
DEVICE long floor_quotient(long a, long b) {
    return a / b - (a % b < 0);
}

/* The points [0, points) of y that are made of point i of x, and some more. */
DEVICE Rows readers_of(Positions p, int i, int points) {
    const long before = (p.linear ? (i - 1) * p.unit : i * p.unit - 1) - p.offset;
    const long last = (i + 1) * p.unit - 1 - p.offset;
    const int begin = (int)floor_quotient(before, p.step) + 1, end = (int)floor_quotient(last, p.step) + 1;
    return {(i == 0 && !p.zero) || begin < 0 ? 0 : begin,
            (i == p.extent - 1 && !p.zero) || end > points ? points : end};
}

/* How much of point o of y is point i of x. */
DEVICE real share_in(Positions p, int i, int o) {
    const Made made = made_of(p, o);
    return (made.first == i ? 1 - made.share : 0) + (p.linear && made.second == i ? made.share : 0);
}

/* Along an axis: the points, of `extent`, whose mean is point o, of `points`. */
DEVICE Rows part_of(int o, int points, int extent) {
    return {(int)((long)o * extent / points), (int)(((o + 1L) * extent + points - 1) / points)};
}

DEVICE int part_points(int o, int points, int extent) {
    const Rows part = part_of(o, points, extent);
    return part.end - part.begin;
}

/* The parts that hold point i. */
DEVICE Rows parts_with(int i, int points, int extent) {
    return {(int)((long)i * points / extent), (int)(((i + 1L) * points - 1) / extent) + 1};
}

/* ---- maxima of windows ------------------------------------------------------------------------------ */

/* The number of the tap that holds the maximum, for each lane. */
struct Argmax {
    int lane[LANES];
};

struct Maximum {
    Vector value;
    Argmax argmax; /* the first that has it */
};

/* Over window o of x; padding counts as -infinity, a NaN as more than any number. */
DEVICE Maximum window_maximum(const stored *__restrict__ x, Grid in, Window w, Point o) {
    Maximum m;
    m.value = filled(-INFINITY);
    const int first = tap_number(w, first_tap(o.d, w.sd, w.pd, w.ld), first_tap(o.h, w.sh, w.ph, w.lh),
                                 first_tap(o.w, w.sw, w.pw, w.lw));
    for (int l = 0; l < LANES; l++)
        m.argmax.lane[l] = first;
    for (int kd = 0; kd < w.kd; kd++)
        for (int kh = 0; kh < w.kh; kh++)
            for (int kw = 0; kw < w.kw; kw++) {
                const Point p = under(w, o, kd, kh, kw);
                if (!inside(in, p))
                    continue;
                const Vector here = load_vector(x, index(in, p));
                for (int l = 0; l < LANES; l++)
                    if (here.lane[l] > m.value.lane[l] || here.lane[l] != here.lane[l]) {
                        m.value.lane[l] = here.lane[l];
                        m.argmax.lane[l] = tap_number(w, kd, kh, kw);
                    }
            }
    return m;
}

/* An argmax in memory: BITS bits a lane, 1, 2 or 4 lanes in a byte. BITS 0: it is not kept. */
template <int BITS> struct alignas(BITS > 0 ? LANES * BITS / 8 : 1) PackedArgmax {
    uint8_t byte[BITS > 0 ? LANES *BITS / 8 : 1];
};

template <int BITS> DEVICE void store_argmax(uint8_t *p, unsigned i, Argmax argmax) {
    PackedArgmax<BITS> packed = {};
    for (int l = 0; l < LANES; l++)
        packed.byte[l * BITS / 8] |= (uint8_t)(argmax.lane[l] << (l * BITS % 8));
    reinterpret_cast<PackedArgmax<BITS> *>(p)[i] = packed;
}

template <int BITS> DEVICE Argmax load_argmax(const uint8_t *p, unsigned i) {
    const PackedArgmax<BITS> packed = reinterpret_cast<const PackedArgmax<BITS> *>(p)[i];
    Argmax argmax;
    for (int l = 0; l < LANES; l++)
        argmax.lane[l] = packed.byte[l * BITS / 8] >> (l * BITS % 8) & ((1 << BITS) - 1);
    return argmax;
}

/* Is a byte kept for a window of 4 taps?  Then its bits from 4 on tell which of these are above zero. */
[[maybe_unused]] static constexpr __host__ __device__ bool keeps_marks(int bits, int taps) {
    return bits == 8 && taps == 4;
}

/* ---- threads ---------------------------------------------------------------------------------------- */

DEVICE unsigned thread_index() {
    return blockIdx.x * THREADS + threadIdx.x;
}

/* Blocks that have a thread for each of `count`. */
[[maybe_unused]] static constexpr __host__ __device__ unsigned blocks_for(unsigned count) {
    return count / THREADS + (count % THREADS != 0);
}

/* The vectors in a range of rows of every sample: `count` of them. In a sample they are `length` vectors
 * from `begin` on, and the next sample is `sample` vectors away, as if each row had a place of its own. */
struct Range {
    unsigned count, begin, length, sample;
};

[[maybe_unused]] static constexpr __host__ __device__ Range range_of(int samples, Grid g, Rows rows) {
    const unsigned row = (unsigned)g.w * g.columns;
    const unsigned length = rows.begin < rows.end ? (rows.end - rows.begin) * row : 0;
    return {samples * length, rows.begin * row, length, g.d * g.h * row};
}

/* Vector i of a range. Whole samples follow each other without gaps. */
DEVICE unsigned in_range(Range range, unsigned i) {
    return range.length == range.sample ? i
                                        : i / range.length * range.sample + range.begin + i % range.length;
}

/* The vector of this thread, or NO_VECTOR. */
constexpr unsigned NO_VECTOR = ~0u;
DEVICE unsigned vector_index(Range range) {
    const unsigned i = thread_index();
    return i < range.count ? in_range(range, i) : NO_VECTOR;
}

/* LAUNCH of a kernel with a thread for each vector of a Range, its first argument. */
#define LAUNCH_RANGE(at, kernel, range, ...)                                                               \
    do {                                                                                                   \
        const Range launched = range;                                                                      \
        if (launched.count > 0)                                                                            \
            LAUNCH(at, kernel, blocks_for(launched.count), launched, __VA_ARGS__);                         \
    } while (0)

/* A sweep over a long array is shared by no more blocks than these, so that what a thread has to work out
 * beforehand is worth its while: eight blocks for each of 132 SMs. */
[[maybe_unused]] static constexpr unsigned sweep_blocks(unsigned count) {
    return blocks_for(count) < 1056 ? blocks_for(count) : 1056;
}

/* The begin of part `part` of `count` things in `parts`. */
DEVICE unsigned part_start(unsigned count, unsigned parts, unsigned part) {
    return (unsigned)((unsigned long long)count * part / parts);
}

/* Sum of x over the threads of a block, for thread 0. Once in a kernel. */
DEVICE double block_sum(double x) {
    SHARED(double, of_warp, [THREADS / WARP]);
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x += __shfl_down_sync(~0u, x, distance);
    if (threadIdx.x % WARP == 0)
        of_warp[threadIdx.x / WARP] = x;
    __syncthreads();
    double sum = 0;
    for (int w = 0; w < THREADS / WARP; w++)
        sum += of_warp[w];
    return sum;
}

/* The same of vectors, by halves. */
DEVICE Vector block_vector_sum(Vector v) {
    SHARED(Vector, part, [THREADS]);
    part[threadIdx.x] = v;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            part[threadIdx.x] = sum(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    return part[0];
}

/* Have all other blocks of the grid come here?  Then what they wrote before may be read: a block counts
 * itself when all of its threads have written. */
DEVICE bool is_last_block(uint32_t *arrived) {
    SHARED(int, last, [1]);
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned others = gridDim.x * gridDim.y - 1;
        __threadfence();
        last[0] = atomicInc(arrived, others) == others;
        __threadfence();
    }
    __syncthreads();
    return last[0];
}

/* Numbers that pad a slice of `count` to a whole vector.  Whoever writes a gradient of parameters zeroes
 * what pads it, because sweeps over all parameters read it. */
[[maybe_unused]] static constexpr __host__ __device__ int slice_padding(int count) {
    return (4 - count % 4) % 4;
}

DEVICE void zero_padding(real *from, int count) {
    for (int i = 0; i < count; i++)
        from[i] = 0;
}

/* ---- samples that count ----------------------------------------------------------------------------- */

/* Samples are counted from the first of this iteration. */
DEVICE bool is_valid(const UnetControl *control, int sample) {
    return control->start + sample < control->n;
}

/* The samples of this iteration, at most N. */
DEVICE int samples_of(const UnetControl *control, int N) {
    const int left = control->n - control->start;
    return left < 0 ? 0 : left < N ? left : N;
}

/* The share of the step; a loss of a whole batch counts that much if a step has several batches. */
DEVICE double batch_share(const UnetControl *control, int N) {
    return (double)samples_of(control, N) / control->n;
}

/* How much of the depth, height and width of a sample is image. */
DEVICE const int32_t *valid_size(const UnetControl *control, int sample) {
    return reinterpret_cast<const UnetValid *>(control + 1)[control->start + (long)sample];
}

DEVICE bool inside(const int32_t *size, Point p) {
    return p.d < size[0] && p.h < size[1] && p.w < size[2];
}

/* ---- kernels that several operators share ----------------------------------------------------------- */

/* dx = dy where y > 0, else 0; dx may be dy. */
template <class T>
static __global__ void unet_mask_vectors(Range range, T *dx, const T *__restrict__ y, const T *dy) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(dx, i, masked(load_vector(dy, i), load_vector(y, i)));
}

template <class T>
static __global__ void unet_copy_vectors(Range range, T *__restrict__ to, const T *__restrict__ from) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(to, i, load_vector(from, i));
}

/* A thread takes this many vectors, all of the same channels, and reads their bias once. */
enum { BIAS_VECTORS = 8 };

/* How far these are from each other, so that together they cover all. */
template <int COLUMNS> static constexpr __host__ __device__ unsigned bias_stride(unsigned count) {
    return (count / COLUMNS + BIAS_VECTORS - 1) / BIAS_VECTORS * COLUMNS;
}

/* y += b, if there is one; RELU: then max(y, 0). */
template <int COLUMNS, int RELU>
static __global__ void unet_add_bias(stored *y, const real *__restrict__ b, int channels, unsigned count) {
    const unsigned i = thread_index(), stride = bias_stride<COLUMNS>(count);
    if (i >= stride)
        return;
    const int first = i % COLUMNS * LANES;
    Vector bias = filled(0);
    if (b != NULL)
#pragma unroll
        for (int l = 0; l < LANES; l++)
            bias.lane[l] = first + l < channels ? b[first + l] : 0;
#pragma unroll
    for (int k = 0; k < BIAS_VECTORS; k++)
        if (i + k * stride < count) {
            Vector v = sum(load_vector(y, i + k * stride), bias);
            for (int l = 0; RELU && l < LANES; l++)
                v.lane[l] = positive(v.lane[l]);
            store_vector(y, i + k * stride, v);
        }
}

/* Blocks that unpack a filter, a thread for each weight. */
[[maybe_unused]] static constexpr __host__ __device__ unsigned filter_blocks(Filter f, int taps) {
    return blocks_for(f.kn * f.cn * taps);
}

/* Weight i of a filter of cuDNN to its place in dense weights [K][C][TAPS], where C is `channels`. */
template <int TAPS, int ACCUMULATE>
DEVICE void unpack_weight(real *dw, const stored *filter, Filter f, int channels, unsigned i) {
    const unsigned row = (unsigned)f.cn * TAPS;
    if (i >= f.kn * row)
        return;
    const int k = i / row, c = i % row / TAPS, tap = i % TAPS;
    const long to = ((long)(f.k0 + k) * channels + f.c0 + c) * TAPS + tap;
    const real x = load(filter, f.offset + ((long)k * TAPS + tap) * f.cp + c);
    dw[to] = ACCUMULATE ? dw[to] + x : x;
}

/* Threads in a block of unet_sum_points side by side; such blocks beside each other; and one below the
 * other. */
template <int COLUMNS> static constexpr __host__ __device__ int sum_width() {
    return COLUMNS < WARP ? COLUMNS : WARP;
}
template <int COLUMNS> static constexpr __host__ __device__ int sum_blocks() {
    return (COLUMNS + sum_width<COLUMNS>() - 1) / sum_width<COLUMNS>();
}
template <int COLUMNS> static constexpr __host__ __device__ int sum_height() {
    return THREADS / sum_width<COLUMNS>();
}

/* The power of two that halves `count` things, or a few more. */
[[maybe_unused]] static constexpr __host__ __device__ int upper_half(int count) {
    int half = 1;
    while (2 * half < count)
        half *= 2;
    return half;
}

/* Sums over bands of so many points, for each channel: [band][channel]. A row of threads takes every
 * sum_height-th point of its band, and then the rows are added by halves. OF(point, column) is what a point
 * adds. */
template <int COLUMNS, class Of> DEVICE void sum_over_points(real *sums, unsigned points, Of of) {
    constexpr int WIDTH = sum_width<COLUMNS>(), HEIGHT = sum_height<COLUMNS>();
    SHARED(Vector, part, [HEIGHT][WIDTH]);
    const int row = threadIdx.x / WIDTH, lane = threadIdx.x % WIDTH, column = blockIdx.y * WIDTH + lane;
    const bool busy = row < HEIGHT && column < COLUMNS;
    const unsigned last = part_start(points, gridDim.x, blockIdx.x + 1);
    Vector total = filled(0);
    if (busy) {
#pragma unroll 4
        for (unsigned p = part_start(points, gridDim.x, blockIdx.x) + row; p < last; p += HEIGHT)
            total = sum(total, of(p, column));
        part[row][lane] = total;
    }
    for (int below = upper_half(HEIGHT); below > 0; below /= 2) {
        __syncthreads();
        if (busy && row < below && row + below < HEIGHT)
            part[row][lane] = sum(part[row][lane], part[row + below][lane]);
    }
    if (busy && row == 0)
        for (int l = 0; l < LANES; l++)
            sums[((long)blockIdx.x * COLUMNS + column) * LANES + l] = part[0][lane].lane[l];
}

/* The blocks that do so, in BANDS bands. */
template <int COLUMNS, int BANDS> static constexpr dim3 sum_grid() {
    static_assert(COLUMNS <= 65535, "one row of blocks");
    return dim3(BANDS, sum_blocks<COLUMNS>());
}

/* Sums of dy over bands of a range of the points of a grid. */
template <int COLUMNS>
static __global__ void unet_sum_points(real *__restrict__ sums, const stored *__restrict__ dy, Range points,
                                       Grid grid) {
    sum_over_points<COLUMNS>(sums, points.count, [=](unsigned p, int column) {
        return load_vector(dy, place(grid, in_range(points, p)) * COLUMNS + column);
    });
}

/* dx, at so many points, where y > 0, else 0; and its sums over bands of them. */
template <int COLUMNS>
static __global__ void unet_mask_points(stored *dx, real *__restrict__ sums, const stored *__restrict__ y,
                                        unsigned points) {
    sum_over_points<COLUMNS>(sums, points, [=](unsigned p, int column) {
        const unsigned i = p * COLUMNS + column;
        const Vector v = masked(load_vector(dx, i), load_vector(y, i));
        store_vector(dx, i, v);
        return v;
    });
}

/* Blocks that sum over bands, each for WARP channels. */
[[maybe_unused]] static constexpr unsigned channel_blocks(int channels) {
    return (unsigned)(channels + WARP - 1) / WARP;
}

/* Sums over the bands, for the channels of block `block` that are there; several are read before the first
 * is added. */
DEVICE void sum_bands(real *db, const real *__restrict__ sums, int bands, int stored_channels, int channels,
                      int block, int adds) {
    constexpr int HEIGHT = THREADS / WARP;
    SHARED(real, part, [HEIGHT][WARP]);
    const int row = threadIdx.x / WARP, lane = threadIdx.x % WARP, channel = block * WARP + lane;
    real total = 0;
    if (channel < channels)
#pragma unroll 8
        for (int band = row; band < bands; band += HEIGHT)
            total += sums[(long)band * stored_channels + channel];
    part[row][lane] = total;
    __syncthreads();
    if (row > 0 || channel >= channels)
        return;
    for (int r = 1; r < HEIGHT; r++)
        total += part[r][lane];
    db[channel] = adds ? db[channel] + total : total;
}

/* The operands of a comparison: the points of a sample, channels, how many of these p and t store, and
 * their rings; for windows how many more points than one they have along a row and a column. */
struct Compared {
    Grid points;
    int channels, p_block, t_block, p_ring, t_ring, reach = 0;
};

/* Point `point` of p, or of t, as load_channels counts it. */
DEVICE unsigned point_place(Compared by, int ring, unsigned point) {
    return place({by.points.d, by.points.h, by.points.w, 1, ring}, point);
}

/* The bands of the points of a sample that lie in a range of rows: of all rows all bands, else there is a
 * band for each row. */
[[maybe_unused]] static constexpr Rows bands_in(Rows rows, Grid g, int bands) {
    const long all = (long)g.d * g.h;
    return {(int32_t)(rows.begin * (long)bands / all), (int32_t)(rows.end * (long)bands / all)};
}

/* For a block: the sum of OF(p, t) over one of the `bands` of the points of a sample, as far as they are
 * valid. */
template <int P_STAGED, int T_STAGED, class Of>
DEVICE void sum_band(double *scratch, const void *p, const void *t, const UnetControl *control, Compared by,
                     unsigned bands, unsigned sample, unsigned band, Of of) {
    const unsigned last = part_start(vectors(1, by.points), bands, band + 1);
    const int32_t *size = valid_size(control, sample);
    double total = 0;
    for (unsigned i = part_start(vectors(1, by.points), bands, band) + threadIdx.x; i < last;
         i += THREADS) {
        if (!inside(size, point_at(by.points, i)))
            continue;
        const unsigned point = sample * vectors(1, by.points) + i;
        for (int column = 0; column * LANES < by.channels; column++) {
            const Vector a = load_channels<P_STAGED>(p, by.p_block, by.channels,
                                                     point_place(by, by.p_ring, point), column);
            const Vector b = load_channels<T_STAGED>(t, by.t_block, by.channels,
                                                     point_place(by, by.t_ring, point), column);
            for (int l = 0; l < LANES && column * LANES + l < by.channels; l++)
                total += of(a.lane[l], b.lane[l]);
        }
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        scratch[(long)sample * bands + band] = total;
}

/* Vector i of the gradient by p of `weight` times the mean of errors whose slope is Slope::of(p, t); zero
 * for samples that do not count.  Returns what it stores. */
template <class Slope, int P_STAGED, int T_STAGED>
DEVICE Vector store_slopes(stored *dp, unsigned i, const void *p, const void *t, const UnetControl *control,
                           Compared by, double weight) {
    const unsigned columns = by.points.columns, point = i / columns,
                   of_sample = vectors(1, by.points) / columns;
    Vector gradient = filled(0);
    if (is_valid(control, point / of_sample)) {
        const double factor = weight / (control->n * ((double)by.channels * of_sample));
        const Vector a = load_channels<P_STAGED>(p, by.p_block, by.channels,
                                                 point_place(by, by.p_ring, point), i % columns);
        const Vector b = load_channels<T_STAGED>(t, by.t_block, by.channels,
                                                 point_place(by, by.t_ring, point), i % columns);
        for (int l = 0; l < LANES; l++)
            gradient.lane[l] = (real)(factor * Slope::of(a.lane[l], b.lane[l]));
    }
    store_vector(dp, place(by.points, i), gradient);
    return as_stored(gradient);
}

/* How many elements, or windows, of a sample are valid: none beyond the compared points. */
DEVICE double valid_elements(const int32_t *size, Compared by) {
    const int d = size[0] < by.points.d ? size[0] : by.points.d;
    const int h = (size[1] < by.points.h ? size[1] : by.points.h) - by.reach;
    const int w = (size[2] < by.points.w ? size[2] : by.points.w) - by.reach;
    return h > 0 && w > 0 ? (double)by.channels * d * h * w : 0;
}

/* The mean over sample `i`, from the sums of its bands; 0 where there is nothing to compare. */
DEVICE double mean_of_sample(int i, const double *scratch, int bands, const UnetControl *control,
                             Compared by) {
    double total = 0;
    for (int band = 0; band < bands; band++)
        total += scratch[(long)i * bands + band];
    const double elements = valid_elements(valid_size(control, i), by);
    return elements > 0 ? total / elements : 0;
}

/* For a block: each thread adds the bands of a sample in order, then thread 0 the samples; each adds OF(the
 * mean over its valid elements). */
template <int N, int BANDS, class Of>
DEVICE void sum_samples(double *result, double *scratch, const UnetControl *control, Compared by, bool adds,
                        Of of) {
    for (int i = threadIdx.x; i < N; i += THREADS) {
        const double mean = mean_of_sample(i, scratch, BANDS, control, by);
        scratch[(long)i * BANDS] = is_valid(control, i) ? of(mean) : 0;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    double total = adds ? *result : 0;
    for (int i = 0; i < N; i++)
        total += scratch[(long)i * BANDS];
    *result = total;
}

/* The amount that a sample adds to a result: a function of the mean over its valid elements. */
struct Mean {
    DEVICE double of(double mean) { return mean; }
};

template <class Of, int N, int BANDS, int ACCUMULATE>
static __global__ void unet_sum_samples(double *result, double *scratch, const UnetControl *control,
                                        Compared by) {
    sum_samples<N, BANDS>(result, scratch, control, by, ACCUMULATE,
                          [](double mean) { return Of::of(mean); });
}

/* sin(x - HALF pi), by its series: x is brought near zero by whole multiples of pi; an odd
 * multiple turns the sign round. sinf() would keep an array in memory, for numbers that have no digits
 * left. */
DEVICE real sine_behind(real x, real half) {
    const real count = rintf(x * 0.31830989f - half);
    const real r = fmaf(-(count + half), -8.7422777e-8f, fmaf(-(count + half), 3.1415927f, x)), z = r * r;
    const real odd = count - 2 * floorf(count * 0.5f);
    real sum = -1.0f / 39916800;
    sum = sum * z + 1.0f / 362880;
    sum = sum * z - 1.0f / 5040;
    sum = sum * z + 1.0f / 120;
    sum = sum * z - 1.0f / 6;
    return (1 - 2 * odd) * (sum * z * r + r);
}

DEVICE real sine(real x) {
    return sine_behind(x, 0);
}

DEVICE real cosine(real x) {
    return -sine_behind(x, 0.5f);
}
/* END */
