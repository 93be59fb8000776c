/* simple_denoiser_kernels.cu - the kernels of simple_denoiser, and what launches them
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <unet/cuda.h>

#define UNET_STORED __nv_bfloat16

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

/* ---- filters of many layers in one launch ----------------------------------------------------------- */

/* The job of this block. */
DEVICE const UnetFilterJob &job_of_block(const UnetFilterJobs &jobs) {
    unsigned low = 0, high = jobs.count;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (jobs.job[middle].first <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    return jobs.job[low];
}

/* The number of the thread in its job. */
DEVICE unsigned thread_of_job(const UnetFilterJob &job) {
    return (blockIdx.x - job.first) * THREADS + threadIdx.x;
}

[[maybe_unused]] static UnetFilterJob filter_job(void *to, const void *from, Filter f, int channels,
                                                 int taps, int adds) {
    return {to, from, 0, f.k0, f.kn, f.kp, f.c0, f.cn, f.cp, channels, taps, adds};
}

/* One job more, of so many blocks; LAUNCH_ALL makes room where there is none. */
template <class LaunchAll>
static void add_job(UnetFilterJobs *jobs, UnetFilterJob job, unsigned blocks, LaunchAll launch_all) {
    if (jobs->count == UNET_FILTER_JOBS)
        launch_all();
    job.first = jobs->blocks;
    jobs->blocks += blocks;
    jobs->job[jobs->count++] = job;
}

/* A warp takes WARP channels of a filter, which are neighbours in the dense weights with all their taps,
 * and so many taps at a time.  They go through shared memory, so that both sides are read and written
 * along. */
enum { WARPS = THREADS / WARP, TILE_TAPS = 27 };

/* Filters and groups of channels of a job, counted: this warp's. */
struct FilterTile {
    int k, c, channels; /* the filter, its first channel, and how many dense weights has */
};

DEVICE FilterTile tile_of_warp(const UnetFilterJob &job, int channels) {
    const unsigned groups = ((unsigned)channels + WARP - 1) / WARP,
                   tile = (blockIdx.x - job.first) * WARPS + threadIdx.x / WARP;
    const int k = (int)(tile / groups), c = (int)(tile % groups) * WARP, left = job.cn - c;
    return {k, c, k >= job.kn || left < 0 ? 0 : left < WARP ? left : (int)WARP};
}

/* The dense weights of a tile; tap `first` is the first. */
DEVICE long tile_start(const UnetFilterJob &job, FilterTile tile, int first) {
    return ((long)(job.k0 + tile.k) * job.channels + job.c0 + tile.c) * job.taps + first;
}

/* The place of weight i of a tile along the dense weights, if it has so many taps of each channel. */
DEVICE long tile_weight(const UnetFilterJob &job, int taps, int i) {
    return taps == job.taps ? i : (long)(i / taps) * job.taps + i % taps;
}

/* For a block: filters of cuDNN, padded with zeros, from dense weights. */
DEVICE void pack_job(const UnetFilterJob &job) {
    SHARED(real, weights, [WARPS][WARP * TILE_TAPS]);
    const FilterTile tile = tile_of_warp(job, job.cp);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int first = 0; first < job.taps; first += TILE_TAPS) {
        const int taps = job.taps - first < TILE_TAPS ? job.taps - first : (int)TILE_TAPS;
        const real *from = static_cast<const real *>(job.from) + tile_start(job, tile, first);
        __syncthreads();
        for (int i = lane; i < tile.channels * taps; i += WARP)
            weights[warp][i] = from[tile_weight(job, taps, i)];
        __syncthreads();
        if (tile.k < job.kp && tile.c + lane < job.cp)
            for (int tap = 0; tap < taps; tap++)
                store(static_cast<stored *>(job.to),
                      ((long)tile.k * job.taps + first + tap) * job.cp + tile.c + lane,
                      lane < tile.channels ? weights[warp][lane * taps + tap] : 0);
    }
}

/* A vector of an image (taps 0) that the loader left as k0 says: cp stored channels of kn points, where it
 * has cn of kp. */
DEVICE void cast_job(const UnetFilterJob &job, unsigned i) {
    const unsigned columns = (unsigned)job.cp / LANES, point = i / columns;
    const int column = (int)(i % columns);
    if (i < job.kn * columns)
        store_vector(static_cast<stored *>(job.to), i,
                     job.k0 == 2 ? load_channels<2>(job.from, job.kp, job.cn, point, column)
                                 : load_channels<1>(job.from, job.kp, job.cn, point, column));
}

static __global__ void unet_pack_filters(UnetFilterJobs jobs) {
    const UnetFilterJob &job = job_of_block(jobs);
    if (job.taps > 0)
        pack_job(job);
    else
        cast_job(job, thread_of_job(job));
}

[[maybe_unused]] static void launch_packing(UnetLaunch at) {
    LAUNCH_BLOCKS(at, unet_pack_filters, at.jobs->blocks, *at.jobs);
    at.jobs->count = at.jobs->blocks = 0;
}

/* Blocks for so many filters of so many channels. */
[[maybe_unused]] static constexpr unsigned tile_blocks(int filters, int channels) {
    return ((unsigned)filters * (((unsigned)channels + WARP - 1) / WARP) + WARPS - 1) / WARPS;
}

