/* test.cpp - operands, comparison, and what launchers call: convolutions, by their definition. */
#include "test.h"
#include "shim.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include <unet/codes.h>

/* ---- numbers ---------------------------------------------------------------------------------------- */

[[maybe_unused]] static float to_float(float x) {
    return x;
}

[[maybe_unused]] static float to_float(__half x) {
    return __half2float(x);
}

[[maybe_unused]] static float to_float(__nv_bfloat16 x) {
    return __bfloat162float(x);
}

[[maybe_unused]] static void from_float(float *to, float x) {
    *to = x;
}

[[maybe_unused]] static void from_float(__half *to, float x) {
    *to = __float2half_rn(x);
}

[[maybe_unused]] static void from_float(__nv_bfloat16 *to, float x) {
    *to = __float2bfloat16_rn(x);
}

static float rounded_to_stored(float x) {
    stored s;
    from_float(&s, x);
    return to_float(s);
}

/* Between 1 and the next number of the type. */
static double epsilon(bool is_real) {
    if (is_real || sizeof(stored) == 4)
        return 1.2e-7;
    return rounded_to_stored(1 + 1.0f / 256) > 1 ? 1.0 / 1024 : 1.0 / 128;
}

/* ---- operands --------------------------------------------------------------------------------------- */

Device::Device(size_t count) : bytes(count) {
    void *start = nullptr;
    if (cudaMalloc(&start, bytes) != cudaSuccess)
        abort();
    memory.reset(start);
    forget();
}

void Device::forget() const {
    memset(memory.get(), 0xFF, bytes);
}

static size_t bytes_of(Kind kind) {
    return kind == Kind::REAL ? sizeof(real) : kind == Kind::BYTES ? 1 : sizeof(stored);
}

Tensor::Tensor(Shape s, Kind k)
    : shape(s), kind(k), memory((size_t)s.n * s.size[0] * s.size[1] * s.size[2] * s.block * bytes_of(k)),
      expected((size_t)s.n * s.size[0] * s.size[1] * s.size[2] * s.block,
               std::numeric_limits<float>::quiet_NaN()) {}

float Tensor::rounded(float x) const {
    return kind == Kind::STORED ? rounded_to_stored(x) : x;
}

void Tensor::set(long i, float x) {
    expected[i] = rounded(x);
    if (kind == Kind::REAL)
        memory.as<real>()[i] = x;
    else if (kind == Kind::BYTES)
        memory.as<uint8_t>()[i] = (uint8_t)std::lround(255 * x);
    else
        from_float(memory.as<stored>() + i, x);
}

float Tensor::get(long i) const {
    if (kind == Kind::BYTES)
        return (float)memory.as<uint8_t>()[i] / 255;
    return kind == Kind::REAL ? memory.as<real>()[i] : to_float(memory.as<stored>()[i]);
}

Result::Result(int count) : memory((size_t)count * sizeof(double)), expected(count) {
    for (int i = 0; i < count; i++)
        memory.as<double>()[i] = expected[i] = 0.25 * (i + 1);
}

Labels::Labels(int count, int classes, bool some_ignored) : memory((size_t)count) {
    for (int i = 0; i < count; i++)
        memory.as<uint8_t>()[i] = (uint8_t)(some_ignored && i * 7 % 11 == 0 ? 255 : i * 7 % 11 % classes);
}

/* A tensor takes whole pieces of 16 bytes. */
static long state_bytes(long elements) {
    return (unet_code_maxima(elements) + unet_code_blocks(elements) * (long)sizeof(float) + 15) / 16 * 16;
}

static size_t states_bytes(const std::vector<long> &elements, long reals) {
    size_t bytes = (size_t)reals * sizeof(float);
    for (long count : elements)
        bytes += (size_t)state_bytes(count);
    return bytes;
}

Codes::Codes(std::vector<long> all, long reals)
    : elements(all), expected(states_bytes(all, reals)), memory(expected.size()) {
    memset(memory.as<void>(), 0, expected.size());
}

Bytes::Bytes(size_t count) : expected(count), memory(count) {}

double Test::uniform() {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (double)(random >> 40) / (1 << 23) - 1;
}

Tensor Test::numbers(Shape shape) {
    Tensor t(shape, Kind::STORED);
    for (long i = 0; i < t.count(); i++)
        t.set(i, t.padding(i) ? 0 : (float)uniform());
    return t;
}

