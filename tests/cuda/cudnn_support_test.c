/* cudnn_support_test.c - the real cuDNN, without a device: every convolution of typical U-Nets has a
 * deterministic engine within the cap, for all cards and types, and asking is quick.
 *
 * Prints a table: the convolution, the engine, its workspace, the time it took to ask. A filter gradient
 * in f32 of operands of 16 bits is left out if there is no driver: only engines that cuDNN compiles when
 * they are needed compute it, and cuDNN cannot even list these then. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cuda/cudnn.h"

static int failures, asked, unasked;
static double longest, total;

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static const char *const kinds[] = {"forward", "backward data", "backward filter"};

/* Whether only engines that are compiled when needed compute C. */
static bool is_compiled(const UnetConvolution *c) {
    return c->result_type != c->type || (c->relu && !c->bias);
}

static bool same_answer(const UnetEngine *a, const UnetEngine *b) {
    return a->version == b->version && a->engine == b->engine && a->workspace == b->workspace &&
           a->nknob == b->nknob && memcmp(a->knob, b->knob, (size_t)a->nknob * sizeof *a->knob) == 0;
}

static void ask(CudnnQuery *query, const char *where, UnetConvolution c) {
    const char *why;
    double start = milliseconds();
    bool found = cudnn_choose(query, &c, true, &why);
    double took = milliseconds() - start;
    UnetEngine first = c.engine;
    bool again = cudnn_choose(query, &c, true, &why) && same_answer(&first, &c.engine);
    total += took;
    longest = took > longest ? took : longest;
    asked++;
    printf("  %-34s %-15s %s%s%s", where, kinds[c.kind], c.bias ? "+bias" : "", c.relu ? "+relu" : "",
           c.accumulate ? "+=" : "");
    if (!found || !again || c.engine.workspace < 0 || c.engine.workspace > CUDNN_WORKSPACE_CAP) {
        printf("  FAILED: %s\n", found ? "a second answer differs, or the workspace" : why);
        failures++;
    } else if (c.engine.version == 0) {
        printf("  not asked\n");
        failures += !is_compiled(&c);
        unasked++;
    } else {
        printf("  engine %lld, %d knobs, %lld bytes, %.1f ms\n", (long long)c.engine.engine,
               (int)c.engine.nknob, (long long)c.engine.workspace, took);
    }
}

/* More workspace is asked for only where an engine would be the last resort, and then by a better one. */
static void ask_for_more(CudnnQuery *query, UnetConvolution c, bool more) {
    const char *why;
    bool found = cudnn_choose(query, &c, true, &why);
    UnetEngine little = c.engine;
    found = found && cudnn_choose(query, &c, false, &why);
    printf("  %s, batch %d: engine %lld, %lld bytes, or %lld, %lld bytes\n", kinds[c.kind], (int)c.batch,
           (long long)little.engine, (long long)little.workspace, (long long)c.engine.engine,
           (long long)c.engine.workspace);
    bool right =
        more ? little.engine == 0 && c.engine.engine != 0 && c.engine.workspace > CUDNN_WORKSPACE_CAP
             : same_answer(&little, &c.engine);
    if (!found || !right || little.workspace > CUDNN_WORKSPACE_CAP) {
        printf("  FAILED: %s\n", found ? "more workspace, or less" : why);
        failures++;
    }
}

/* ---- the convolutions of a layer ---- */

static UnetConvolution layer(UnetType type, int axes, int64_t batch, int64_t size, int64_t in, int64_t out,
                             int64_t kernel, int64_t stride) {
    UnetConvolution c = {.type = type,
                         .result_type = type,
                         .tf32 = true,
                         .axes = axes,
                         .batch = batch,
                         .in_channels = in,
                         .out_channels = out};
    for (int k = 0; k < 3; k++) {
        bool used = k >= 3 - axes;
        c.in[k] = used ? size : 1;
        c.kernel[k] = used ? kernel : 1;
        c.stride[k] = used ? stride : 1;
        c.dilation[k] = 1;
        c.before[k] = used && stride == 1 ? kernel / 2 : 0;
        c.after[k] = c.before[k];
        c.out[k] = (c.in[k] + c.before[k] + c.after[k] - c.kernel[k]) / c.stride[k] + 1;
    }
    return c;
}

static void ask_gradients(CudnnQuery *query, const char *where, UnetConvolution c) {
    c.kind = UNET_BACKWARD_DATA;
    ask(query, where, c);
    c.kind = UNET_BACKWARD_FILTER;
    ask(query, where, c);
}

/* A convolution with its bias, as the first of several segments, as a further one, as the last; its
 * gradients. */
static void ask_layer(CudnnQuery *query, const char *where, UnetConvolution c) {
    ask(query, where, c);
    c.accumulate = true;
    ask(query, where, c);
    c.accumulate = false;
    c.bias = true;
    ask(query, where, c);
    c.relu = true;
    ask(query, where, c);
    c.accumulate = true;
    ask(query, where, c);
    c.accumulate = c.bias = c.relu = false;
    ask_gradients(query, where, c);
}

/* A transposed convolution: its result is the gradient by the input, its gradients those by the output. */
static void ask_transposed(CudnnQuery *query, const char *where, UnetConvolution c) {
    c.kind = UNET_BACKWARD_DATA;
    ask(query, where, c);
    c.accumulate = true;
    ask(query, where, c);
    c.accumulate = false;
    c.kind = UNET_FORWARD;
    ask(query, where, c);
    c.kind = UNET_BACKWARD_FILTER;
    ask(query, where, c);
}