/* For a block: filters of cuDNN to their places in dense weights; behind the last one kp zeros. */
DEVICE void unpack_job(const UnetFilterJob &job) {
    SHARED(real, weights, [WARPS][WARP * TILE_TAPS]);
    const FilterTile tile = tile_of_warp(job, job.cn);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int first = 0; first < job.taps; first += TILE_TAPS) {
        const int taps = job.taps - first < TILE_TAPS ? job.taps - first : (int)TILE_TAPS;
        real *to = static_cast<real *>(job.to) + tile_start(job, tile, first);
        __syncthreads();
        if (lane < tile.channels)
            for (int tap = 0; tap < taps; tap++)
                weights[warp][lane * taps + tap] =
                    load(static_cast<const stored *>(job.from),
                         ((long)tile.k * job.taps + first + tap) * job.cp + tile.c + lane);
        __syncthreads();
        for (int i = lane; i < tile.channels * taps; i += WARP) {
            real *const at = to + tile_weight(job, taps, i);
            *at = job.adds ? *at + weights[warp][i] : weights[warp][i];
        }
    }
    if (tile.k == job.kn - 1 && tile.c + tile.channels == job.cn && lane == 0)
        zero_padding(static_cast<real *>(job.to) + tile_start(job, tile, 0) +
                         (long)tile.channels * job.taps,
                     job.kp);
}

/* Unpacks gradients of filters, and sums gradients of biases (taps 0) over kn bands of cp stored channels;
 * behind them kp zeros. */
static __global__ void unet_unpack_filters(UnetFilterJobs jobs) {
    const UnetFilterJob &job = job_of_block(jobs);
    if (job.taps > 0) {
        unpack_job(job);
        return;
    }
    real *const to = static_cast<real *>(job.to);
    sum_bands(to, static_cast<const real *>(job.from), job.kn, job.cp, job.cn,
              (int)(blockIdx.x - job.first), job.adds);
    if (thread_of_job(job) == 0)
        zero_padding(to + job.cn, job.kp);
}

/* ---- several losses and metrics in one launch ------------------------------------------------------- */

enum { COMPARE_MSE, COMPARE_L1, COMPARE_CHARBONNIER, COMPARE_SMOOTH_L1, COMPARE_PSNR };

/* The amount that a point adds. */
DEVICE double error_of(int kind, double number, double p, double t) {
    if (kind == COMPARE_PSNR) {
        p = clamp(p, 0, 1);
        t = clamp(t, 0, 1);
    }
    const double square = (p - t) * (p - t), difference = fabs(p - t);
    switch (kind) {
    case COMPARE_L1:
        return difference;
    case COMPARE_CHARBONNIER:
        return sqrt(square + number * number);
    case COMPARE_SMOOTH_L1:
        return difference < number ? difference * difference / (2 * number) : difference - number / 2;
    default:
        return square;
    }
}

/* The amount that a sample adds, from the mean over its points: for a metric decibels, for a peak of 1. */
DEVICE double of_mean(int kind, double mean) {
    return kind == COMPARE_PSNR ? clamp(-10 * log10(mean), 0, 100) : mean;
}

/* One more; LAUNCH_ALL makes room where there is none. */
template <class LaunchAll>
static void add_comparison(UnetComparisons *all, UnetComparison comparison, LaunchAll launch_all) {
    if (all->count == UNET_COMPARISONS)
        launch_all();
    all->of[all->count++] = comparison;
}

/* For the `wanted` bands, of `BANDS` bands of every sample; with the last of them come the sums over all.
 */
template <int N, int BANDS, int P_STAGED, int T_STAGED>
DEVICE void compare_bands(const UnetComparisons &all, const void *p, const void *t,
                          const UnetControl *control, uint32_t *arrived, Compared by, Rows wanted) {
    const unsigned count = wanted.end - wanted.begin, block = blockIdx.x % (N * count);
    const unsigned sample = block / count, band = wanted.begin + block % count;
    const UnetComparison &one = all.of[blockIdx.x / (N * count)];
    const int kind = one.kind;
    const double number = one.number;
    sum_band<P_STAGED, T_STAGED>(one.scratch, p, t, control, by, BANDS, sample, band,
                                 [=](double a, double b) { return error_of(kind, number, a, b); });
    if (wanted.end < BANDS || !is_last_block(arrived))
        return;
    for (unsigned k = 0; k < all.count; k++) {
        const int of = all.of[k].kind;
        sum_samples<N, BANDS>(all.of[k].result, all.of[k].scratch, control, by, all.of[k].adds,
                              [=](double mean) { return of_mean(of, mean); });
    }
}

/* ---- gradients of losses that are means over the points ---------------------------------------------- */

/* A Loss has by(), its operands; of(p, t), the slope of the error of a point; and weight(scale, errors,
 * sample), the factor of the slopes of a sample. */
template <class Loss, int P_STAGED, int T_STAGED>
DEVICE Vector store_gradient(unsigned i, stored *__restrict__ dp, const void *__restrict__ p,
                             const void *__restrict__ t, const double *errors, const double *scale,
                             const UnetControl *control) {
    constexpr Compared by = Loss::by();
    return store_slopes<Loss, P_STAGED, T_STAGED>(dp, i, p, t, control, by,
                                                  Loss::weight(scale, errors, i / vectors(1, by.points)));
}

template <class Loss, int P_STAGED, int T_STAGED>
static __global__ void unet_slopes(Range range, stored *__restrict__ dp, const void *__restrict__ p,
                                   const void *__restrict__ t, const double *errors, const double *scale,
                                   const UnetControl *control) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_gradient<Loss, P_STAGED, T_STAGED>(i, dp, p, t, errors, scale, control);
}

