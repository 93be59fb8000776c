/* tiles.cuh - products of matrices of 16-bit numbers on tensor cores, which sum in f32.
 *
 * A block computes a tile of a product, TILE_ROWS rows of so many columns, in a fixed order: TILE_TERMS of
 * the terms at a time lie in shared memory. While its warps multiply these, its threads bring the next
 * ones. */
#include "prologue.cuh"

/* BEGIN */
/* ---- products of matrices on tensor cores ----------------------------------------------------------- */
#include <mma.h>

enum {
    CORE = 16, /* rows, columns and terms that tensor cores take at once */
    TILE_ROWS = 128,
    TILE_TERMS = 32,
    WARPS_ACROSS = 2, /* of a block; a warp has WARP_CORES * CORE rows and its share of the columns */
    WARP_CORES = TILE_ROWS / CORE / (THREADS / WARP / WARPS_ACROSS),
};

/* Columns of a tile of a product that has so many, and tiles beside each other. */
[[maybe_unused]] static constexpr __host__ __device__ int tile_columns(int columns) {
    return columns <= 64 ? 64 : 128;
}
[[maybe_unused]] static constexpr __host__ __device__ unsigned tiles_across(int columns) {
    return (unsigned)(columns + tile_columns(columns) - 1) / tile_columns(columns);
}

/* Both factors. A row is a vector longer than what it holds, so that those above each other lie in
 * different banks. */
template <class T, int COLUMNS> struct Factors {
    alignas(32) T a[TILE_ROWS][TILE_TERMS + LANES];
    alignas(32) T b[TILE_TERMS][COLUMNS + LANES];
};

/* The vectors that a thread brings. */
template <int COLUMNS> struct Brought {
    uint4 a[TILE_ROWS * TILE_TERMS / LANES / THREADS], b[TILE_TERMS * COLUMNS / LANES / THREADS];
};

/* The sums of a warp, and some of them as numbers in rows. */
template <int COLUMNS> struct WarpSums {
    static constexpr int ACROSS = COLUMNS / WARPS_ACROSS / CORE;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, CORE, CORE, CORE, float> of[WARP_CORES][ACROSS];
};
struct alignas(32) CoreSums {
    real row[CORE][CORE];
};

/* The vectors of terms from share * TILE_TERMS on: of each row of a, and of b. */
template <int COLUMNS, class A, class B> DEVICE Brought<COLUMNS> bring(unsigned share, A a, B b) {
    constexpr unsigned deep = TILE_TERMS / LANES, wide = COLUMNS / LANES;
    Brought<COLUMNS> brought;
    unsigned v = threadIdx.x;
#pragma unroll
    for (uint4 &bits : brought.a) {
        bits = a(v / deep, share * deep + v % deep);
        v += THREADS;
    }
    v = threadIdx.x;
#pragma unroll
    for (uint4 &bits : brought.b) {
        bits = b(share * TILE_TERMS + v / wide, v % wide);
        v += THREADS;
    }
    return brought;
}

template <class T, int COLUMNS> DEVICE void put(Factors<T, COLUMNS> &to, const Brought<COLUMNS> &brought) {
    constexpr unsigned deep = TILE_TERMS / LANES, wide = COLUMNS / LANES;
    unsigned v = threadIdx.x;
#pragma unroll
    for (const uint4 &bits : brought.a) {
        *reinterpret_cast<uint4 *>(&to.a[v / deep][v % deep * LANES]) = bits;
        v += THREADS;
    }
    v = threadIdx.x;
#pragma unroll
    for (const uint4 &bits : brought.b) {
        *reinterpret_cast<uint4 *>(&to.b[v / wide][v % wide * LANES]) = bits;
        v += THREADS;
    }
}

/* The first row, and the first column, of this warp in a tile. */
DEVICE unsigned row_of_warp() {
    return threadIdx.x / WARP / WARPS_ACROSS * (WARP_CORES * CORE);
}
template <int COLUMNS> DEVICE unsigned column_of_warp() {
    return threadIdx.x / WARP % WARPS_ACROSS * (COLUMNS / WARPS_ACROSS);
}

template <class T, int COLUMNS>
DEVICE void add_products(WarpSums<COLUMNS> &sums, const Factors<T, COLUMNS> &of) {
    using namespace nvcuda::wmma;
    const unsigned row = row_of_warp(), column = column_of_warp<COLUMNS>();
#pragma unroll
    for (int k = 0; k < TILE_TERMS; k += CORE) {
        fragment<matrix_a, CORE, CORE, CORE, T, row_major> a[WARP_CORES];
#pragma unroll
        for (int i = 0; i < WARP_CORES; i++)
            load_matrix_sync(a[i], &of.a[row + i * CORE][k], TILE_TERMS + LANES);
#pragma unroll
        for (int j = 0; j < sums.ACROSS; j++) {
            fragment<matrix_b, CORE, CORE, CORE, T, row_major> b;
            load_matrix_sync(b, &of.b[k][column + j * CORE], COLUMNS + LANES);
#pragma unroll
            for (int i = 0; i < WARP_CORES; i++)
                mma_sync(sums.of[i][j], a[i], b, sums.of[i][j]);
        }
    }
}

/* Calls PUT(row, vector, sums) for each vector of the tile, a warp for its own. */
template <int COLUMNS, class Put> DEVICE void each_sum(const WarpSums<COLUMNS> &sums, Put put) {
    constexpr unsigned wide = CORE / LANES;
    SHARED(CoreSums, of_warp, [THREADS / WARP]);
    CoreSums &own = of_warp[threadIdx.x / WARP];
#pragma unroll
    for (int i = 0; i < WARP_CORES; i++)
#pragma unroll
        for (int j = 0; j < sums.ACROSS; j++) {
            nvcuda::wmma::store_matrix_sync(&own.row[0][0], sums.of[i][j], CORE,
                                            nvcuda::wmma::mem_row_major);
            __syncwarp();
#pragma unroll
            for (unsigned v = threadIdx.x % WARP; v < CORE * wide; v += WARP) {
                Vector sum;
                memcpy(&sum, &own.row[v / wide][v % wide * LANES], sizeof sum);
                put(row_of_warp() + i * CORE + v / wide,
                    (column_of_warp<COLUMNS>() + j * CORE) / LANES + v % wide, sum);
            }
            __syncwarp();
        }
}

/* A tile of COLUMNS columns of the product of a and b, over so many terms: a(row, vector of terms) and
 * b(term, vector of columns) are their bits, zeros where there is nothing. */
template <class T, int COLUMNS, class A, class B, class Put>
DEVICE void multiply(unsigned terms, A a, B b, Put done) {
    using Both = Factors<T, COLUMNS>;
    SHARED(Both, factors, [2]);
    const unsigned shares = (terms + TILE_TERMS - 1) / TILE_TERMS;
    WarpSums<COLUMNS> sums;
#pragma unroll
    for (int i = 0; i < WARP_CORES * sums.ACROSS; i++)
        nvcuda::wmma::fill_fragment(sums.of[i / sums.ACROSS][i % sums.ACROSS], 0.0f);
    put(factors[0], bring<COLUMNS>(0, a, b));
    __syncthreads();
    for (unsigned share = 0; share < shares; share++) {
        const Brought<COLUMNS> next = bring<COLUMNS>(share + 1, a, b);
        add_products(sums, factors[share % 2]);
        if (share + 1 < shares)
            put(factors[(share + 1) % 2], next);
        __syncthreads();
    }
    each_sum(sums, done);
}
/* END */