Tensor Test::coarse(Shape shape, bool with_nan) {
    Tensor t(shape, Kind::STORED);
    for (long i = 0; i < t.count(); i++) {
        const float x = (float)std::round(3 * uniform()) / 2, nan = std::numeric_limits<float>::quiet_NaN();
        t.set(i, t.padding(i) ? 0 : with_nan && uniform() > 0.97 ? nan : x);
    }
    return t;
}

Tensor Test::output(Shape shape) {
    return Tensor(shape, Kind::STORED);
}

Tensor Test::flat_output(int count) {
    return Tensor({count, count, 1, {1, 1, 1}}, Kind::STORED);
}

Tensor Test::staged(Shape shape) {
    Tensor t(shape, Kind::REAL);
    for (long i = 0; i < t.count(); i++)
        if (!t.padding(i))
            t.set(i, (float)uniform());
    return t;
}

Tensor Test::classes(Shape shape, int classes) {
    Tensor t(shape, Kind::REAL);
    for (long i = 0; i < t.count(); i++)
        if (!t.padding(i))
            t.set(i, (float)std::floor((0.6 * uniform() + 0.5) * classes));
    return t;
}

Tensor Test::bytes(Shape shape) {
    Tensor t(shape, Kind::BYTES);
    for (long i = 0; i < t.count(); i++)
        t.set(i, t.padding(i) ? 1 : (float)std::lround(127.5 * (1 + uniform())) / 255);
    return t;
}

Tensor Test::real_output(int count) {
    return Tensor({count, count, 1, {1, 1, 1}}, Kind::REAL);
}

Tensor Test::reals(int count) {
    Tensor t = real_output(count);
    for (int i = 0; i < count; i++)
        t.set(i, (float)uniform());
    return t;
}

Tensor Test::gradient(int count) {
    Tensor t = real_output((count + 3) / 4 * 4);
    std::fill_n(t.host(), t.count(), 0.0f);
    for (int i = 0; i < count; i++)
        t.set(i, (float)uniform());
    return t;
}

Tensor Test::weights(int count) {
    Tensor t = real_output(count);
    for (int i = 0; i < count; i++)
        t.set(i, rounded_to_stored((float)uniform()));
    return t;
}

Tensor Test::real_zeros(int count) {
    Tensor t = real_output(count);
    for (int i = 0; i < count; i++)
        t.set(i, 0);
    return t;
}

Result Test::result(int count) {
    return Result(count);
}

Tensor Test::copy(Tensor &of) {
    Tensor t(of.shape, of.kind);
    for (long i = 0; i < t.count(); i++)
        t.set(i, of.host()[i]);
    return t;
}

std::vector<const stored *> devices(const std::vector<Tensor *> &segment) {
    std::vector<const stored *> found;
    for (const Tensor *t : segment)
        found.push_back(t->device().as<stored>());
    return found;
}

std::vector<const float *> hosts(const std::vector<Tensor *> &segment) {
    std::vector<const float *> found;
    for (Tensor *t : segment)
        found.push_back(t->host());
    return found;
}

/* ---- before a call, and behind it ------------------------------------------------------------------- */

void Test::poison(Tensor &output) {
    output.device().forget();
    std::fill_n(output.host(), output.count(), 0.0f);
}

void Test::poison(Result &output) {
    output.device().forget();
    std::fill_n(output.host(), output.count(), 0.0);
}

void Test::poison(const Device &output) {
    output.forget();
}

void Test::poison(Bytes &output) {
    output.device().forget();
}

void Test::watch(std::vector<std::pair<const char *, const Device *>> operands) {
    watched = operands;
    before.clear();
    for (const auto &operand : watched)
        before.push_back(operand.second->bits());
}

void Test::unchanged(const char *what) {
    for (size_t i = 0; i < watched.size(); i++)
        if (watched[i].second->bits() != before[i])
            fail(what, std::string("it writes ") + watched[i].first + ", which its row only reads");
    watched.clear();
}

/* ---- what a launch is told -------------------------------------------------------------------------- */

void Test::begin(const char *what) {
    name = what;
    told.reset();
}

UnetLaunch Test::at() const {
    UnetControl *control = told ? told->as<UnetControl>() : nullptr;
    return {nullptr,
            nullptr,
            control,
            told ? control->arrived : nullptr,
            told ? control->correction : nullptr,
            0,
            nullptr,
            jobs.get(),
            compared.get(),
            tracks.get(),
            more,
            0};
}

void Test::control(int n, const int32_t (*valid)[3], int samples, int start, int last) {
    const size_t bytes = (size_t)samples * sizeof *valid;
    told.reset(new Device(sizeof(UnetControl) + bytes));
    *told->as<UnetControl>() = {0, 7, 11, n, start, 0, last, {LABELLED}, {0, 0}, {0, 0}};
    memcpy(told->as<UnetControl>() + 1, valid, bytes);
}