/* All vectors, and sums over bands of their points. */
template <class Loss, int P_STAGED, int T_STAGED>
static __global__ void unet_sum_slopes(unsigned points, stored *__restrict__ dp, real *__restrict__ sums,
                                       const void *__restrict__ p, const void *__restrict__ t,
                                       const double *errors, const double *scale,
                                       const UnetControl *control) {
    constexpr int columns = Loss::by().points.columns;
    sum_over_points<columns>(sums, points, [=](unsigned point, int column) {
        return store_gradient<Loss, P_STAGED, T_STAGED>(point * columns + column, dp, p, t, errors, scale,
                                                        control);
    });
}

/* The slopes of N samples; ERRORS: as weight() wants them, or NULL. */
template <class Loss, int N, int P_STAGED, int T_STAGED, int SUM_BANDS>
[[maybe_unused]] static void launch_slopes(UnetLaunch at, Rows rows, stored *dp, real *sums, const void *p,
                                           const void *t, const double *errors, const double *scale) {
    constexpr Grid points = Loss::by().points;
    if constexpr (SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, (unet_sum_slopes<Loss, P_STAGED, T_STAGED>),
                      (sum_grid<points.columns, SUM_BANDS>()), N * points.d * points.h * points.w, dp, sums,
                      p, t, errors, scale, at.control);
    else
        LAUNCH_RANGE(at, (unet_slopes<Loss, P_STAGED, T_STAGED>),
                     range_of(N, {points.d, points.h, points.w, points.columns}, rows), dp, p, t, errors,
                     scale, at.control);
}

/* cast: noisy cast of train: noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
static __global__ void simple_denoiser_cast_0_vectors(Range range, stored *__restrict__ y, const void *__restrict__ x) {
    enum { C = 3, D = 1, H = 64, W = 64, X_STAGED = 1 };
    constexpr Layout Y = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout X = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(y, place(to, i), load_channels<X_STAGED>(x, X.block, C, i / columns, i % columns));
}

LAUNCHER void simple_denoiser_cast_0(UnetLaunch at, Rows rows, stored *y, const void *x) {
    enum { C = 3, D = 1, H = 64, W = 64, X_STAGED = 1, N = 6 };
    constexpr Layout Y = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout X = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Filter image = {X_STAGED, N * D * H * W, X.block, 0, C, Y.block, 0};
    const auto launch_all = [&] { launch_packing(at); };
    if (!at.more && at.jobs->count == 0) {
        LAUNCH_RANGE(at, simple_denoiser_cast_0_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
        return;
    }
    add_job(at.jobs, filter_job(y, x, image, 0, 0, 0), blocks_for(image.kn * (image.cp / LANES)),
            launch_all);
    if (!at.more)
        launch_all();
}

/* filter_pack: net.0 of train, net.0 of eval, net.0 of predict: net.0.weight[64,3,3,3] net.0.bias[64]
    -> net.0 filters[4672] */
LAUNCHER void simple_denoiser_filter_pack_0(UnetLaunch at, stored *packed, const real *w, const real *b) {
    enum { BIAS = 1, SEGMENTS = 1, K = 64, C = 3, TAPS = 9, BIAS_AT = 4608, PBIAS = 64 };
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 3, 8, 0}};
    constexpr Filter bias = {0, 1, 1, 0, K, PBIAS, BIAS_AT};
    const auto launch_all = [&] { launch_packing(at); };
    for (int s = 0; s < SEGMENTS; s++)
        add_job(at.jobs, filter_job(packed + FILTER[s].offset, w, FILTER[s], C, TAPS, 0),
                tile_blocks(FILTER[s].kp, FILTER[s].cp), launch_all);
    if (BIAS)
        add_job(at.jobs, filter_job(packed + BIAS_AT, b, bias, K, 1, 0), tile_blocks(1, PBIAS), launch_all);
    if (!at.more)
        launch_all();
}

/* filter_pack: net.2 of train, net.4 of train, net.2 of eval, 3 more: net.2.weight[64,64,3,3] net.2.bias[64]
    -> net.2 filters[36928] */
LAUNCHER void simple_denoiser_filter_pack_1(UnetLaunch at, stored *packed, const real *w, const real *b) {
    enum { BIAS = 1, SEGMENTS = 1, K = 64, C = 64, TAPS = 9, BIAS_AT = 36864, PBIAS = 64 };
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 64, 64, 0}};
    constexpr Filter bias = {0, 1, 1, 0, K, PBIAS, BIAS_AT};
    const auto launch_all = [&] { launch_packing(at); };
    for (int s = 0; s < SEGMENTS; s++)
        add_job(at.jobs, filter_job(packed + FILTER[s].offset, w, FILTER[s], C, TAPS, 0),
                tile_blocks(FILTER[s].kp, FILTER[s].cp), launch_all);
    if (BIAS)
        add_job(at.jobs, filter_job(packed + BIAS_AT, b, bias, K, 1, 0), tile_blocks(1, PBIAS), launch_all);
    if (!at.more)
        launch_all();
}

/* filter_pack: net.6 of train, net.6 of eval, net.6 of predict: net.6.weight[3,64,3,3] net.6.bias[3]
    -> net.6 filters[4616] */
