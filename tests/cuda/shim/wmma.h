/* wmma.h - tensor cores on a CPU: the part of nvcuda::wmma that kernels use (mma.h of CUDA, which says
 * nothing to other compilers than nvcc).
 *
 * The first lane of a warp holds all numbers of a fragment; the others hold none.  Each operation waits for
 * all lanes, as on a device, and a warp that it splits is an error.  Accesses to memory follow behind the
 * wait, in the order of lanes, so a read of written numbers without __syncwarp() is seen.
 */
#ifndef SHIM_WMMA_H
#define SHIM_WMMA_H

#include <cstdint>
#include <vector>

/* Waits for all lanes; true: this is the first one. */
inline bool shim_first_of_warp() {
    shim::exchange(~0u, 0, 0);
    return threadIdx.x % 32 == 0;
}

inline void __syncwarp() {
    shim_first_of_warp();
}

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
enum layout_t { mem_row_major };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(M == 16 && N == 16 && K == 16, "the one size of which there is a stand-in");
    std::vector<float> of = std::vector<float>(threadIdx.x % 32 == 0 ? 16 * 16 : 0);
};

/* A device wants 32 bytes, and rows that are whole pieces of 16. */
template <class T> void check_place(const T *from, unsigned stride) {
    shim::expect(reinterpret_cast<uintptr_t>(from) % 32 == 0 && stride * sizeof(T) % 16 == 0,
                 "a fragment at an address, or of rows, that tensor cores do not take");
}

template <class Fragment> void fill_fragment(Fragment &f, float x) {
    if (shim_first_of_warp())
        f.of.assign(f.of.size(), x);
}

template <class Use, int M, int N, int K, class T, class Layout>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const T *from, unsigned stride) {
    check_place(from, stride);
    if (shim_first_of_warp())
        for (unsigned i = 0; i < 16 * 16; i++)
            f.of[i] = (float)from[i / 16 * stride + i % 16];
}

template <int M, int N, int K>
void store_matrix_sync(float *to, const fragment<accumulator, M, N, K, float> &f, unsigned stride,
                       layout_t) {
    check_place(to, stride);
    if (shim_first_of_warp())
        for (unsigned i = 0; i < 16 * 16; i++)
            to[i / 16 * stride + i % 16] = f.of[i];
}

template <class Sum, class A, class B> void mma_sync(Sum &d, const A &a, const B &b, const Sum &c) {
    if (!shim_first_of_warp())
        return;
    d.of = c.of;
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++)
            for (int j = 0; j < 16; j++)
                d.of[i * 16 + j] += a.of[i * 16 + k] * b.of[k * 16 + j];
}

} // namespace wmma
} // namespace nvcuda

#endif
