/* narrow.h - `unsigned` of 18 bits, for kernels that are run on a CPU.
 *
 * On a device it has 32.  Kernels count vectors and points in it, and the compiler lets a tensor have 2^31
 * less one of these; elements, several in a vector, and bytes are counted in 64 bits.  Tensors of 2^32
 * elements are too many for a test.  Here tensors of 2^18 elements take their place: a count of vectors
 * fits, and a count of elements in an `unsigned` does not.
 *
 * run.py writes Index wherever kernels say `unsigned`; for 32 bits that are no number, they say uint32_t.
 */
#ifndef NARROW_H
#define NARROW_H

#include <stdint.h>
#include <type_traits>

#include <unet/cuda.h>

class Index {
  public:
    template <class T> using IfNumber = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>;

    Index() = default;
    template <class T, class = IfNumber<T>> constexpr Index(T x) : value((uint32_t)x & MASK) {}
    constexpr operator uint32_t() const { return value; }
    Index &operator+=(Index x) { return *this = Index(value + x.value); }
    Index &operator/=(Index x) { return *this = Index(value / x.value); }
    Index &operator++() { return *this += 1; }
    Index operator++(int) {
        const Index before = *this;
        *this += 1;
        return before;
    }

  private:
    static constexpr uint32_t MASK = (1 << 18) - 1;
    uint32_t value;
};

/* With a number of 32 bits the result has 18 bits, too; with one of 64 bits, 64. */
template <class T>
constexpr bool narrow = std::is_same_v<T, Index> ||
                        (std::is_integral_v<T> && sizeof(T) <= 4) || std::is_enum_v<T>;
template <class A, class B>
using Narrowed =
    std::enable_if_t<(std::is_same_v<A, Index> || std::is_same_v<B, Index>)&&narrow<A> && narrow<B>, Index>;
#define NARROW(op)                                                                                         \
    template <class A, class B> constexpr Narrowed<A, B> operator op(A a, B b) {                           \
        return (uint32_t)Index(a) op(uint32_t) Index(b);                                                   \
    }
NARROW(+)
NARROW(-)
NARROW(*)
NARROW(/)
NARROW(%)
#undef NARROW

/* Grids, and what the runtime tells a launcher. */
struct NarrowGrid : dim3 {
    NarrowGrid(dim3 grid) : dim3(grid) {}
    NarrowGrid(uint32_t blocks) : dim3(blocks) {}
};
inline void unet_cuda_slice(UnetLaunch at, int64_t count, int32_t processes, Index *from, Index *to) {
    uint32_t of[2];
    unet_cuda_slice(at, count, processes, of, of + 1);
    *from = of[0];
    *to = of[1];
}

#undef LAUNCH
#undef LAUNCH_BLOCKS
#define LAUNCH(at, kernel, grid, ...) SHIM_LAUNCH(at, false, kernel, NarrowGrid(grid), __VA_ARGS__)
#define LAUNCH_BLOCKS(at, kernel, grid, ...) SHIM_LAUNCH(at, true, kernel, NarrowGrid(grid), __VA_ARGS__)

#endif