LAUNCHER void simple_denoiser_filter_pack_2(UnetLaunch at, stored *packed, const real *w, const real *b) {
    enum { BIAS = 1, SEGMENTS = 1, K = 3, C = 64, TAPS = 9, BIAS_AT = 4608, PBIAS = 8 };
    static constexpr Filter FILTER[1] = {{0, 3, 8, 0, 64, 64, 0}};
    constexpr Filter bias = {0, 1, 1, 0, K, PBIAS, BIAS_AT};
    const auto launch_all = [&] { launch_packing(at); };
    for (int s = 0; s < SEGMENTS; s++)
        add_job(at.jobs, filter_job(packed + FILTER[s].offset, w, FILTER[s], C, TAPS, 0),
                tile_blocks(FILTER[s].kp, FILTER[s].cp), launch_all);
    if (BIAS)
        add_job(at.jobs, filter_job(packed + BIAS_AT, b, bias, K, 1, 0), tile_blocks(1, PBIAS), launch_all);
    if (!at.more)
        launch_all();
}

/* conv: net.0 of train: noisy cast[n,3,64,64] net.0 filters[4672] net.0.bias[64] -> net.1[n,64,64,64]
    net.0 workspace[33554432] */
LAUNCHER void simple_denoiser_conv_0(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    enum { CO = 64, D = 1, H = 64, W = 64, BIAS = 1, RELU = 1, SEGMENTS = 1, N = 6, BIAS_AT = 4608,
           FINISHED = 1 };
    constexpr Layout Y = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 3, 8, 0}};
    static constexpr int GRAPH[1] = {0};
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}

/* conv: net.2 of train, net.4 of train: net.1[n,64,64,64] net.2 filters[36928] net.2.bias[64]
    -> net.3[n,64,64,64] net.2 workspace[33554432] */
LAUNCHER void simple_denoiser_conv_1(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    enum { CO = 64, D = 1, H = 64, W = 64, BIAS = 1, RELU = 1, SEGMENTS = 1, N = 6, BIAS_AT = 36864,
           FINISHED = 1 };
    constexpr Layout Y = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {1};
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}

/* conv: net.6 of train: net.5[n,64,64,64] net.6 filters[4616] net.6.bias[3] -> net.6[n,3,64,64]
    net.6 workspace[33554432] */
LAUNCHER void simple_denoiser_conv_2(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    enum { CO = 3, D = 1, H = 64, W = 64, BIAS = 1, RELU = 0, SEGMENTS = 1, N = 6, BIAS_AT = 4608, FINISHED = 1 };
    constexpr Layout Y = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 3, 8, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {2};
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}

/* mse: mse of train: net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[12] */
static __global__ void simple_denoiser_mse_0_bands(UnetComparisons all, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, BANDS = 2, N = 6 };
    constexpr Layout P = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout T = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_bands<N, BANDS, P_STAGED, T_STAGED>(all, p, t, control, arrived, by, bands);
}

LAUNCHER void simple_denoiser_mse_0(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    enum { D = 1, H = 64, W = 64, BANDS = 2, ACCUMULATE = 0, N = 6, SCRATCH = 256 };
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    const auto launch_all = [&] {
        const unsigned blocks = at.comparisons->count * N * (bands.end - bands.begin);
        if (blocks > 0)
            LAUNCH_BLOCKS(at, simple_denoiser_mse_0_bands, blocks, *at.comparisons, p, t, at.control, at.arrived, bands);
        at.comparisons->count = 0;
    };
    add_comparison(at.comparisons, {result, scratch, 0, COMPARE_MSE, ACCUMULATE}, launch_all);
    if (!at.more)
        launch_all();
}

/* psnr: psnr of train: net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[12] */
static __global__ void simple_denoiser_psnr_0_bands(UnetComparisons all, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, BANDS = 2, N = 6 };
    constexpr Layout P = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout T = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_bands<N, BANDS, P_STAGED, T_STAGED>(all, p, t, control, arrived, by, bands);
}

LAUNCHER void simple_denoiser_psnr_0(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    enum { D = 1, H = 64, W = 64, BANDS = 2, ACCUMULATE = 0, N = 6, SCRATCH = 256 };
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    const auto launch_all = [&] {
        const unsigned blocks = at.comparisons->count * N * (bands.end - bands.begin);
        if (blocks > 0)
            LAUNCH_BLOCKS(at, simple_denoiser_psnr_0_bands, blocks, *at.comparisons, p, t, at.control, at.arrived, bands);
        at.comparisons->count = 0;
    };
    add_comparison(at.comparisons, {result, scratch, 0, COMPARE_PSNR, ACCUMULATE}, launch_all);
    if (!at.more)
        launch_all();
}

/* mse_grad: mse of train: net.6[n,3,64,64] clean[n,3,64,64] -> d net.6[n,3,64,64]
    net.6 sums for bias[3080] */
DEVICE double simple_denoiser_mse_grad_0_weight(const double *scale) {
    enum { SCALED = 0 };
    constexpr double WEIGHT = 1;
    return 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
}

[[maybe_unused]] static constexpr __host__ __device__ Compared simple_denoiser_mse_grad_0_by() {
    enum { C = 3, D = 1, H = 64, W = 64 };
    constexpr Layout P = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout T = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout DP = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    return {{D, H, W, DP.block / LANES, DP.ring}, C, P.block, T.block, P.ring, T.ring};
}

struct simple_denoiser_mse_grad_0_Loss {
    DEVICE double of(double p, double t) { return p - t; }
    DEVICE double weight(const double *scale, const double *, unsigned) { return simple_denoiser_mse_grad_0_weight(scale); }
    static constexpr __host__ __device__ Compared by() { return simple_denoiser_mse_grad_0_by(); }
};

