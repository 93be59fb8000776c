/* json.c - the plan as JSON, schema unetc-plan/1, and as the CSV that packing tools read. */
#include "ir/target.h"
#include "ir/ops.h"
#include "report/report.h"

static const char *lifetime_text(Lifetime l) {
    static const char *const text[] = {"persistent", "program", "step", "step"};
    return text[l];
}

static void buffer_json(const Plan *plan, int id, Text *out) {
    const Buffer *b = &plan->buffer[id];
    text_add(
        out, "    {\"id\": %d, \"name\": %s, \"class\": \"%s\", \"lifetime\": \"%s\", \"line\": %d, ", id,
        quoted(plan->pool, b->name),
        class_text(b->lifetime == LIFETIME_LOADED ? CLASS_STAGING : b->class), /* loaded, then packed */
        lifetime_text(b->lifetime), b->span.line);
    text_add(out, "\"dtype\": \"%s\", \"shape\": [", type_text(b->type));
    if (b->batch > 0)
        text_add(out, "%lld, ", (long long)b->batch);
    for (int k = 0; k < b->shape.rank; k++)
        text_add(out, "%s%lld", k > 0 ? ", " : "", (long long)b->shape.dim[k]);
    text_add(out, "], \"space\": \"%s\", \"bytes\": %lld, \"offset\": %lld, \"alias\": ",
             b->space == SPACE_HOST ? "host" : "device", (long long)b->bytes, (long long)b->offset);
    if (b->same >= 0)
        text_add(out, "{\"same\": %d}}", b->same);
    else if (b->slice >= 0)
        text_add(out, "{\"slice\": %d}}", b->slice);
    else if (b->ring > 0)
        text_add(out, "{\"ring\": %lld}}", (long long)b->ring);
    else
        text_add(out, "null}");
}

/* Writes the buffers that NODE reads, or the buffers that it writes. */
static void ids_json(const Program *program, const Node *node, bool writes, Text *out) {
    const char *comma = "";
    for (Touch t = node_touches(program->graph, node); touch_next(&t);) {
        const int id = program->buffer_of[t.value];
        if (id < 0 || (writes ? !t.writes : !t.reads))
            continue;
        text_add(out, "%s%d", comma, id);
        comma = ", ";
    }
}

/* The rows of an image that a step touches for the rows OUT of its output, which may lie outside of it. */
static RowRange touched_rows(const Program *program, const Step *step, const Touch *t, RowRange out) {
    const Graph *g = program->graph;
    const Node *node = &g->node[step->node];
    return t->is_output ? out : op_table[node->op].rows(g, node, t->number, 1, out);
}

/* In iteration N, as if the output had no ends. */
static RowRange rows_without_ends(const Program *program, const Step *step, const Touch *t, int64_t n) {
    const int64_t begin = n * step->rows - step->lag;
    return touched_rows(program, step, t, (RowRange){begin, begin + step->rows});
}

/* In iteration N; of an output without rows there are none. */
static RowRange rows_in(const Program *program, const Step *step, const Touch *t, int64_t n) {
    const RowRange made = step_rows(step, step_height(program, step, 0), n);
    return made.begin < made.end ? touched_rows(program, step, t, made) : (RowRange){0, 0};
}

static bool same_rows(RowRange a, RowRange b, int64_t height) {
    const int64_t begin[] = {a.begin > 0 ? a.begin : 0, b.begin > 0 ? b.begin : 0};
    const int64_t end[] = {a.end < height ? a.end : height, b.end < height ? b.end : height};
    return (begin[0] >= end[0] && begin[1] >= end[1]) || (begin[0] == begin[1] && end[0] == end[1]);
}

/* The first of TIMES iterations, and by how many rows one is behind the other; if that does not tell all,
 * each of them.  A step that writes rows says by these when it is idle. */
