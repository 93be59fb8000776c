/* prepare.c - has the target give each node what its kernel needs beside the operands: packed weights in
 * front of it, scratch behind its outputs, what brings its sums to where they belong.
 *
 * Requires: the complete graph, types, the micro-batch.
 * Provides: the graph in its final form but for loops and recomputation; Node.chosen.
 */
#include "passes/passes.h"

/* Walks the old list of nodes and appends each, with what it needs in front, to a new one. */
void prepare(Program *program) {
    const Target *target = program->target;
    Graph *g = program->graph;
    const Node *old = g->node;
    int n = g->nnode;
    g->node = NULL;
    g->nnode = 0;
    if (target->begin != NULL)
        target->begin(program, old, n);
    for (int i = 0; i < n; i++) {
        Node node = old[i];
        PrepareRule *rule = target->kernel[node.op].prepare;
        if (rule != NULL)
            rule(program, &node);
        const NodeId prepared = node_new(g, node, node.in, node.out);
        if (target->kernel[node.op].finish != NULL)
            target->kernel[node.op].finish(program, prepared);
    }
    pool_drop(g->pool, old);
}