LAUNCHER void simple_denoiser_mse_grad_0(UnetLaunch at, Rows rows, stored *dp, real *sums, const void *p, const void *t,
                     const double *scale) {
    enum { P_STAGED = 0, T_STAGED = 1, SUM_BANDS = 385, N = 6 };
    launch_slopes<simple_denoiser_mse_grad_0_Loss, N, P_STAGED, T_STAGED, SUM_BANDS>(at, rows, dp, sums, p, t, NULL, scale);
}

/* conv_wgrad: net.6 of train: net.5[n,64,64,64] d net.6[n,3,64,64] -> net.6 scratch[8388608]
    net.6 packed gradient[2304] */
LAUNCHER void simple_denoiser_conv_wgrad_0(UnetLaunch at, real *, real *, void *scratch, real *, real *packed,
                     const stored *const *x, const stored *dy) {
    enum { D = 1, H = 64, W = 64, TRANSPOSED = 0, BANDS = 0, SEGMENTS = 1, N = 6, BANDS_AT = 2304 };
    constexpr Layout DY = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 3, 8, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {3};
    constexpr int columns = DY.block / LANES;
    constexpr Grid points = {D, H, W, 1, 0};
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], (stored *)packed + FILTER[s].offset, TRANSPOSED ? dy : x[s],
                              TRANSPOSED ? x[s] : dy, NULL, scratch);
    if (BANDS > 0)
        LAUNCH_BLOCKS(at, unet_sum_points<columns>, (sum_grid<columns, BANDS>()), packed + BANDS_AT, dy,
                      range_of(N, points, {0, D * H}), points);
}

/* conv_dgrad: net.6 of train: d net.6[n,3,64,64] net.6 filters[4616] net.5[n,64,64,64] -> d net.4[n,64,64,64]
    net.6 workspace[33554432] net.4 sums for bias[24640] */
LAUNCHER void simple_denoiser_conv_dgrad_0(UnetLaunch at, stored *dx, void *workspace, real *sums, const stored *dy,
                     const stored *packed, const stored *m, const stored *a) {
    enum { ID = 1, IH = 64, IW = 64, MASK = 1, ADDED = 0, N = 6, SUM_BANDS = 385 };
    constexpr Layout DX = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 3, 8, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {4};
    constexpr int columns = DX.block / LANES;
    if (ADDED && a != dx)
        LAUNCH_RANGE(at, unet_copy_vectors<stored>, range_of(N, {ID, IH, IW, columns}, {0, ID * IH}), dx,
                     a);
    unet_cuda_convolution(at, GRAPH[0], dx, dy, packed + FILTER[0].offset, NULL, workspace);
    if (MASK && SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, unet_mask_points<columns>, (sum_grid<columns, SUM_BANDS>()), dx, sums, m,
                      N * ID * IH * IW);
    else if (MASK)
        LAUNCH_RANGE(at, unet_mask_vectors<stored>, range_of(N, {ID, IH, IW, columns}, {0, ID * IH}), dx, m,
                     dx);
}

/* conv_wgrad: net.4 of train, net.2 of train: net.3[n,64,64,64] d net.4[n,64,64,64] -> net.4 scratch[8388608]
    net.4 packed gradient[18432] */
LAUNCHER void simple_denoiser_conv_wgrad_1(UnetLaunch at, real *, real *, void *scratch, real *, real *packed,
                     const stored *const *x, const stored *dy) {
    enum { D = 1, H = 64, W = 64, TRANSPOSED = 0, BANDS = 0, SEGMENTS = 1, N = 6, BANDS_AT = 18432 };
    constexpr Layout DY = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {5};
    constexpr int columns = DY.block / LANES;
    constexpr Grid points = {D, H, W, 1, 0};
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], (stored *)packed + FILTER[s].offset, TRANSPOSED ? dy : x[s],
                              TRANSPOSED ? x[s] : dy, NULL, scratch);
    if (BANDS > 0)
        LAUNCH_BLOCKS(at, unet_sum_points<columns>, (sum_grid<columns, BANDS>()), packed + BANDS_AT, dy,
                      range_of(N, points, {0, D * H}), points);
}

/* conv_dgrad: net.4 of train, net.2 of train: d net.4[n,64,64,64] net.4 filters[36928] net.3[n,64,64,64]
    -> d net.2[n,64,64,64] net.4 workspace[33554432] net.2 sums for bias[24640] */
LAUNCHER void simple_denoiser_conv_dgrad_1(UnetLaunch at, stored *dx, void *workspace, real *sums, const stored *dy,
                     const stored *packed, const stored *m, const stored *a) {
    enum { ID = 1, IH = 64, IW = 64, MASK = 1, ADDED = 0, N = 6, SUM_BANDS = 385 };
    constexpr Layout DX = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {6};
    constexpr int columns = DX.block / LANES;
    if (ADDED && a != dx)
        LAUNCH_RANGE(at, unet_copy_vectors<stored>, range_of(N, {ID, IH, IW, columns}, {0, ID * IH}), dx,
                     a);
    unet_cuda_convolution(at, GRAPH[0], dx, dy, packed + FILTER[0].offset, NULL, workspace);
    if (MASK && SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, unet_mask_points<columns>, (sum_grid<columns, SUM_BANDS>()), dx, sums, m,
                      N * ID * IH * IW);
    else if (MASK)
        LAUNCH_RANGE(at, unet_mask_vectors<stored>, range_of(N, {ID, IH, IW, columns}, {0, ID * IH}), dx, m,
                     dx);
}

