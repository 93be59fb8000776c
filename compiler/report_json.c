/* report_json.c - the plan as JSON, schema unetc-plan/1, and as the CSV that packing tools read. */
#include "cudnn.h"
#include "ops.h"
#include "report.h"

static const char *lifetime_text(Lifetime l) {
    static const char *const text[] = {"persistent", "program", "step"};
    return text[l];
}

static void buffer_json(const Plan *plan, int id, Text *out) {
    const Buffer *b = &plan->buffer[id];
    text_add(out, "    {\"id\": %d, \"name\": %s, \"class\": \"%s\", \"lifetime\": \"%s\", \"line\": %d, ",
             id, quoted(plan->pool, b->name), class_text(b->class), lifetime_text(b->lifetime),
             b->place.line);
    text_add(out, "\"dtype\": \"%s\", \"shape\": [", type_text(b->type));
    if (b->batch > 0)
        text_add(out, "%lld, ", (long long)b->batch);
    for (int k = 0; k < b->shape.rank; k++)
        text_add(out, "%s%lld", k > 0 ? ", " : "", (long long)b->shape.dim[k]);
    text_add(out, "], \"bytes\": %lld, \"offset\": %lld, \"alias\": ", (long long)b->bytes,
             (long long)b->offset);
    if (b->same >= 0)
        text_add(out, "{\"same\": %d}}", b->same);
    else if (b->slice >= 0)
        text_add(out, "{\"slice\": %d}}", b->slice);
    else
        text_add(out, "null}");
}

static void add_ids(const Program *program, const ValueId *v, int n, bool *first, Text *out) {
    for (int k = 0; k < n; k++) {
        const ValueId *leaf;
        int leaves = value_leaves(program->graph, &v[k], &leaf);
        for (int p = 0; p < leaves; p++) {
            if (program->buffer_of[leaf[p]] < 0)
                continue;
            text_add(out, "%s%d", *first ? "" : ", ", program->buffer_of[leaf[p]]);
            *first = false;
        }
    }
}

/* An optimiser works in place on all its operands but the gradients (input 1) and the last, the scale of
 * the loss; what judges the gradients changes that scale (input 0). Sums that a loop adds to are read
 * before they are written. */
static void operands_json(const Program *program, const Node *node, Text *out) {
    bool first = true, update = node->op == OP_SGD || node->op == OP_ADAM;
    int in_place = node->op == OP_LOSS_SCALE ? 1 : update ? node->nin - 1 : 0;
    text_add(out, "\"reads\": [");
    add_ids(program, node->in, node->nin, &first, out);
    for (int k = 0; k < node->nout; k++)
        if (node_adds_to(program->graph, node, k))
            add_ids(program, &node->out[k], 1, &first, out);
    text_add(out, "], \"writes\": [");
    first = true;
    for (int k = 0; k < in_place; k++)
        if (k != 1)
            add_ids(program, &node->in[k], 1, &first, out);
    add_ids(program, node->out, node->nout, &first, out);
    text_add(out, "]");
}

static void steps_json(const Plan *plan, const Program *program, const Step *step, int nstep, int depth,
                       Text *out) {
    for (int i = 0; i < nstep; i++) {
        text_add(out, "%s\n%*s", i > 0 ? "," : "", depth, "");
        if (step[i].node < 0) {
            text_add(out, "{\"loop\": \"%s\", \"times\": %lld, \"body\": [", step[i].loop,
                     (long long)step[i].times);
            steps_json(plan, program, step[i].body, step[i].nbody, depth + 2, out);
            text_add(out, "]}");
            continue;
        }
        const Node *node = &program->graph->node[step[i].node];
        text_add(out, "{\"op\": \"%s\", \"name\": %s, \"line\": %d, ", op_table[node->op].name,
                 quoted(plan->pool, node->name), node_line(node).line);
        operands_json(program, node, out);
        text_add(out, ", \"recompute\": %s, \"flops\": %lld}", step[i].recompute ? "true" : "false",
                 (long long)node_flops(program, node));
    }
}

static void head_json(const Plan *plan, Text *out) {
    const int64_t budget = plan->options->budget;
    const Program *first = plan->program;
    while (first->model == NULL)
        first++;
    text_add(out, "{\n  \"schema\": \"unetc-plan/1\", \"model\": %s, \"source\": %s, \"target\": \"%s\",\n",
             quoted(plan->pool, plan->model->name), quoted(plan->pool, plan->model->source),
             plan->target->name);
    text_add(out, "  \"batch\": %lld, \"micro_batches\": %lld, \"precision\": \"%s\",\n",
             (long long)first->batch, (long long)((first->batch + first->micro - 1) / first->micro),
             precision_text(plan->options));
    text_add(out,
             "  \"arena\": {\"bytes\": %lld, \"align\": %lld, \"lower_bound\": %lld, \"budget\": %s, "
             "\"fits\": %s,\n",
             (long long)plan->arena, (long long)plan->target->align, (long long)plan->lower_bound,
             budget > 0 ? pool_text(plan->pool, "%lld", (long long)budget) : "null",
             budget == 0 || plan->arena <= budget ? "true" : "false");
    text_add(out, "            \"extent\": {\"train\": %lld, \"eval\": %lld, \"predict\": %lld}},\n",
             (long long)plan->program[PROGRAM_TRAIN].extent, (long long)plan->program[PROGRAM_EVAL].extent,
             (long long)plan->program[PROGRAM_PREDICT].extent);
    if (plan->options->cudnn != NULL && cudnn_device(plan->options->cudnn) != NULL)
        text_add(out, "  \"device\": %s,\n", cudnn_device(plan->options->cudnn));
    text_add(out, "  \"beside\": {\"loader_ring\": %lld, \"context_estimate\": %lld},\n",
             (long long)plan->loader_ring, (long long)plan->target->context);
    text_add(out,
             "  \"cost\": {\"flops\": %lld, \"recompute_flops\": %lld, \"recompute_lower_bound_flops\": "
             "%lld},\n",
             (long long)plan->flops, (long long)plan->recompute_flops,
             (long long)plan->recompute_flops_bound);
}

void report_json(const Plan *plan, Text *out) {
    static const char *const name[PROGRAMS] = {"train", "eval", "predict"};
    head_json(plan, out);
    text_add(out, "  \"buffers\": [");
    for (int b = 0; b < plan->nbuffer; b++) {
        text_add(out, "%s\n", b > 0 ? "," : "");
        buffer_json(plan, b, out);
    }
    text_add(out, "\n  ],\n  \"programs\": {");
    for (int k = 0; k < PROGRAMS; k++) {
        text_add(out, "%s\n    \"%s\": [", k > 0 ? "," : "", name[k]);
        if (plan->program[k].model != NULL)
            steps_json(plan, &plan->program[k], plan->program[k].step, plan->program[k].nstep, 6, out);
        text_add(out, "]");
    }
    text_add(out, "\n  }\n}\n");
}

void report_csv(const Plan *plan, Text *out) {
    const Program *program = largest_program(plan);
    int steps = step_count(program->step, program->nstep);
    text_line(out, "id,lower,upper,size,offset");
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        bool persistent = b->program < 0;
        if (b->same >= 0 || b->slice >= 0 || (!persistent && b->program != (int)program->kind))
            continue;
        text_line(out, "%d,%d,%d,%lld,%lld", i, persistent ? 0 : b->first, persistent ? steps : b->last + 1,
                  (long long)b->bytes, (long long)b->offset);
    }
}
