/* test.h - operands of the kernels under test, each beside its copy for the reference kernel.
 *
 * Device buffers have exactly the size of their operand, so that AddressSanitizer sees each step beside it.
 * Outputs hold NaN before: what a kernel should write and does not, shows. Inputs have been rounded to
 * `stored`, so that results differ by the rounding of the result alone. */
#ifndef TEST_H
#define TEST_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <memory>
#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

#include <unet/cuda.h>
#include <unet/cudnn.h>

typedef UNET_STORED stored;
typedef float real;

struct Filter {
    int k0, kn, kp, c0, cn, cp;
    long offset;
};

struct Shape {
    int channels, block, n, size[3];
};

/* Device memory, as a pointer to whatever is asked for. */
class Device {
  public:
    explicit Device(size_t bytes);
    const Device &device() const { return *this; }
    template <class T> operator T *() const { return static_cast<T *>(memory.get()); }
    template <class T> T *as() const { return static_cast<T *>(memory.get()); }
    std::string bits() const { return std::string(as<char>(), bytes); }
    void forget() const; /* NaN in every type */

  private:
    struct Free {
        void operator()(void *start) const { cudaFree(start); }
    };
    std::unique_ptr<void, Free> memory;
    size_t bytes;
};

/* How numbers lie on the device; BYTES: as 255ths. */
enum class Kind { STORED, REAL, BYTES };

/* Numbers on both sides: of a KIND on the device, always float for the reference. */
class Tensor {
  public:
    Tensor(Shape shape, Kind kind);
    const Device &device() const { return memory; }
    float *host() { return expected.data(); }
    long count() const { return (long)expected.size(); }
    bool padding(long i) const { return i % shape.block >= shape.channels; }
    void set(long i, float x); /* on both sides, rounded */
    float get(long i) const;   /* from the device */
    float rounded(float x) const;
    Shape shape;
    Kind kind;

  private:
    Device memory;
    std::vector<float> expected;
};

/* The number of labels that the runtime counts, in every case. */
constexpr double LABELLED = 37.5;

/* Doubles on both sides. */
class Result {
  public:
    explicit Result(int count);
    const Device &device() const { return memory; }
    double *host() { return expected.data(); }
    int count() const { return (int)expected.size(); }

  private:
    Device memory;
    std::vector<double> expected;
};

/* A class for each point, the same bytes on both sides; some, if that may be, of 255. */
class Labels {
  public:
    Labels(int count, int classes, bool some_ignored = true);
    const Device &device() const { return memory; }
    uint8_t *host() const { return memory.as<uint8_t>(); }

  private:
    Device memory;
};

/* Bytes that a kernel writes, and the bytes that the reference writes. */
class Bytes {
  public:
    explicit Bytes(size_t count);
    const Device &device() const { return memory; }
    uint8_t *host() { return expected.data(); }
    std::vector<uint8_t> expected;

  private:
    Device memory;
};

/* A state of the optimiser in codes (unet/codes.h), of tensors of so many ELEMENTS, and REALS of others
 * behind it; the same bytes on both sides, of zeros. */
class Codes {
  public:
    Codes(std::vector<long> elements, long reals);
    const Device &device() const { return memory; }
    uint8_t *host() { return expected.data(); }
    std::vector<long> elements;
    std::vector<uint8_t> expected;

  private:
    Device memory;
};

/* The segments of a concat, as kernels take them. */
std::vector<const stored *> devices(const std::vector<Tensor *> &segment);
std::vector<const float *> hosts(const std::vector<Tensor *> &segment);

class Test {
  public:
    void begin(const char *name);
    UnetLaunch at() const;
    void control(int n, const int32_t (*valid)[3], int samples, int start, int last = 0);
    void step(double rate, int64_t step, double beta1, double beta2);

    Tensor numbers(Shape shape); /* random; padding is zero */
    /* Few different ones, so that maxima tie and some are zero; some NaN. */
    Tensor coarse(Shape shape, bool with_nan = false);
    Tensor output(Shape shape);
    Tensor flat_output(int count);
    Tensor staged(Shape shape); /* float, with NaN for padding */
    Tensor classes(Shape shape,
                   int classes); /* the same of numbers of classes, and of some that are none */
    Tensor bytes(Shape shape);   /* from 0 to 1, with 1 for padding */
    Tensor reals(int count);
    /* A gradient of parameters: a kernel writes zeros behind its COUNT numbers, up to a whole vector. */
    Tensor gradient(int count);
    Tensor weights(int count); /* float, rounded to `stored` */
    Tensor real_output(int count);
    Tensor real_zeros(int count);
    Result result(int count = 1);
    Tensor copy(Tensor &of);

    /* An output before it is written: NaN on the device, zero for the reference, so that what either does
     * not write, or reads, shows. */
    void poison(Tensor &output);
    void poison(Result &output);
    void poison(const Device &output);
    void poison(Bytes &output);
    /* Watches operands that are only read, by the operator's row: the call must not change them. */
    void watch(std::vector<std::pair<const char *, const Device *>> operands);
    void unchanged(const char *what);

    /* Packs as filter_pack, by its definition. */
    void pack(float *packed, const float *w, const Filter &f, int channels, int taps);
    /* On the host: of each channel of OF the sums over BANDS bands of its points. */
    void sum_bands(Tensor &sums, Tensor &of, int bands);
    /* The same over bands of its windows of 2 x 2 points, in an image. */
    void sum_cells(Tensor &sums, Tensor &of, int bands);
    /* Compares both sides; then the reference goes on with what the device has. PARTS: roundings;
     * VIA_STORED: of `stored` even where the result is not. */
    void compare(const char *what, Tensor &tensor, int parts = 1, bool via_stored = false);
    void compare(const char *what, Result &result, double tolerance = 1e-12);
    /* The same; of all codes few may be neighbours. */
    void compare(const char *what, Codes &codes);
    void compare(const char *what, Bytes &bytes); /* exactly */
    /* The same bits on the device in both; then the first is forgotten. */
    void same(const char *what, Tensor &tensor, const Tensor &other);
    void same(const char *what, const Labels &labels, const Labels &other);
    void same(const char *what, const Result &result, const Result &other);

    int more = 0; /* steps come that one launch does with this one */
    int failures = 0, comparisons = 0;
    uint64_t hash = 14695981039346656037u; /* of all results, to the bit */

  private:
    double uniform();
    void fail(const char *what, const std::string &how);
    void add_to_hash(const void *bytes, size_t count);

    uint64_t random = 1;
    const char *name = "";
    std::unique_ptr<Device> told; /* the UnetControl */
    std::unique_ptr<UnetFilterJobs> jobs{new UnetFilterJobs()};
    std::unique_ptr<UnetComparisons> compared{new UnetComparisons()};
    std::unique_ptr<UnetTracks> tracks{new UnetTracks()};
    std::vector<std::pair<const char *, const Device *>> watched;
    std::vector<std::string> before; /* what was in them */
};

extern const UnetConvolution convolutions[];
void run_cases(Test &test);

#endif
