/* target.c - the CPU: channels in blocks of 16, a stored halo of zeros, weights packed before use.
 *
 * See templates/README.md for what the kernels expect, and cpu/sizes.h for the sizes of what they need
 * beside their operands.
 */
#include "base/size_math.h"
#include "cpu/costs.h"
#include "cpu/emit.h"
#include "cpu/kernels.h"
#include "ir/target.h"

extern const Target target_cpu;

enum { ALIGN = 64 };

/* ---- layout ---- */

/* Parameters, their gradients, scratch: all numbers in a row, up to the end of the last aligned piece. */
static void lay_out_dense(const Value *value, Layout *s) {
    int64_t block = ALIGN / type_bytes(value->type);
    *s = (Layout){.block = block, .plane = block, .depth = block, .row = block};
    s->sample = size_rounded(shape_elements(value->shape), block);
    s->blocks = s->sample / block;
    s->bytes = size_product(s->sample, type_bytes(value->type));
}

static void lay_out(const Value *value, int64_t batch, Layout *s) {
    if (!value->per_sample || value->shape.rank < SIGNAL_RANK) {
        lay_out_dense(value, s);
        s->bytes = size_rounded(size_product(s->bytes, batch), ALIGN);
        return;
    }
    int64_t channels = shape_channels(value->shape), size[AXES];
    for (int k = 0; k < AXES; k++)
        size[k] = shape_extent(value->shape, k) + s->before[k] + s->after[k];
    s->block = channels <= CPU_NARROW ? channels : CPU_BLOCK;
    s->blocks = (channels + s->block - 1) / s->block;
    s->row = size_product(size[2], s->block);
    s->depth = size_product(size[1], s->row);
    s->plane = size_product(size[0], s->depth);
    s->sample = size_rounded(size_product(s->plane, s->blocks), CPU_BLOCK);
    s->origin =
        size_sum(size_product(s->before[0], s->depth),
                 size_sum(size_product(s->before[1], s->row), size_product(s->before[2], s->block)));
    s->bytes = size_rounded(size_product(size_product(s->sample, batch), type_bytes(value->type)), ALIGN);
}

/* ---- options ---- */

static const char *refuses(const Options *options, bool builds) {
    (void)builds;
    if (options->real == TYPE_F64 && !options->reference)
        return "--precision=f64 needs --kernels=reference: fast kernels compute in f32";
    if (options->tf32)
        return "--precision=tf32 is for --target=cuda";
    if (options->nondeterministic)
        return "--nondeterministic is for --target=cuda: on the CPU every run gives the same bits";
    if (options->no_images && options->poison)
        return "--poison links the sanitizers, and --no-images the C library alone: leave one out";
    return NULL;
}

#define POISONED                                                                                           \
    "-std=gnu11 -O1 -g1 -ffp-contract=fast -fno-math-errno -fopenmp -fsanitize=address,undefined "         \
    "-fno-sanitize=pointer-overflow,alignment,object-size,null -fno-sanitize-recover=all"
#define REFERENCE "-std=gnu11 -O2 -ffp-contract=off"
#define FAST "-std=gnu11 -O2 -ffp-contract=fast -fno-math-errno -fno-trapping-math"
#define NATIVE " -march=native"
#define THREADS " -fopenmp"
#define SMALL                                                                                              \
    " -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables" /* as libunet_small.a */

/* Reference kernels round as the language says, on any processor. */
static bool is_native(const Options *options) {
    return !options->portable && options->instructions == NULL && (options->poison || !options->reference);
}

static const char *c_flags(const Options *options) {
    const bool native = is_native(options);
    if (options->poison)
        return native ? POISONED NATIVE : POISONED;
    if (options->no_images)
        return options->reference ? REFERENCE SMALL : native ? FAST SMALL NATIVE : FAST SMALL;
    if (options->reference)
        return REFERENCE THREADS;
    return native ? FAST THREADS NATIVE : FAST THREADS;
}

/* The processor at hand may be faster in f32 than with pairs of bf16; --conv=fast asks for pairs by name.
 * The system may refuse its registers for matrices. */
static const char *flags_of_machine(const Options *options) {
    static const char *const flags[2][2] = {
        {"", "-DUNET_PRODUCTS_IN_F32"},
        {"-DUNET_NO_MATRICES", "-DUNET_NO_MATRICES -DUNET_PRODUCTS_IN_F32"}};
    if (!is_native(options) || options->stored != TYPE_BF16)
        return "";
    return flags[!options->has_matrices][options->conv != CONV_FAST && options->slow_pairs];
}

static const char *isa(const Options *options) {
    if (options->instructions != NULL)
        return options->instructions;
    return is_native(options) ? "native" : "portable";
}

/* bf16 has instructions that not all of v4 have.  A program takes the level with pairs of bf16 unless pairs
 * are slow, or if --conv=fast asks for pairs.  Only tensors of bf16 have use for registers for matrices. */
static const Level *levels(const Options *options) {
#if defined __x86_64__
#define V4 "-march=x86-64-v4"
#define PAIRS V4 " -mavx512bf16"
#define MATRICES PAIRS " -mamx-tile -mamx-bf16"
    static const Level all[] = {{"v4_amx", MATRICES},
                                {"v4_bf16", PAIRS " -DUNET_QUICK_PAIRS"},
                                {"v4", V4},
                                {"v3", "-march=x86-64-v3"},
                                {NULL, NULL}};
    static const Level by_name[] = {
        {"v4_amx", MATRICES}, {"v4_bf16", PAIRS}, {"v4", V4}, {"v3", "-march=x86-64-v3"}, {NULL, NULL}};
#undef V4
#undef PAIRS
#undef MATRICES
    const bool of_bf16 = options->stored == TYPE_BF16;
    if (!options->portable || options->reference || options->poison)
        return NULL;
    return options->conv == CONV_FAST ? by_name + (of_bf16 ? 0 : 1) : all + (of_bf16 ? 0 : 2);
#else
    (void)options;
    return NULL;
#endif
}

const Target target_cpu = {.name = "cpu",
                           .align = ALIGN,
                           .slice_align = ALIGN,
                           .picoseconds = cpu_picoseconds,
                           .byte_cost = 39,      /* 26 GB/s, of two threads */
                           .step_cost = 5000000, /* 5 us: threads wait for each other */
                           .loops_are_free = true,
                           .packs_once = true,
                           .rings = true,
                           .stages_as_files = true,
                           .overlaps_ranks = true,
                           .same_anywhere = true,
                           .passes_rows = true,
                           .kernel = cpu_kernels,
                           .refuses = refuses,
                           .begin = cpu_begin,
                           .lay_out = lay_out,
                           .emit = emit_cpu,
                           .c_flags = c_flags,
                           .flags_of_machine = flags_of_machine,
                           .levels = levels,
                           .isa = isa};