void Test::step(double rate, int64_t number, double beta1, double beta2) {
    told.reset(new Device(sizeof(UnetControl)));
    const double power = (double)number;
    *told->as<UnetControl>() = {
        rate, number, 0, 0, 0, 0, 0, {}, {1 - pow(beta1, power), 1 - pow(beta2, power)}, {0, 0}};
}

/* ---- comparison ------------------------------------------------------------------------------------- */

void Test::fail(const char *what, const std::string &how) {
    if (failures++ < 20)
        printf("%s: %s: %s\n", name, what, how.c_str());
}

void Test::add_to_hash(const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ static_cast<const unsigned char *>(bytes)[i]) * 1099511628211u;
}

static bool both_nan(double a, double b) {
    return a != a && b != b;
}

void Test::compare(const char *what, Tensor &t, int parts, bool via_stored) {
    double most = 0;
    for (long i = 0; i < t.count(); i++)
        if (std::isfinite(t.host()[i]))
            most = std::fmax(most, std::fabs(t.host()[i]));
    for (long i = 0; i < t.count(); i++) {
        const double want = t.rounded(t.host()[i]), got = t.get(i);
        const bool real_only = t.kind == Kind::REAL && !via_stored;
        const double unit = epsilon(real_only), most_apart = real_only || sizeof(stored) == 4 ? 64
                                                             : via_stored                     ? 1
                                                                                              : 0.125;
        const double tolerance = parts * unit * (std::fabs(want) + most_apart * most);
        const bool same = got == want || both_nan(got, want); /* infinities, too */
        if (!same && !(std::fabs(got - want) <= (t.padding(i) ? 0 : tolerance))) {
            fail(what, "number " + std::to_string(i) + " is " + std::to_string(got) + ", not " +
                           std::to_string(want));
            break;
        }
    }
    const std::string bits = t.device().bits();
    add_to_hash(bits.data(), bits.size());
    for (long i = 0; i < t.count(); i++)
        t.host()[i] = t.get(i);
    comparisons++;
}

void Test::same(const char *what, Tensor &t, const Tensor &other) {
    if (t.device().bits() != other.device().bits())
        fail(what, "other bits");
    t.device().forget();
    comparisons++;
}

void Test::same(const char *what, const Result &result, const Result &other) {
    comparisons++;
    add_to_hash(result.device().as<void>(), (size_t)result.count() * sizeof(double));
    if (result.device().bits() != other.device().bits())
        fail(what, "other bits");
}

void Test::same(const char *what, const Labels &labels, const Labels &other) {
    if (labels.device().bits() != other.device().bits())
        fail(what, "other classes");
    comparisons++;
}

void Test::compare(const char *what, Result &result, double tolerance) {
    double *got = result.device().as<double>(), *want = result.host();
    for (int i = 0; i < result.count(); i++)
        if (!(std::fabs(got[i] - want[i]) <= tolerance * std::fabs(want[i])))
            fail(what, "it is " + std::to_string(got[i]) + ", not " + std::to_string(want[i]));
    add_to_hash(got, (size_t)result.count() * sizeof *got);
    std::copy_n(got, result.count(), want);
    comparisons++;
}

static bool near(float got, float want) {
    return std::fabs(got - want) <= 1e-5f * std::fabs(want);
}

void Test::compare(const char *what, Codes &codes) {
    const uint8_t *got = codes.device().as<uint8_t>(), *want = codes.host();
    long apart = 0, at = 0;
    for (long count : codes.elements) {
        const float *maxima = (const float *)(got + at + unet_code_maxima(count)),
                    *own = (const float *)(want + at + unet_code_maxima(count));
        for (long i = 0; i < count; i++) {
            apart += got[at + i] != want[at + i];
            if (std::abs(got[at + i] - want[at + i]) > 1)
                fail(what, "code " + std::to_string(at + i) + " is " + std::to_string(got[at + i]) +
                               ", not " + std::to_string(want[at + i]));
        }
        for (long b = 0; b < unet_code_blocks(count); b++)
            if (!near(maxima[b], own[b]))
                fail(what, "maximum " + std::to_string(b) + " is " + std::to_string(maxima[b]) + ", not " +
                               std::to_string(own[b]));
        at += state_bytes(count);
    }
    for (size_t i = (size_t)at; i + sizeof(float) <= codes.expected.size(); i += sizeof(float))
        if (!near(*(const float *)(got + i), *(const float *)(want + i)))
            fail(what, "a real behind the codes is another");
    if (apart > 3)
        fail(what, std::to_string(apart) + " codes are others");
    add_to_hash(got, codes.expected.size());
    std::copy_n(got, codes.expected.size(), codes.host());
    comparisons++;
}

