/* layout.c - how each segment lies in memory.
 *
 * The halo of a tensor is the widest that any of its readers reaches for (the `halo` of their rows). If
 * an output may take its input's place, both get the same halo, so that it can.  The target then chooses
 * blocks and strides.
 *
 * Requires: the graph in its final form, target's own nodes included.  Provides: program->layout.
 */
#include "ir/ops.h"
#include "passes/passes.h"

static void widen(Layout *s, const int64_t before[AXES], const int64_t after[AXES]) {
    for (int k = 0; k < AXES; k++) {
        if (before[k] > s->before[k])
            s->before[k] = before[k];
        if (after[k] > s->after[k])
            s->after[k] = after[k];
    }
}

static void halo_of_readers(Program *program) {
    const Graph *g = program->graph;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);) {
            int64_t before[AXES] = {0}, after[AXES] = {0};
            if (t.is_output)
                continue;
            op_table[g->node[i].op].halo(g, &g->node[i], t.number, before, after);
            widen(&program->layout[t.value], before, after);
        }
}

/* From the last node to the first, so that a chain of nodes in one place agrees after one pass. */
static void agree_in_place(Program *program) {
    const Graph *g = program->graph;
    for (int i = g->nnode - 1; i >= 0; i--) {
        const Node *node = &g->node[i];
        const int k = node->nout > 0 ? g->operands[node->op].out[0].in_place : -1;
        if (k < 0 || k >= node->nin || node->in[k] < 0 || g->value[node->in[k]].class == CLASS_STAGING)
            continue;
        Layout *in = &program->layout[node->in[k]], *out = &program->layout[node->out[0]];
        widen(in, out->before, out->after);
        widen(out, in->before, in->after);
    }
}

/* A loop over samples holds a FEW of each tensor.  The loader brings whole batches; a target that stages
 * batches takes the samples of an iteration. */
static int64_t samples_of(const Program *program, const Value *value, int64_t few) {
    if (!value->per_sample)
        return 1;
    return value->class == CLASS_STAGING && value->input >= 0 && !program->target->stages ? program->batch
                                                                                          : few;
}

/* If several loops follow each other, all samples of a process, until the tensors of one loop are known. */
static int64_t samples_held(const Program *program) {
    return merging_node(program->graph) != NULL ? samples_of_process(&program->model->train)
                                                : program->micro_batch;
}

void choose_layouts(Program *program) {
    const Graph *g = program->graph;
    const int64_t few = samples_held(program);
    for (program->nlayout = 0; program->nlayout < g->nvalue;)
        PUSH(g->pool, program->layout, program->nlayout, (Layout){0});
    halo_of_readers(program);
    agree_in_place(program);
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].nsegments == 0)
            program->target->lay_out(&g->value[v], samples_of(program, &g->value[v], few),
                                     &program->layout[v]);
}