static void touched_json(const Program *program, const Step *step, const Touch *t, int64_t times,
                         Text *out) {
    const int64_t height = shape_rows(program->graph->value[t->value].shape);
    const RowRange first = rows_without_ends(program, step, t, 0);
    const int64_t move = rows_without_ends(program, step, t, 1).begin - first.begin;
    const bool idles = !sums_rows(program->graph, &program->graph->node[step->node]) && !t->is_output;
    bool even = true;
    for (int64_t n = 0; even && n < times; n++) {
        const RowRange rows = rows_in(program, step, t, n);
        even = (idles && rows.begin == rows.end) ||
               same_rows(rows, (RowRange){first.begin + n * move, first.end + n * move}, height);
    }
    if (even) {
        text_add(out, "[%lld, %lld, %lld]", (long long)first.begin, (long long)first.end, (long long)move);
        return;
    }
    for (int64_t n = 0; n < times; n++) {
        const RowRange rows = rows_in(program, step, t, n);
        text_add(out, "%s[%lld, %lld]", n == 0 ? "[" : ", ", (long long)rows.begin, (long long)rows.end);
    }
    text_add(out, "]");
}

/* The rows of each image that a step in a loop over bands touches. Other operands are read whole, or are
 * sums over rows. */
static void rows_json(const Program *program, const Step *step, Text *out) {
    const Graph *g = program->graph;
    const int64_t times = iterations(step_height(program, step, 0) + step->lag, step->rows);
    const char *comma = "";
    text_add(out, "\"rows\": {");
    for (Touch t = node_touches(g, &g->node[step->node]); touch_next(&t);) {
        const int id = program->buffer_of[t.value];
        if (id < 0 || !g->value[t.value].per_sample || g->value[t.value].shape.rank != AXES)
            continue;
        text_add(out, "%s\"%d\": ", comma, id);
        touched_json(program, step, &t, times, out);
        comma = ", ";
    }
    text_add(out, "}, ");
}

/* The buffer that NODE writes and the one it reads whose place that may take, by the operator's row;
 * nothing if there are no such. */
static void in_place_json(const Program *program, const Node *node, Text *out) {
    const int k = node->nout > 0 ? program->graph->operands[node->op].out[0].in_place : -1;
    const int in = k < 0 || k >= node->nin || node->in[k] < 0 ? -1 : program->buffer_of[node->in[k]];
    if (in >= 0 && program->buffer_of[node->out[0]] >= 0)
        text_add(out, "\"in_place\": [%d, %d], ", program->buffer_of[node->out[0]], in);
}

/* Writes the kernel of NODE and, if the target knows, its nanoseconds for one micro-batch. */
static void kernel_json(const Program *program, const Node *node, Text *out) {
    text_add(out, "\"kernel\": \"%s\", ", kernel_name(program->target, node));
    if (program->target->picoseconds != NULL && !has_trait(node, TRAIT_OF_RUNTIME))
        text_add(out, "\"ns\": %lld, ", (long long)program->target->picoseconds(program, node) / 1000);
    const char *engines = program->target->engines_json == NULL
                              ? NULL
                              : program->target->engines_json(program->graph->pool, node);
    if (engines != NULL)
        text_add(out, "\"engines\": %s, ", engines);
}

/* Writes the bytes, in the region of gradients, that a step begins to send. */
static void bucket_json(const Program *program, const Node *node, Text *out) {
    const int b = node->nin > 0 && node->nout == 0 ? bucket_number(program, node->in[0]) : -1;
    if (b < 0)
        return;
    const Bucket *bucket = &program->bucket[b];
    const int64_t number = type_bytes(program->graph->value[bucket->gradients].type);
    const long long first = bucket->first * number, bytes = bucket->numbers * number;
    text_add(out, "\"bucket\": {\"first\": %lld, \"bytes\": %lld}, ", first, bytes);
}

enum { STEP_DEPTH = 6 }; /* indentation of steps that are in no loop */

static void steps_json(const Plan *plan, const Program *program, const Step *step, int nstep, int depth,
                       Text *out) {
    for (int i = 0; i < nstep; i++) {
        text_add(out, "%s\n%*s", i > 0 ? "," : "", depth, "");
        if (step[i].node < 0) {
            text_add(out, "{\"loop\": \"%s\", \"times\": %lld, %s\"body\": [", loop_text(step[i].axis),
                     (long long)step[i].times, program->units > 0 ? "\"any_height\": true, " : "");
            steps_json(plan, program, step[i].body, step[i].nbody, depth + 2, out);
            text_add(out, "]}");
            continue;
        }
        const Node *node = &program->graph->node[step[i].node];
        text_add(out, "{\"op\": \"%s\", \"name\": %s, \"line\": %d, ", node_operator(plan->pool, node),
                 quoted(plan->pool, node->name), node_line(node).line);
        text_add(out, "\"reads\": [");
        ids_json(program, node, false, out);
        text_add(out, "], \"writes\": [");
        ids_json(program, node, true, out);
        text_add(out, "], ");
        in_place_json(program, node, out);
        kernel_json(program, node, out);
        if (step[i].rows > 0)
            rows_json(program, &step[i], out);
        if (step[i].section > 0)
            text_add(out, "\"section\": [%d, %d], ", step[i].section, step[i].branch);
        bucket_json(program, node, out);
        if (step[i].chained)
            text_add(out, "\"chained\": true, ");
        if (step[i].streams)
            text_add(out, "\"stream\": %d, ", step[i].branch);
        if (depth == STEP_DEPTH && i < program->nonce)
            text_add(out, "\"once\": true, ");
        text_add(out, "\"recompute\": %s, \"flops\": %lld}", step[i].recompute ? "true" : "false",
                 (long long)node_flops(program, node));
    }
}