void Test::compare(const char *what, Bytes &bytes) {
    const uint8_t *got = bytes.device().as<uint8_t>();
    for (size_t i = 0; i < bytes.expected.size(); i++)
        if (got[i] != bytes.expected[i]) {
            fail(what, "byte " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
                           std::to_string(bytes.expected[i]));
            break;
        }
    add_to_hash(got, bytes.expected.size());
    comparisons++;
}

void Test::pack(float *packed, const float *w, const Filter &f, int channels, int taps) {
    for (int k = 0; k < f.kp; k++)
        for (int tap = 0; tap < taps; tap++)
            for (int c = 0; c < f.cp; c++)
                packed[f.offset + ((long)k * taps + tap) * f.cp + c] =
                    k < f.kn && c < f.cn ? w[((long)(f.k0 + k) * channels + f.c0 + c) * taps + tap] : 0;
}

void Test::sum_bands(Tensor &sums, Tensor &of, int bands) {
    const long block = of.shape.block, points = of.count() / block;
    for (int band = 0; band < bands; band++)
        for (long c = 0; c < block; c++) {
            double total = 0;
            for (long p = points * band / bands; p < points * (band + 1) / bands; p++)
                total += of.host()[p * block + c];
            sums.host()[band * block + c] = (float)total;
        }
}

void Test::sum_cells(Tensor &sums, Tensor &of, int bands) {
    const long block = of.shape.block, height = of.shape.size[1] / 2, width = of.shape.size[2] / 2,
               cells = of.shape.n * height * width;
    for (int band = 0; band < bands; band++)
        for (long c = 0; c < block; c++) {
            double total = 0;
            for (long cell = cells * band / bands; cell < cells * (band + 1) / bands; cell++)
                for (int tap = 0; tap < 4; tap++) {
                    const long row = cell / width * 2 + tap / 2, column = cell % width * 2 + tap % 2;
                    total += of.host()[(row * 2 * width + column) * block + c];
                }
            sums.host()[band * block + c] = (float)total;
        }
}

/* ---- what launchers call ---------------------------------------------------------------------------- */

/* T(0..n) = T(0..p) + T(p..n), p the largest power of two below n. */
static float tree(const float *part, int64_t apart, int n) {
    int half = 1;
    if (n == 1)
        return *part;
    while (2 * half < n)
        half *= 2;
    return tree(part, apart, half) + tree(part + half * apart, apart, n - half);
}

/* Each of 1 to 8 ranks has an eighth of SUMS in the room; in place of SUMS, which stay as they are. */
extern "C" void unet_cuda_sum_ranks(UnetLaunch at, float *sums, float *room, int64_t count, int,
                                    void (*add)(UnetLaunch at, UnetRankParts parts)) {
    const int64_t each = count / 8, apart = each + 1;
    const size_t bytes = (size_t)count * sizeof *sums;
    std::vector<float> before((size_t)count), parts((size_t)(8 * apart)), after((size_t)count);
    cudaMemcpy(before.data(), sums, bytes, cudaMemcpyDeviceToHost);
    for (int ranks = 1; ranks <= 8; ranks++) {
        const int mine = ranks * 5 % 8; /* it may have no samples */
        for (int64_t i = 0; i < 8 * each; i++)
            parts[(size_t)(i / each * apart + i % each)] = before[(size_t)i];
        cudaMemcpy(room, parts.data(), parts.size() * sizeof *room, cudaMemcpyHostToDevice);
        if (mine < ranks)
            cudaMemset(room + mine * apart, 0xFF, (size_t)each * sizeof *room); /* NaN: it is in SUMS */
        add(at, UnetRankParts{sums + mine * each, room, each, apart, mine, ranks});
        cudaMemcpy(after.data(), sums, bytes, cudaMemcpyDeviceToHost);
        for (int64_t i = 0; i < each; i++)
            if (after[(size_t)(mine * each + i)] != tree(&parts[(size_t)i], apart, ranks)) {
                fprintf(stderr, "rank_sum: rank %d of %d has %g at %ld\n", mine, ranks,
                        (double)after[(size_t)(mine * each + i)], (long)i);
                abort();
            }
        cudaMemcpy(sums, before.data(), bytes, cudaMemcpyHostToDevice);
    }
}

