/* cells.c - transposed convolutions by a kernel of ours, not by cuDNN.
 *
 * If the windows of a transposed convolution tile its output, each point of x makes a cell of y of its own,
 * and all of it is one product of matrices.  cuDNN computes that as the gradient of a convolution, and
 * its compiled engines leave the bias to a second pass, which reads and writes y again.  The kernel of ours
 * adds the bias at once, but multiplies more slowly.  So it is the better one where bytes, not products,
 * take the time: with few channels.
 *
 * The model is the one of tests/bench/roofline.py without the cost of a launch: it depends on channels and
 * card alone, not on the size or the number of samples, so all plans of a net compute it in the same way.
 */
#include "cuda/cells.h"
#include "cuda/card.h"
#include "cuda/convolution.h"
#include "ir/ops.h"

/* Shares of the numbers in the data sheet of a card. */
static const double by_cudnn = 0.48, of_bandwidth = 0.77;

/* Do the windows of NODE tile y, so that no point of it has two or none? */
static bool tiles(const Graph *g, const Node *node) {
    const Window *w = &node->a.conv.window;
    const Shape x = g->value[node->in[0]].shape, y = g->value[node->out[0]].shape;
    bool all = true;
    for (int k = 0; k < AXES; k++)
        all = all && w->kernel[k] == w->stride[k] && w->before[k] == 0 && w->dilation[k] == 1 &&
              shape_extent(y, k) == shape_extent(x, k) * w->stride[k];
    return all;
}

static double longer(double a, double b) {
    return a > b ? a : b;
}

/* Is it faster than cuDNN and the pass behind it?  Both in seconds for a point of x. */
static bool is_faster(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const Type stored = program->options->stored;
    const CardSpeed speed = cuda_card_speed(g->pool, program->options->card);
    const double in = (double)cuda_channels(shape_channels(g->value[node->in[0]].shape), stored),
                 out = (double)cuda_channels(shape_channels(g->value[node->out[0]].shape), stored) *
                       (double)window_taps(&node->a.conv.window);
    const bool passes = node->in[2] >= 0 || node->a.conv.relu;
    const double flops = 2 * in * out, byte = (double)type_bytes(stored) / (of_bandwidth * speed.bytes);
    const double cudnn =
        longer(flops / (by_cudnn * speed.flops), (in + out) * byte) + (passes ? 2 * out * byte : 0);
    return longer(flops / speed.own_flops, (in + out) * byte) < cudnn;
}

bool cuda_makes_cells(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const ValueId *segment;
    if (type_bytes(program->options->stored) != 2 || program->options->upconv == UPCONV_CUDNN ||
        value_segments(g, &node->in[0], &segment) > 1 || !tiles(g, node))
        return false;
    return program->options->upconv == UPCONV_CELLS || is_faster(program, node);
}