static void ask_net(CudnnQuery *query, UnetType type, int axes, int64_t batch, int64_t size, int64_t base,
                    int levels) {
    const int64_t vector = type == UNET_F32 ? 4 : 8; /* channels of an image or a result, padded */
    char where[64];
    for (int level = 0; level < levels; level++) {
        const int64_t extent = size >> level, width = base << level;
        snprintf(where, sizeof where, "level %d, in", level);
        ask_layer(query, where,
                  layer(type, axes, batch, extent, level == 0 ? vector : width / 2, width, 3, 1));
        snprintf(where, sizeof where, "level %d", level);
        ask_layer(query, where, layer(type, axes, batch, extent, width, width, 3, 1));
        if (level + 1 < levels) {
            snprintf(where, sizeof where, "level %d, up", level);
            ask_transposed(query, where, layer(type, axes, batch, extent, width, 2 * width, 2, 2));
            snprintf(where, sizeof where, "level %d, down", level);
            ask_layer(query, where, layer(type, axes, batch, extent, width, 2 * width, 2, 2));
        }
    }
    ask_layer(query, "last", layer(type, axes, batch, size, base, vector, 1, 1));
}

/* Channels of images are padded so that no engine has to copy the image for that. */
static void ask_images(CudnnQuery *query, UnetType type) {
    const int64_t copy = INT64_C(8) * 512 * 512 * 8 * 2;
    UnetConvolution each[] = {layer(type, 2, 8, 512, 8, 64, 3, 1), layer(type, 2, 8, 512, 8, 64, 3, 1),
                              layer(type, 2, 8, 512, 64, 8, 1, 1), layer(type, 2, 8, 512, 64, 8, 1, 1),
                              layer(type, 2, 8, 512, 64, 8, 1, 1)};
    each[0].bias = each[0].relu = each[2].bias = true;
    each[1].kind = each[3].kind = UNET_BACKWARD_FILTER;
    each[4].kind = UNET_BACKWARD_DATA;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const char *why;
        ask(query, i < 2 ? "an image, in" : "an image, out", each[i]);
        if (cudnn_choose(query, &each[i], false, &why) && each[i].engine.workspace >= copy / 4) {
            printf("  FAILED: the image is copied\n");
            failures++;
        }
    }
}

/* Convolutions that a U-Net seldom has: padding that differs, dilation, a stride that does not divide the
 * size. */
static void ask_odd_ones(CudnnQuery *query, UnetType type) {
    UnetConvolution c = layer(type, 2, 4, 64, 32, 32, 3, 1);
    for (int k = 1; k < 3; k++) {
        c.before[k] = 0;
        c.after[k] = 2;
    }
    ask_layer(query, "padding behind only", c);
    c = layer(type, 2, 4, 64, 32, 32, 3, 1);
    for (int k = 1; k < 3; k++) {
        c.dilation[k] = c.before[k] = c.after[k] = 2;
    }
    ask_layer(query, "dilation 2", c);
    c = layer(type, 2, 4, 63, 32, 32, 3, 2);
    for (int k = 1; k < 3; k++) {
        c.before[k] = 1;
        c.out[k] = 31;
    }
    ask_layer(query, "stride 2, padding in front only", c);
    c = layer(type, 2, 4, 64, 32, 32, 3, 1);
    c.relu = true;
    ask(query, "no bias", c);
    c.relu = false;
    c.kind = UNET_BACKWARD_FILTER;
    c.result_type = UNET_F32;
    ask(query, "to f32", c);
    c.accumulate = true;
    ask(query, "to f32", c);
}

/* COPIES: it has exact engines for input gradients that copy their operands. */
static void ask_all(const char *architecture, bool copies) {
    static const struct {
        UnetType type;
        const char *name;
    } types[] = {{UNET_F32, "f32 (tf32)"}, {UNET_BF16, "bf16"}, {UNET_F16, "f16"}};
    Pool *pool = pool_new();
    CudnnQuery *query = cudnn_open(pool, architecture, NULL);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        printf("%s, %s: 2d, batch 8, 256x256, base 32\n", architecture, types[t].name);
        ask_net(query, types[t].type, 2, 8, 256, 32, 4);
        printf("%s, %s: 3d, batch 2, 64x64x64, base 16\n", architecture, types[t].name);
        ask_net(query, types[t].type, 3, 2, 64, 16, 3);
        printf("%s, %s: others\n", architecture, types[t].name);
        ask_odd_ones(query, types[t].type);
        if (types[t].type != UNET_F32)
            ask_images(query, types[t].type);
    }
    printf("%s, f32: exact\n", architecture);
    UnetConvolution c = layer(UNET_F32, 2, 8, 256, 32, 32, 3, 1);
    c.tf32 = false;
    ask_layer(query, "level 0", c);
    c.kind = UNET_BACKWARD_DATA;
    ask_for_more(query, c, copies);
    c.batch = 1;
    ask_for_more(query, c, false);
    c.batch = 8;
    c.kind = UNET_FORWARD;
    ask_for_more(query, c, false);
    cudnn_close(query);
    pool_free(pool);
}

int main(void) {
    Pool *pool = pool_new();
    CudnnQuery *query = cudnn_open(pool, "sm_90", NULL);
    if (cudnn_not_asked(query) != NULL) {
        printf("SKIPPED: %s\n", cudnn_not_asked(query));
        pool_free(pool);
        return 77;
    }
    cudnn_close(query);
    pool_free(pool);
    ask_all("sm_80", true);
    ask_all("sm_90", true);
    ask_all("h200", true);
    ask_all("sm_100", false); /* cuDNN 9.19 has only the engine of the last resort there */
    ask_all("sm_120", true);
    printf("%d questions, %d not asked, %.1f ms on average, %.1f ms the longest; %d failures\n", asked,
           unasked, total / asked, longest, failures);
    return failures > 0;
}