extern "C" void unet_cuda_start_ranks(UnetLaunch, float *, float *, int32_t, int,
                                      void (*)(UnetLaunch at, UnetRankParts parts)) {}

extern "C" void unet_cuda_gather_ranks(UnetLaunch, float *, int64_t) {}

/* The only one. */
extern "C" void unet_cuda_slice(UnetLaunch, int64_t count, int32_t, uint32_t *from, uint32_t *to) {
    *from = 0;
    *to = (uint32_t)count;
}

extern "C" void unet_cuda_check(UnetLaunch, cudaError_t error, const char *launcher) {
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize(); /* so that a failure belongs to this launch */
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", launcher, cudaGetErrorString(error));
    abort();
}

/* One product: elements of x, of the filter and of y that meet. */
struct Meeting {
    long x, w, y;
};

template <class Do> static void each_meeting(const UnetConvolution &c, Do what) {
    const int64_t *k = c.kernel, taps = k[0] * k[1] * k[2], points = c.out[0] * c.out[1] * c.out[2];
    for (int64_t n = 0; n < c.batch; n++)
        for (int64_t p = 0; p < points; p++)
            for (int64_t tap = 0; tap < taps; tap++) {
                const int64_t o[3] = {p / (c.out[1] * c.out[2]), p / c.out[2] % c.out[1], p % c.out[2]};
                const int64_t t[3] = {tap / (k[1] * k[2]), tap / k[2] % k[1], tap % k[2]};
                int64_t from = n;
                bool inside = true;
                for (int a = 0; a < 3; a++) {
                    const int64_t i = o[a] * c.stride[a] - c.before[a] + t[a] * c.dilation[a];
                    inside = inside && i >= 0 && i < c.in[a];
                    from = from * c.in[a] + i;
                }
                for (int64_t m = 0; inside && m < c.out_channels; m++)
                    for (int64_t ch = 0; ch < c.in_channels; ch++)
                        what(Meeting{from * c.in_channels + ch, (m * taps + tap) * c.in_channels + ch,
                                     (n * points + p) * c.out_channels + m});
            }
}

static int64_t volume(const int64_t *size) {
    return size[0] * size[1] * size[2];
}

static void finish(const UnetConvolution &c, stored *result, std::vector<double> &sum, const stored *bias) {
    for (size_t i = 0; i < sum.size(); i++) {
        sum[i] += c.accumulate ? to_float(result[i]) : 0;
        sum[i] += c.bias ? to_float(bias[i % c.out_channels]) : 0;
        from_float(result + i, (float)(c.relu && sum[i] < 0 ? 0 : sum[i]));
    }
}

static void convolve(const UnetConvolution &c, void *result, const stored *a, const stored *b,
                     const stored *bias) {
    std::vector<double> sum;
    switch (c.kind) {
    case UNET_FORWARD:
        sum.resize(c.batch * volume(c.out) * c.out_channels);
        each_meeting(c, [&](Meeting m) { sum[m.y] += (double)to_float(a[m.x]) * to_float(b[m.w]); });
        finish(c, static_cast<stored *>(result), sum, bias);
        break;
    case UNET_BACKWARD_DATA:
        sum.resize(c.batch * volume(c.in) * c.in_channels);
        each_meeting(c, [&](Meeting m) { sum[m.x] += (double)to_float(a[m.y]) * to_float(b[m.w]); });
        finish(c, static_cast<stored *>(result), sum, bias);
        break;
    case UNET_BACKWARD_FILTER:
        sum.resize(c.out_channels * volume(c.kernel) * c.in_channels);
        each_meeting(c, [&](Meeting m) { sum[m.w] += (double)to_float(a[m.x]) * to_float(b[m.y]); });
        for (size_t i = 0; i < sum.size(); i++)
            from_float(static_cast<stored *>(result) + i, (float)sum[i]);
        break;
    }
}

extern "C" void unet_cuda_convolution(UnetLaunch at, int32_t index, void *result, const void *a,
                                      const void *b, const void *bias, void *) {
    shim::submit(at.stream, [=] {
        convolve(convolutions[index], result, static_cast<const stored *>(a),
                 static_cast<const stored *>(b), static_cast<const stored *>(bias));
    });
}

int main() {
    Test test;
    run_cases(test);
    printf("%d comparisons, %d failures, results %016llx\n", test.comparisons, test.failures,
           (unsigned long long)test.hash);
    return test.failures > 0;
}
