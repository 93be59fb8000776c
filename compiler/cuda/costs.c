/* costs.c - how long a step takes on a card, as far as data sheets tell.
 *
 * A step takes the time of its operations or of its bytes, whichever is longer, and a kernel has a least
 * time.  tests/bench/roofline.py takes the same shares of the data sheet; an H200 was within a seventh of
 * that model for nets of 64 channels and more, and took longer for smaller ones (tests/gpu/RESULTS.md). The
 * model counts few channels as they are padded.
 */
#include "cuda/costs.h"
#include "base/size_math.h"
#include "cuda/card.h"
#include "ir/ops.h"

/* Shares of the data sheet's figures, and the least seconds of a kernel of cuDNN and of one of ours. */
static const double of_flops = 0.6, of_bandwidth = 0.77;
static const double least_of_cudnn = 4.5e-6, least_of_ours = 1.5e-6;

/* Operations a second of convolutions. */
static double convolution_flops(const Options *options, CardSpeed speed) {
    enum { TF32 = 2, F32 = 16 }; /* 16-bit numbers are so many times as fast */
    const double part = type_bytes(options->stored) == 2 ? 1 : options->tf32 ? TF32 : F32;
    return of_flops * speed.flops / part;
}

static double longest(double a, double b, double c) {
    return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

int64_t cuda_picoseconds(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const CardSpeed speed = cuda_card_speed(g->pool, program->options->card);
    int64_t bytes = 0;
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (t.operand->access != ACCESS_SCRATCH)
            bytes = work_sum(bytes, t.reads + t.writes, program->layout[t.value].bytes);
    const double flops = (double)node_flops(program, node),
                 moves = (double)bytes / (of_bandwidth * speed.bytes);
    const bool by_cudnn = node->a.kind == ATTRIBUTES_CONV && flops > 0;
    const double seconds =
        by_cudnn ? longest(flops / convolution_flops(program->options, speed), moves, least_of_cudnn)
                 : longest(flops / speed.own_flops, moves, least_of_ours);
    return (int64_t)(1e12 * seconds);
}