/* conv_wgrad: net.0 of train: noisy cast[n,3,64,64] d net.0[n,64,64,64] -> net.0 scratch[8388608]
    net.0 packed gradient[2304] */
LAUNCHER void simple_denoiser_conv_wgrad_2(UnetLaunch at, real *, real *, void *scratch, real *, real *packed,
                     const stored *const *x, const stored *dy) {
    enum { D = 1, H = 64, W = 64, TRANSPOSED = 0, BANDS = 0, SEGMENTS = 1, N = 6, BANDS_AT = 2304 };
    constexpr Layout DY = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 3, 8, 0}};
    static constexpr int GRAPH[1] = {7};
    constexpr int columns = DY.block / LANES;
    constexpr Grid points = {D, H, W, 1, 0};
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], (stored *)packed + FILTER[s].offset, TRANSPOSED ? dy : x[s],
                              TRANSPOSED ? x[s] : dy, NULL, scratch);
    if (BANDS > 0)
        LAUNCH_BLOCKS(at, unet_sum_points<columns>, (sum_grid<columns, BANDS>()), packed + BANDS_AT, dy,
                      range_of(N, points, {0, D * H}), points);
}

/* filter_unpack: net.6 of train: net.6 packed gradient[2304] net.6 sums for bias[3080]
    -> d net.6.weight[3,64,3,3] d net.6.bias[3] */
LAUNCHER void simple_denoiser_filter_unpack_0(UnetLaunch at, real *dw, real *db, const real *packed, const real *summed) {
    enum { CO = 3, BIAS = 1, BANDS = 385, SUMMED = 1, ACCUMULATE = 0, SEGMENTS = 1, K = 3, C = 64, TAPS = 9,
           BANDS_AT = 2304 };
    constexpr Layout DY = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 3, 8, 0, 64, 64, 0}};
    constexpr Filter bands = {0, BANDS, slice_padding(CO), 0, CO, DY.block, 0};
    const auto launch_all = [&] {
        LAUNCH_BLOCKS(at, unet_unpack_filters, at.jobs->blocks, *at.jobs);
        at.jobs->count = at.jobs->blocks = 0;
    };
    for (int s = 0; s < SEGMENTS; s++) {
        Filter filter = FILTER[s];
        filter.kp = s == SEGMENTS - 1 ? slice_padding(K * C * TAPS) : 0;
        add_job(at.jobs,
                filter_job(dw, (const stored *)packed + filter.offset, filter, C, TAPS, ACCUMULATE),
                tile_blocks(filter.kn, filter.cn), launch_all);
    }
    if (BIAS)
        add_job(at.jobs, filter_job(db, SUMMED ? summed : packed + BANDS_AT, bands, 0, 0, ACCUMULATE),
                channel_blocks(CO), launch_all);
    if (!at.more)
        launch_all();
}

/* filter_unpack: net.4 of train, net.2 of train: net.4 packed gradient[18432] net.4 sums for bias[24640]
    -> d net.4.weight[64,64,3,3] d net.4.bias[64] */
LAUNCHER void simple_denoiser_filter_unpack_1(UnetLaunch at, real *dw, real *db, const real *packed, const real *summed) {
    enum { CO = 64, BIAS = 1, BANDS = 385, SUMMED = 1, ACCUMULATE = 0, SEGMENTS = 1, K = 64, C = 64, TAPS = 9,
           BANDS_AT = 18432 };
    constexpr Layout DY = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 64, 64, 0}};
    constexpr Filter bands = {0, BANDS, slice_padding(CO), 0, CO, DY.block, 0};
    const auto launch_all = [&] {
        LAUNCH_BLOCKS(at, unet_unpack_filters, at.jobs->blocks, *at.jobs);
        at.jobs->count = at.jobs->blocks = 0;
    };
    for (int s = 0; s < SEGMENTS; s++) {
        Filter filter = FILTER[s];
        filter.kp = s == SEGMENTS - 1 ? slice_padding(K * C * TAPS) : 0;
        add_job(at.jobs,
                filter_job(dw, (const stored *)packed + filter.offset, filter, C, TAPS, ACCUMULATE),
                tile_blocks(filter.kn, filter.cn), launch_all);
    }
    if (BIAS)
        add_job(at.jobs, filter_job(db, SUMMED ? summed : packed + BANDS_AT, bands, 0, 0, ACCUMULATE),
                channel_blocks(CO), launch_all);
    if (!at.more)
        launch_all();
}

/* filter_unpack: net.0 of train: net.0 packed gradient[2304] net.0 sums for bias[24640]
    -> d net.0.weight[64,3,3,3] d net.0.bias[64] */
LAUNCHER void simple_denoiser_filter_unpack_2(UnetLaunch at, real *dw, real *db, const real *packed, const real *summed) {
    enum { CO = 64, BIAS = 1, BANDS = 385, SUMMED = 1, ACCUMULATE = 0, SEGMENTS = 1, K = 64, C = 3, TAPS = 9,
           BANDS_AT = 2304 };
    constexpr Layout DY = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 3, 8, 0}};
    constexpr Filter bands = {0, BANDS, slice_padding(CO), 0, CO, DY.block, 0};
    const auto launch_all = [&] {
        LAUNCH_BLOCKS(at, unet_unpack_filters, at.jobs->blocks, *at.jobs);
        at.jobs->count = at.jobs->blocks = 0;
    };
    for (int s = 0; s < SEGMENTS; s++) {
        Filter filter = FILTER[s];
        filter.kp = s == SEGMENTS - 1 ? slice_padding(K * C * TAPS) : 0;
        add_job(at.jobs,
                filter_job(dw, (const stored *)packed + filter.offset, filter, C, TAPS, ACCUMULATE),
                tile_blocks(filter.kn, filter.cn), launch_all);
    }
    if (BIAS)
        add_job(at.jobs, filter_job(db, SUMMED ? summed : packed + BANDS_AT, bands, 0, 0, ACCUMULATE),
                channel_blocks(CO), launch_all);
    if (!at.more)
        launch_all();
}