/* The file of --engines, and for how many of the convolutions it has one. */
static void engines_json(const Plan *plan, Text *out) {
    const Options *options = plan->options;
    int all = 0;
    if (options->engines == NULL)
        return;
    const int found = plan->target->measured(plan, &all);
    text_add(out,
             "  \"engines\": {\"file\": %s, \"measured_on\": %s, \"found\": %d, \"convolutions\": %d},\n",
             quoted(plan->pool, options->engines),
             quoted(plan->pool, plan->target->measured_on(plan->pool, options->device)), found, all);
}

static void head_json(const Plan *plan, Text *out) {
    const int64_t budget = plan->budget;
    const Program *first = program_of(plan, 0);
    const char *device =
        plan->target->device_json == NULL ? NULL : plan->target->device_json(plan->options->device);
    text_add(out, "{\n  \"schema\": \"unetc-plan/1\", \"model\": %s, \"source\": %s, \"target\": \"%s\",\n",
             quoted(plan->pool, plan->model->name), quoted(plan->pool, plan->model->source),
             plan->target->name);
    text_add(out, "  \"batch\": %lld, \"micro_batches\": %lld, \"precision\": \"%s\",\n",
             (long long)first->batch, (long long)iterations_of(first), precision_text(plan->options));
    text_add(
        out,
        "  \"arena\": {\"bytes\": %lld, \"align\": %lld, \"lower_bound\": %lld, \"without_reuse\": %lld, "
        "\"budget\": %s, \"fits\": %s,\n",
        (long long)plan->arena, (long long)plan->target->align, (long long)plan->lower_bound,
        (long long)bytes_without_reuse(plan),
        budget > 0 ? pool_text(plan->pool, "%lld", (long long)budget) : "null",
        plan_fits(plan) ? "true" : "false");
    text_add(out, "            \"extent\": {\"train\": %lld, \"eval\": %lld, \"predict\": %lld}},\n",
             (long long)plan->program[PROGRAM_TRAIN].extent, (long long)plan->program[PROGRAM_EVAL].extent,
             (long long)plan->program[PROGRAM_PREDICT].extent);
    if (device != NULL)
        text_add(out, "  \"device\": %s,\n", device);
    engines_json(plan, out);
    text_add(out,
             "  \"beside\": {\"loader_ring\": %lld, \"context_estimate\": %lld, \"tensorboard\": %lld, "
             "\"exchange\": %lld},\n",
             (long long)plan->loader_ring, (long long)plan->target->context, (long long)picture_bytes(plan),
             (long long)exchange_bytes(plan));
    text_add(out,
             "  \"cost\": {\"flops\": %lld, \"recompute_flops\": %lld, \"recompute_lower_bound_flops\": "
             "%lld, \"units\": %lld},\n",
             (long long)plan->flops, (long long)plan->recompute_flops,
             (long long)plan->recompute_flops_bound, (long long)plan->cost);
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
            steps_json(plan, &plan->program[k], plan->program[k].step, plan->program[k].nstep, STEP_DEPTH,
                       out);
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
        if (b->space != SPACE_DEVICE || b->same >= 0 || b->slice >= 0 ||
            (!persistent && b->program != (int)program->kind))
            continue;
        text_line(out, "%d,%d,%d,%lld,%lld", i, persistent ? 0 : b->first, persistent ? steps : b->last + 1,
                  (long long)b->bytes, (long long)b->offset);
    }
}
