/* costs.c - how long a node takes, from a table of measured rates (costs.def).
 *
 * A kernel is bound by arithmetic or by memory: time is so much for each floating point operation, counted
 * for the plain sum whatever the method, and so much for each byte that it reads or writes.  How
 * near a convolution comes to the peak depends on how few channels it has.  Only the comparison of
 * kernels counts: on another processor all rates are others, yet most of them by the same factor.
 */
#include "cpu/costs.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"

#include <string.h>

typedef struct {
    const char *kernel;
    int bits, channels;
    int64_t per_kiloflop, per_kibibyte; /* picoseconds */
} Cost;

static const Cost cost[] = {
#define COST(kernel, bits, channels, per_kiloflop, per_kibibyte)                                           \
    {#kernel, bits, channels, per_kiloflop, per_kibibyte},
#include "cpu/costs.def"
#undef COST
};
enum { COSTS = sizeof cost / sizeof *cost };

/* The fewest channels of a tensor that has samples. */
static int64_t fewest_channels(const Graph *g, const Node *node) {
    int64_t fewest = INT64_MAX;
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const Value *value = &g->value[t.value];
        if (value->per_sample && shape_channels(value->shape) < fewest)
            fewest = shape_channels(value->shape);
    }
    return fewest;
}

/* Is the row of KERNEL the row of NAME?  An image takes as long for an operation as a volume. */
static bool is_row_of(const char *kernel, const char *name) {
    const size_t length = strlen(kernel);
    return *kernel == *name && strncmp(kernel, name, length) == 0 &&
           (name[length] == '\0' || strcmp(name + length, "_volume") == 0);
}

/* Rows of a kernel stand in the order of their channels. */
static const Cost *find_cost(const char *kernel, int bits, int64_t channels) {
    const Cost *found = NULL;
    for (int i = 0; i < COSTS; i++)
        if (cost[i].bits == bits && is_row_of(cost[i].kernel, kernel) &&
            (found == NULL || cost[i].channels <= channels))
            found = &cost[i];
    return found;
}

int64_t cpu_picoseconds(const Program *program, const Node *node) {
    static const Cost usual = {.per_kiloflop = 2500, .per_kibibyte = 30000};
    const int bits = type_bytes(program->options->stored) < 4 ? 16 : 32;
    const Cost *rate =
        find_cost(kernel_name(program->target, node), bits, fewest_channels(program->graph, node));
    if (rate == NULL) /* not measured */
        rate = &usual;
    int64_t bytes = 0;
    for (Touch t = node_touches(program->graph, node); touch_next(&t);)
        bytes = work_sum(bytes, t.reads + t.writes, program->layout[t.value].bytes);
    return work_sum(1 + work_sum(0, rate->per_kiloflop, node_flops(program, node)) / 1000, 1,
                    work_sum(0, rate->per_kibibyte, bytes) / 1024);
}