/* adam: adam of train: all parameters */
/* The numbers that all elements of a step share. */
struct simple_denoiser_adam_0_Step {
    real speed, root_scale, shrink, unscale;
};

DEVICE simple_denoiser_adam_0_Step simple_denoiser_adam_0_step(const UnetControl *control, const double *scale, const double *norm) {
    enum { SCALED = 0, CLIPS = 0 };
    constexpr double WEIGHT_DECAY = 0;
    const double rate = control->learning_rate;
    return {(real)(rate / control->correction[0]), (real)sqrt(control->correction[1]),
            (real)(1 - rate * WEIGHT_DECAY),
            CLIPS    ? (real)norm[FACTOR]
            : SCALED ? (real)scale[UNSCALE]
                     : 1};
}

/* Updates an element; without AMSGRAD *most is neither read nor changed. */
DEVICE void simple_denoiser_adam_0_update(simple_denoiser_adam_0_Step step, bool decays, real *p, real g, real *m, real *v, real *most,
                          real *average) {
    enum { AVERAGED = 0, DECOUPLED = 0, AMSGRAD = 0 };
    constexpr double CLIP = 0;
    constexpr double AVERAGE = 0;
    constexpr double WEIGHT_DECAY = 0;
    constexpr double BETA1 = 0.90000000000000002;
    constexpr double BETA2 = 0.999;
    constexpr double EPSILON = 1e-08;
    const real old = DECOUPLED && decays ? *p * step.shrink : *p;
    g = clipped(g * step.unscale, CLIP);
    const real gradient = !DECOUPLED && decays ? g + (real)WEIGHT_DECAY * *p : g;
    *m = (real)BETA1 * *m + (real)(1 - BETA1) * gradient;
    *v = (real)BETA2 * *v + (real)(1 - BETA2) * gradient * gradient;
    real square = *v;
    if (AMSGRAD)
        square = *most = square < *most ? *most : square;
    *p = old - step.speed * *m / (sqrtf(square) / step.root_scale + (real)EPSILON);
    if (AVERAGED)
        *average = (real)AVERAGE * *average + (real)(1 - AVERAGE) * *p;
}

static __global__ void simple_denoiser_adam_0_sweep(real *__restrict__ p, const real *__restrict__ g, real *__restrict__ m,
                                    real *__restrict__ v, real *__restrict__ most,
                                    real *__restrict__ average, const double *scale, const double *norm,
                                    const UnetControl *control, unsigned from, unsigned to,
                                    unsigned decayed) {
    enum { COUNT = 77380, SHARDED = 0, AVERAGED = 0, AMSGRAD = 0 };
    const simple_denoiser_adam_0_Step step = simple_denoiser_adam_0_step(control, scale, norm);
    if (step.unscale == 0)
        return;
    const unsigned first = thread_index();
    for (unsigned i = first; !SHARDED && 4 * i + 3 < COUNT; i += gridDim.x * THREADS) {
        Four value = reinterpret_cast<Four *>(p)[i], mean = reinterpret_cast<Four *>(m)[i];
        Four square = reinterpret_cast<Four *>(v)[i], largest = {}, averages = {};
        const Four gradient = reinterpret_cast<const Four *>(g)[i];
        if (AMSGRAD)
            largest = reinterpret_cast<Four *>(most)[i];
        if (AVERAGED)
            averages = reinterpret_cast<Four *>(average)[i];
        for (int k = 0; k < 4; k++)
            simple_denoiser_adam_0_update(step, 4 * i < decayed, value.of + k, gradient.of[k], mean.of + k, square.of + k,
                          largest.of + k, averages.of + k);
        reinterpret_cast<Four *>(p)[i] = value;
        if (AVERAGED)
            reinterpret_cast<Four *>(average)[i] = averages;
        reinterpret_cast<Four *>(m)[i] = mean;
        reinterpret_cast<Four *>(v)[i] = square;
        if (AMSGRAD)
            reinterpret_cast<Four *>(most)[i] = largest;
    }
    for (unsigned i = (SHARDED ? from : COUNT / 4 * 4) + first; i < to; i += gridDim.x * THREADS)
        simple_denoiser_adam_0_update(step, i < decayed, p + i, g[i], m + (i - from), v + (i - from),
                      AMSGRAD ? most + (i - from) : NULL, AVERAGED ? average + i : NULL);
}

LAUNCHER void simple_denoiser_adam_0(UnetLaunch at, real *p, const real *g, real *m, real *v, real *most, real *average,
                     const double *scale, const double *norm, unsigned decayed) {
    enum { COUNT = 77380, SHARDED = 0, PROCESSES = 1 };
    unsigned from = 0, to = COUNT;
    if (SHARDED)
        unet_cuda_slice(at, COUNT, PROCESSES, &from, &to);
    LAUNCH_BLOCKS(at, simple_denoiser_adam_0_sweep, sweep_blocks(SHARDED ? COUNT / PROCESSES + 1 : COUNT / 4 + 1), p, g, m,
                  v, most, average, scale, norm, at.control, from, to, decayed);
}

