/* storage.c - how each leaf lies in memory.
 *
 * The halo of a tensor is the widest that any of its readers reaches for (the `reach` of their rows). Where
 * an output may take its input's place, both get the same halo, so that it can.  The target then chooses
 * blocks and strides.
 *
 * Requires: the graph in its final form, target's own nodes included.  Provides: program->storage.
 */
#include "ops.h"
#include "plan.h"

static void widen(Storage *s, const int64_t before[AXES], const int64_t after[AXES]) {
    for (int k = 0; k < AXES; k++) {
        if (before[k] > s->before[k])
            s->before[k] = before[k];
        if (after[k] > s->after[k])
            s->after[k] = after[k];
    }
}

static void reach_of_readers(Program *program) {
    const Graph *g = program->graph;
    for (int i = 0; i < g->nnode; i++)
        for (int k = 0; k < g->node[i].nin; k++) {
            int64_t before[AXES] = {0}, after[AXES] = {0};
            const ValueId *leaf;
            int n = value_leaves(g, &g->node[i].in[k], &leaf);
            if (n == 0)
                continue;
            op_table[g->node[i].op].reach(g, &g->node[i], k, before, after);
            for (int p = 0; p < n; p++)
                widen(&program->storage[leaf[p]], before, after);
        }
}

/* From the last node to the first, so that a chain of nodes in one place agrees after one pass. */
static void agree_in_place(Program *program) {
    const Graph *g = program->graph;
    for (int i = g->nnode - 1; i >= 0; i--) {
        const Node *node = &g->node[i];
        int k = op_table[node->op].in_place;
        if (k < 0 || node->nout == 0 || node->in[k] < 0 || g->value[node->in[k]].class == CLASS_STAGING)
            continue;
        Storage *in = &program->storage[node->in[k]], *out = &program->storage[node->out[0]];
        widen(in, out->before, out->after);
        widen(out, in->before, in->after);
    }
}

/* A loop over samples holds a few of each tensor; the loader brings whole batches, of which a target that
 * stages them takes what a turn works on. */
static int64_t samples_of(const Program *program, const Value *value, const Target *target) {
    if (!value->per_sample)
        return 1;
    return value->class == CLASS_STAGING && !target->stages ? program->batch : program->micro;
}

int64_t batch_bytes(const Program *program, ValueId input, const Target *target) {
    Storage s = program->storage[input];
    target->lay_out(&program->graph->value[input], program->batch, &s);
    return s.bytes;
}

void storage(Program *program, const Target *target) {
    const Graph *g = program->graph;
    for (program->nstorage = 0; program->nstorage < g->nvalue;)
        PUSH(g->pool, program->storage, program->nstorage, (Storage){0});
    reach_of_readers(program);
    agree_in_place(program);
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].nparts == 0)
            target->lay_out(&g->value[v], samples_of(program, &g->value[v], target), &program->storage[v]);
}
