/* target.c - a GPU: channels side by side, the batch brought into the arena, convolutions by cuDNN.
 *
 * See the end of templates/README.md for what the kernels expect.
 */
#include "base/size_math.h"
#include "base/text.h"
#include "cuda/card.h"
#include "cuda/convolution.h"
#include "cuda/cudnn.h"
#include "cuda/costs.h"
#include "cuda/emit.h"
#include "cuda/kernels.h"
#include "cuda/measured.h"
#include "ir/ops.h"

extern const Target target_cuda;

enum { ALIGN = 256, PIECE = 16 };

/* ---- layout ---- */

/* Slices of regions follow each other without gaps but for whole pieces; what stands alone is aligned. */
static void lay_out_dense(const Value *value, int64_t batch, Layout *s) {
    bool slice = value->class == CLASS_PARAMETER || value->class == CLASS_PARAMETER_GRADIENT ||
                 value->class == CLASS_STATE || value->class == CLASS_METRIC;
    int64_t block = PIECE / type_bytes(value->type);
    *s = (Layout){.block = block, .plane = block, .depth = block, .row = block};
    s->sample = size_rounded(shape_elements(value->shape), block);
    s->blocks = s->sample / block;
    s->bytes = size_rounded(size_product(size_product(s->sample, type_bytes(value->type)), batch),
                            slice ? PIECE : ALIGN);
}

/* Images of bytes are read by bytes, so four of them are padding enough; argmax bits are packed already. */
static int64_t channels_at_a_point(const Value *value) {
    int64_t channels = shape_channels(value->shape);
    if (value->type == TYPE_U8)
        return channels;
    return value->type == TYPE_UNORM8 ? size_rounded(channels, 4) : cuda_channels(channels, value->type);
}

static void lay_out(const Value *value, int64_t batch, Layout *s) {
    if (!value->per_sample || value->shape.rank < SIGNAL_RANK) {
        lay_out_dense(value, batch, s);
        return;
    }
    *s = (Layout){.block = channels_at_a_point(value), .blocks = 1};
    s->row = size_product(shape_extent(value->shape, 2), s->block);
    s->depth = size_product(shape_extent(value->shape, 1), s->row);
    s->sample = s->plane = size_product(shape_extent(value->shape, 0), s->depth);
    s->bytes = size_rounded(size_product(size_product(s->sample, batch), type_bytes(value->type)), ALIGN);
}

/* Kernels count the vectors of a tensor, with rows that are not there, and elements of parameters, in 32
 * bits.  A workspace has fewer of both.  Labels and images of bytes have no more points than a tensor of
 * the net has.  tests/cuda/kernels/narrow.h shows that they count
 * nothing more in 32 bits. */
static const char *too_large(Pool *pool, const Buffer *buffer) {
    enum { VECTOR = 16 };
    const int64_t unit = buffer->batch > 0 ? VECTOR : type_bytes(buffer->type);
    const int64_t most = unit * INT32_MAX;
    const int64_t rows = buffer->ring > 0 ? shape_rows(buffer->shape) : 1,
                  there = buffer->ring > 0 ? buffer->ring : 1;
    if (buffer->class == CLASS_WORKSPACE || size_product(buffer->bytes / there, rows) <= most)
        return NULL;
    return pool_text(
        pool,
        "`%s` takes %s bytes; a tensor on a GPU has at most %s bytes here. --micro-batches, or a "
        "smaller --batch or --size, makes it smaller",
        buffer->name, grouped(pool, size_product(buffer->bytes / there, rows)), grouped(pool, most));
}

/* ---- options ---- */

static const char *refuses(const Options *options, bool builds) {
    if (options->real == TYPE_F64)
        return "--precision=f64 is for --target=cpu with --kernels=reference";
    if (options->staging == STAGING_U16)
        return "--staging=u16 is for --target=cpu: a GPU takes f32 or u8";
    if (options->reference)
        return "--kernels=reference is for --target=cpu";
    if (options->no_images)
        return "--no-images is for --target=cpu";
    if (options->portable || options->instructions != NULL)
        return "--isa is for --target=cpu: what is not for the GPU runs on any processor as it is";
    if (options->conv == CONV_WINOGRAD || options->conv == CONV_FAST)
        return "--conv=winograd and fast are for --target=cpu: cuDNN chooses how a GPU computes "
               "convolutions";
    if (options->poison && builds)
        return "--poison with --target=cuda needs -S DIR: it only writes sources, which tests run on the "
               "CPU";
    return NULL;
}

static const char *c_flags(const Options *options) {
    (void)options;
    return "-std=c11 -O2";
}

static const char *isa(const Options *options) {
    return options->architecture;
}

/* ---- cuDNN, asked without a device ---- */

static DeviceModel *open_cudnn(Pool *pool, const Options *options) {
    const char *path = options->engines;
    return (DeviceModel *)cudnn_open(
        pool, options->card, path == NULL ? NULL : measured_read(pool, path, options->architecture));
}

static void close_cudnn(DeviceModel *device) {
    cudnn_close((CudnnQuery *)device);
}

static const char *device_json(DeviceModel *device) {
    return device == NULL ? NULL : cudnn_device((CudnnQuery *)device);
}

static const char *measured_on(Pool *pool, DeviceModel *device) {
    const UnetEngineDevice *there = &cudnn_measured((const CudnnQuery *)device)->device;
    return pool_text(pool, "%s, cuDNN %lld", there->name, (long long)there->cudnn);
}

static const char *workspace_note(Pool *pool, DeviceModel *device, int64_t *cap) {
    const CudnnQuery *query = (CudnnQuery *)device;
    *cap = CUDNN_WORKSPACE_CAP;
    if (query != NULL && cudnn_not_asked(query) != NULL)
        return pool_text(pool, "each convolution%s: cuDNN was not asked (%s)",
                         cudnn_measured(query) != NULL ? " that the file of --engines lacks" : "",
                         cudnn_not_asked(query));
    if (query != NULL && cudnn_left_open(query))
        return "some convolutions: this cuDNN names no engine where there is no driver (libcuda.so.1)";
    return NULL;
}

static bool has_roomy_kernels(const Options *options) {
    return options->device != NULL;
}

const Target target_cuda = {.name = "cuda",
                            .architecture = cuda_cards,
                            .align = ALIGN,
                            .slice_align = PIECE,
                            .context = INT64_C(600) << 20, /* 548 on an H200; drivers differ */
                            .picoseconds = cuda_picoseconds,
                            .byte_cost =
                                1, /* 1 TB/s: weights that a loop reads again are few bytes at a time */
                            .step_cost = 1300000, /* 1.3 us lie between two launches of a graph */
                            .stages = true,
                            .stages_bytes = true,
                            .packs_once = true,
                            .rings = true,
                            .overlaps_ranks = true,
                            .kernel = cuda_kernels,
                            .refuses = refuses,
                            .open = open_cudnn,
                            .close = close_cudnn,
                            .device_json = device_json,
                            .measured = measured_convolutions,
                            .measured_on = measured_on,
                            .engines_json = cuda_engines_json,
                            .workspace_note = workspace_note,
                            .has_roomy_kernels = has_roomy_kernels,
                            .begin = cuda_begin,
                            .lay_out = lay_out,
                            .too_large = too_large,
                            .emit = emit_cuda,
                            .c_flags = c_flags,
                            .isa = isa,
                            .build = &cuda_build,
                            .model_members = ".device = &unet_cuda_device, .device_tables = &cuda_model,"};