/* cast: noisy cast of eval, noisy cast of predict: noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
static __global__ void simple_denoiser_cast_1_vectors(Range range, stored *__restrict__ y, const void *__restrict__ x) {
    enum { C = 3, D = 1, H = 64, W = 64, X_STAGED = 1 };
    constexpr Layout Y = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout X = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(y, place(to, i), load_channels<X_STAGED>(x, X.block, C, i / columns, i % columns));
}

LAUNCHER void simple_denoiser_cast_1(UnetLaunch at, Rows rows, stored *y, const void *x) {
    enum { C = 3, D = 1, H = 64, W = 64, X_STAGED = 1, N = 1 };
    constexpr Layout Y = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout X = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Filter image = {X_STAGED, N * D * H * W, X.block, 0, C, Y.block, 0};
    const auto launch_all = [&] { launch_packing(at); };
    if (!at.more && at.jobs->count == 0) {
        LAUNCH_RANGE(at, simple_denoiser_cast_1_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
        return;
    }
    add_job(at.jobs, filter_job(y, x, image, 0, 0, 0), blocks_for(image.kn * (image.cp / LANES)),
            launch_all);
    if (!at.more)
        launch_all();
}

/* conv: net.0 of eval, net.0 of predict: noisy cast[n,3,64,64] net.0 filters[4672] net.0.bias[64]
    -> net.1[n,64,64,64] net.0 workspace[33554432] */
LAUNCHER void simple_denoiser_conv_3(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    enum { CO = 64, D = 1, H = 64, W = 64, BIAS = 1, RELU = 1, SEGMENTS = 1, N = 1, BIAS_AT = 4608,
           FINISHED = 1 };
    constexpr Layout Y = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 3, 8, 0}};
    static constexpr int GRAPH[1] = {8};
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}

/* conv: net.2 of eval, net.4 of eval, net.2 of predict, 1 more: net.1[n,64,64,64] net.2 filters[36928]
    net.2.bias[64] -> net.3[n,64,64,64] net.2 workspace[33554432] */
LAUNCHER void simple_denoiser_conv_4(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    enum { CO = 64, D = 1, H = 64, W = 64, BIAS = 1, RELU = 1, SEGMENTS = 1, N = 1, BIAS_AT = 36864,
           FINISHED = 1 };
    constexpr Layout Y = {0, 64, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 64, 64, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {9};
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}

/* conv: net.6 of eval, net.6 of predict: net.5[n,64,64,64] net.6 filters[4616] net.6.bias[3]
    -> net.6[n,3,64,64] net.6 workspace[33554432] */
LAUNCHER void simple_denoiser_conv_5(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    enum { CO = 3, D = 1, H = 64, W = 64, BIAS = 1, RELU = 0, SEGMENTS = 1, N = 1, BIAS_AT = 4608, FINISHED = 1 };
    constexpr Layout Y = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    static constexpr Filter FILTER[1] = {{0, 3, 8, 0, 64, 64, 0}};
    static constexpr int GRAPH[1] = {10};
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}

/* mse: mse of eval: net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[2] */
static __global__ void simple_denoiser_mse_1_bands(UnetComparisons all, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, BANDS = 2, N = 1 };
    constexpr Layout P = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout T = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_bands<N, BANDS, P_STAGED, T_STAGED>(all, p, t, control, arrived, by, bands);
}

LAUNCHER void simple_denoiser_mse_1(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    enum { D = 1, H = 64, W = 64, BANDS = 2, ACCUMULATE = 0, N = 1, SCRATCH = 256 };
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    const auto launch_all = [&] {
        const unsigned blocks = at.comparisons->count * N * (bands.end - bands.begin);
        if (blocks > 0)
            LAUNCH_BLOCKS(at, simple_denoiser_mse_1_bands, blocks, *at.comparisons, p, t, at.control, at.arrived, bands);
        at.comparisons->count = 0;
    };
    add_comparison(at.comparisons, {result, scratch, 0, COMPARE_MSE, ACCUMULATE}, launch_all);
    if (!at.more)
        launch_all();
}

/* psnr: psnr of eval: net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[2] */
static __global__ void simple_denoiser_psnr_1_bands(UnetComparisons all, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, BANDS = 2, N = 1 };
    constexpr Layout P = {0, 8, 0, 0, 0, 0, 0, 0, 0};
    constexpr Layout T = {0, 4, 0, 0, 0, 0, 0, 0, 0};
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_bands<N, BANDS, P_STAGED, T_STAGED>(all, p, t, control, arrived, by, bands);
}

LAUNCHER void simple_denoiser_psnr_1(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    enum { D = 1, H = 64, W = 64, BANDS = 2, ACCUMULATE = 0, N = 1, SCRATCH = 256 };
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    const auto launch_all = [&] {
        const unsigned blocks = at.comparisons->count * N * (bands.end - bands.begin);
        if (blocks > 0)
            LAUNCH_BLOCKS(at, simple_denoiser_psnr_1_bands, blocks, *at.comparisons, p, t, at.control, at.arrived, bands);
        at.comparisons->count = 0;
    };
    add_comparison(at.comparisons, {result, scratch, 0, COMPARE_PSNR, ACCUMULATE}, launch_all);
    if (!at.more)
        launch_all();
}
