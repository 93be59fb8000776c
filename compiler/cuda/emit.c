/* emit.c - C and CUDA for a GPU.
 *
 *     NAME_kernels.cu   kernels and their launchers, in C++
 *     NAME_plan.h       where every buffer lies; the launchers as the host code sees them
 *     NAME.c            functions that list the launches of a program; the table of convolutions
 *     NAME.h, main.c, CMakeLists.txt
 *
 * Requires: a checked plan that its target does not refuse.  Provides: these files.
 */
#include "cuda/chain_text.h"
#include "cuda/convolution.h"
#include "emit/emit.h"
#include "ir/ops.h"

#include <string.h>

/* See UnetCudaPiece. */
typedef struct {
    const char *name; /* of its function */
    bool once, in_iteration, frees_inputs, ends_group, starts_ranks, sums_ranks;
    bool keeps_inputs; /* the next ones do not come yet */
} Piece;

/* A convolution of cuDNN; the index is what kernels know it by. */
typedef struct {
    const char *text; /* its initialiser */
    int streams;      /* of the plan: bit K is set where it runs in stream K */
} Convolution;

typedef struct {
    Emitter e;
    const char *at; /* the name of what steps are launched with */
    Convolution *convolution;
    int nconvolution;
    Piece *piece[PROGRAMS];
    int npiece[PROGRAMS];
    int nlabels[PROGRAMS]; /* sums over labels */
    bool inputs_come;      /* the next ones, while the piece runs that is being emitted */
    bool forks;            /* some steps are branches */
    ChainTexts chains;
} Cuda;

/* The part of a Cuda that belongs to one plan, and the text of its programs.  Plans share convolutions and
 * kernels, so all programs are there before the first table. */
typedef struct {
    Piece *piece[PROGRAMS];
    int npiece[PROGRAMS];
    bool forks;
    int *streams; /* of the convolutions so far: the plan has no others */
    int nstreams;
    Text programs;
} CudaPlan;

/* 0: the first stream, 1: the stream of branches. */
static int stream_of(const Step *step) {
    return step->streams ? step->branch - 1 : 0;
}

/* ---- convolutions ---- */

static const char *three(Pool *pool, const int64_t v[AXES]) {
    return pool_text(pool, "{%lld, %lld, %lld}", (long long)v[0], (long long)v[1], (long long)v[2]);
}

static const char *engine_text(Pool *pool, const UnetEngine *engine) {
    const char *knobs = "";
    for (int i = 0; i < engine->nknob; i++)
        knobs = pool_text(pool, "%s%s{%lld, %lld}", knobs, i > 0 ? ", " : "",
                          (long long)engine->knob[i].type, (long long)engine->knob[i].value);
    if (engine->nknob > 0)
        knobs = pool_text(pool, ".nknob = %d, .knob = {%s}, ", engine->nknob, knobs);
    return pool_text(pool, "{.version = %lld, .engine = %lld, %s.workspace = %lld}",
                     (long long)engine->version, (long long)engine->engine, knobs,
                     (long long)engine->workspace);
}

/* An initialiser, without the flags that are off. */
static const char *convolution_text(Pool *pool, const UnetConvolution *c) {
    static const char *const kind[] = {"UNET_FORWARD", "UNET_BACKWARD_DATA", "UNET_BACKWARD_FILTER"};
    const char *head =
        pool_text(pool, "{.kind = %s, .type = %s, .result_type = %s,%s%s%s%s%s", kind[c->kind],
                  type_constant((Type)c->type), type_constant((Type)c->result_type),
                  c->tf32 ? " .tf32 = true," : "", c->nondeterministic ? " .nondeterministic = true," : "",
                  c->accumulate ? " .accumulate = true," : "", c->bias ? " .bias = true," : "",
                  c->relu ? " .relu = true," : "");
    const char *sizes = pool_text(
        pool, ".axes = %d, .batch = %lld, .in_channels = %lld, .out_channels = %lld, .in = %s, .out = %s,",
        c->axes, (long long)c->batch, (long long)c->in_channels, (long long)c->out_channels,
        three(pool, c->in), three(pool, c->out));
    const char *window =
        pool_text(pool, ".kernel = %s, .stride = %s, .dilation = %s, .before = %s, .after = %s,",
                  three(pool, c->kernel), three(pool, c->stride), three(pool, c->dilation),
                  three(pool, c->before), three(pool, c->after));
    return pool_text(pool, "%s\n     %s\n     %s\n     .engine = %s}", head, sizes, window,
                     engine_text(pool, &c->engine));
}

/* In the stream of the step that is emitted. */
static int convolution_index(Cuda *cuda, const UnetConvolution *c) {
    const char *text = convolution_text(cuda->e.pool, c);
    int i = 0;
    while (i < cuda->nconvolution && strcmp(cuda->convolution[i].text, text) != 0)
        i++;
    if (i == cuda->nconvolution)
        PUSH(cuda->e.keeps, cuda->convolution, cuda->nconvolution,
             ((Convolution){pool_copy(cuda->e.keeps, text, strlen(text)), 0}));
    cuda->convolution[i].streams |= 1 << stream_of(cuda->e.step);
    return i;
}

/* ---- constants of kernels that only this target has ---- */

static void filter_constants(Constants *c, const Node *node) {
    Pool *pool = c->emitter->pool;
    Type stored = c->emitter->plan->options->stored;
    const CudaChosen *chosen = node->chosen;
    const CudaFilters f = chosen->filters;
    const char *list = "";
    for (int i = 0; i < f.nsegment; i++) {
        const CudaFilter *s = &f.segment[i];
        list = pool_text(pool, "%s%s{%lld, %lld, %lld, %lld, %lld, %lld, %lld}", list, i > 0 ? ", " : "",
                         (long long)s->k0, (long long)s->kn, (long long)s->kp, (long long)s->c0,
                         (long long)s->cn, (long long)s->cp, (long long)s->offset);
    }
    constant_definition(c, "FILTER", "Filter", f.nsegment, pool_text(pool, "{%s}", list));
    constant(c, "SEGMENTS", f.nsegment);
    constant(c, "K", f.k);
    constant(c, "C", f.c);
    constant(c, "TAPS", f.taps);
    constant(c, "BIAS_AT", f.elements);
    constant(c, "PBIAS", cuda_channels(f.k, stored));
    constant(c, "BANDS_AT", chosen->scratch.bands_at / 4);
}

static void convolution_constants(Cuda *cuda, Constants *c, const Node *node) {
    Pool *pool = cuda->e.pool;
    const CudaChosen *chosen = node->chosen;
    const char *list = "";
    for (int i = 0; i < chosen->count; i++)
        list = pool_text(pool, "%s%s%d", list, i > 0 ? ", " : "",
                         convolution_index(cuda, &chosen->convolution[i]));
    constant_definition(c, "GRAPH", "int", chosen->count, pool_text(pool, "{%s}", list));
    constant(c, "FINISHED", chosen->convolution[chosen->count - 1].bias);
    constant(c, "SUM_BANDS", node->a.conv.bands);
    constant(c, "WORKSPACE_AT", chosen->scratch.workspace_at);
}

static void parts_constants(Constants *c, const CudaChosen *chosen) {
    const CudaParts *parts = &chosen->parts;
    constant(c, "SLIDES", chosen->convolution[0].kind == UNET_FORWARD);
    constant(c, "ROWS", parts->rows);
    constant(c, "DENSE", parts->dense);
    constant(c, "SAMPLED", parts->sampled);
    constant(c, "DENSE_AT", parts->dense_at);
    constant(c, "SAMPLED_AT", parts->sampled_at);
}

/* Templates assert that they need no more. */
static int64_t scratch_bytes(const Program *program, const Node *node) {
    for (Touch t = node_touches(program->graph, node); touch_next(&t);)
        if (t.operand->access == ACCESS_SCRATCH)
            return program->layout[t.value].bytes;
    return 0;
}

static void target_constants(Cuda *cuda, Constants *c, const Node *node) {
    const CudaChosen *chosen = node->chosen;
    constant(c, "N", c->program->micro_batch);
    constant(c, "SCRATCH", scratch_bytes(c->program, node));
    if (chosen != NULL)
        filter_constants(c, node);
    if (chosen != NULL && chosen->count > 0) {
        convolution_constants(cuda, c, node);
        parts_constants(c, chosen);
    }
}

/* ---- steps ---- */

/* Beside its operands: what steps are told, and the next inputs, which may come meanwhile. */
static const char *spans_beside(const Cuda *cuda, const Program *program) {
    Pool *pool = cuda->e.pool;
    const Plan *plan = cuda->e.plan;
    const char *text = "";
    for (int b = 0; cuda->inputs_come && b < plan->nbuffer; b++)
        if (plan->buffer[b].program == (int)program->kind && plan->buffer[b].lifetime == LIFETIME_PROGRAM)
            text = pool_text(pool, "%s{%s, %lld, 0}, ", text, offset_name(&cuda->e, b),
                             (long long)plan->buffer[b].bytes);
    int control = program->buffer_of[program->control];
    return pool_text(pool, "%s{%s, %lld, 0}, ", text, offset_name(&cuda->e, control),
                     (long long)plan->buffer[control].bytes);
}

/* Does NODE begin to send gradients, which then goes on beside the steps? */
static bool starts_ranks(const Node *node) {
    return has_trait(node, TRAIT_OF_RANKS) && node->nout == 0;
}

/* The runtime does some nodes before and after the steps.  With --poison nothing else may touch the arena
 * meanwhile, so all gradients are sent in the end. */
static bool is_launched(const Program *program, const Node *node) {
    return !has_trait(node, TRAIT_OF_RUNTIME) && !(program->options->poison && starts_ranks(node));
}

static void emit_step(Cuda *cuda, const Program *program, int position, const Step *step) {
    Emitter *e = &cuda->e;
    const Node *node = &program->graph->node[step->node];
    if (!is_launched(program, node))
        return;
    emit_step_begin(e, step);
    const char *template = template_of(e, node);
    Constants c = constants_new(e, program, node, template);
    op_table[node->op].constants(&c, node);
    target_constants(cuda, &c, node);
    emit_step_comment(e, program, node, position);
    if (cuda->e.plan->options->poison && step->section == 0)
        emit_operands(e, "at",
                      pool_text(e->pool, "%s%s", operand_spans(e, program, node, position),
                                spans_beside(cuda, program)));
    text_line(e->out, "%s.step = %s;", cuda->at, c_quoted(e->pool, step_name(e, node)));
    emit_call(e, &c, instance_for(e, template, &c), cuda->at, "");
    emit_step_end(e);
}

/* The operands that the steps of a section may touch, all of them from its beginning on. */
static void emit_operands_together(Cuda *cuda, const Program *program, int position, const Step *step,
                                   int nstep) {
    Emitter *e = &cuda->e;
    const char *spans = "";
    for (int i = 0; i < nstep; i++)
        spans = pool_text(e->pool, "%s%s", spans,
                          operand_spans(e, program, &program->graph->node[step[i].node], position));
    if (e->plan->options->poison)
        emit_operands(e, "at", pool_text(e->pool, "%s%s", spans, spans_beside(cuda, program)));
}

/* STEP[0..COUNT), a chain, in one launch. */
static void emit_chain(Cuda *cuda, const Program *program, int position, const Step *step, int count) {
    Emitter *e = &cuda->e;
    const Graph *g = program->graph;
    emit_step_begin(e, step);
    Pool *pool = e->pool;
    Text operands = text_new(pool);
    text_add(&operands, " ");
    const char *rows = "", *name = step_name(e, &g->node[step->node]);
    const ValueId y = g->node[step->node].out[0];
    const int64_t columns = program->layout[y].block * type_bytes(g->value[y].type) / 16;
    Chain chain = {.columns = columns, .key = "", .parameters = "", .arguments = "", .calls = ""};
    for (int i = 0; i < count; i++) {
        const Node *node = &g->node[step[i].node];
        const char *template = template_of(e, node);
        Constants c = constants_new(e, program, node, template);
        op_table[node->op].constants(&c, node);
        target_constants(cuda, &c, node);
        emit_step_comment(e, program, node, position + i);
        chain_add(e, &chain, template, instance_for(e, template, &c));
        add_operands(e, &c, &operands);
        rows = rows_text(e, program, c.rows_of);
    }
    chain.grid = pool_text(pool, "%lld, {%lld, %lld, %lld, %lld}", (long long)program->micro_batch,
                           (long long)shape_extent(g->value[y].shape, 0),
                           (long long)shape_extent(g->value[y].shape, 1),
                           (long long)shape_extent(g->value[y].shape, 2), (long long)columns);
    if (step->section == 0)
        emit_operands_together(cuda, program, position, step, count);
    text_line(e->out, "%s.step = %s;", cuda->at,
              c_quoted(pool, pool_text(pool, "%s and %d more", name, count - 1)));
    text_wrapped(e->out, pool_text(pool, "%s(%s, %s,%s);", chain_function(e, &cuda->chains, &chain),
                                   cuda->at, rows, operands.bytes));
    emit_step_end(e);
}

/* A step, or all that is chained to it; returns how many steps these are. */
static int emit_one(Cuda *cuda, const Program *program, int position, const Step *step, int nstep) {
    const int count = chain_steps(step, nstep);
    if (count > 1)
        emit_chain(cuda, program, position, step, count);
    else
        emit_step(cuda, program, position, step);
    return count;
}

/* A section of steps that one launch does, the launch of the last step. */
static void emit_section(Cuda *cuda, const Program *program, int position, const Step *step, int nstep) {
    Emitter *e = &cuda->e;
    text_line(e->out, "/* %d to %d: one launch */", position, position + nstep - 1);
    emit_operands_together(cuda, program, position, step, nstep);
    text_line(e->out, "at.more = 1;");
    for (int i = 0; i < nstep; i++) {
        if (i == nstep - 1)
            text_line(e->out, "at.more = 0;");
        emit_step(cuda, program, position + i, &step[i]);
    }
}

/* A section of two branches, each in a stream of its own; the steps of the second stand in front. */
static void emit_branches(Cuda *cuda, const Program *program, int position, const Step *step, int nstep) {
    Text *out = cuda->e.out;
    int beside = 0;
    while (stream_of(&step[beside]) > 0)
        beside++;
    text_line(out, "/* %d to %d: two branches; the first begins with %d */", position, position + nstep - 1,
              position + beside);
    emit_operands_together(cuda, program, position, step, nstep);
    text_line(out, "{");
    out->depth++;
    cuda->forks = true;
    text_line(out, "UnetLaunch beside = unet_cuda_fork(at);");
    for (int i = 0; i < nstep;) {
        cuda->at = i < beside ? "beside" : "at";
        i += emit_one(cuda, program, position + i, &step[i], nstep - i);
    }
    text_line(out, "unet_cuda_join(at);");
    out->depth--;
    text_line(out, "}");
}

/* ---- pieces: each is launched as one graph ---- */

static bool launches(const Program *program, const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0 ? launches(program, step[i].body, step[i].nbody)
                             : is_launched(program, &program->graph->node[step[i].node]))
            return true;
    return false;
}

/* Returns the position behind the steps. */
static int emit_steps(Cuda *cuda, const Program *program, const Step *step, int nstep, int position) {
    for (int i = 0; i < nstep; i++) {
        const int together = section_steps(step + i, nstep - i);
        if (together > 0) {
            if (step[i].streams)
                emit_branches(cuda, program, position, step + i, together);
            else
                emit_section(cuda, program, position, step + i, together);
            position += together;
            i += together - 1;
            continue;
        }
        if (step[i].node >= 0) {
            const int count = emit_one(cuda, program, position, &step[i], nstep - i);
            position += count;
            i += count - 1;
            continue;
        }
        CHECK(step[i].axis == AXIS_BANDS); /* the runtime goes round loops over samples */
        emit_bands_begin(&cuda->e, program, &step[i], position);
        position = emit_steps(cuda, program, step[i].body, step[i].nbody, position + 1);
        emit_bands_end(&cuda->e);
    }
    return position;
}

/* STEP[0..NSTEP) as a function. */
static void emit_piece(Cuda *cuda, const Program *program, Piece piece, const Step *step, int nstep,
                       int position) {
    Text *out = cuda->e.out;
    if (!launches(program, step, nstep))
        return;
    text_blank(out);
    text_line(out, "static void %s(UnetLaunch at, char *arena) {", piece.name);
    out->depth++;
    cuda->inputs_come = program->prefetches && !piece.keeps_inputs;
    (void)emit_steps(cuda, program, step, nstep, position);
    out->depth--;
    text_line(out, "}");
    PUSH(cuda->e.pool, cuda->piece[program->kind], cuda->npiece[program->kind], piece);
}

static bool reads_inputs(const Program *program, const Step *step) {
    for (int i = 0; step->node < 0 && i < step->nbody; i++)
        if (reads_inputs(program, &step->body[i]))
            return true;
    return step->node >= 0 && reads_staging(program->graph, &program->graph->node[step->node]);
}

/* When a step of an iteration runs: always, behind the last samples of a group, behind the samples of all
 * groups, beside the steps then. */
typedef enum { OF_SAMPLES, OF_GROUP, OF_RANKS } When;

static When step_runs(const Program *program, const Step *step) {
    const Node *node = step->node < 0 ? NULL : &program->graph->node[step->node];
    return node == NULL         ? OF_SAMPLES
           : node->ends_group   ? OF_GROUP
           : starts_ranks(node) ? OF_RANKS
                                : OF_SAMPLES;
}

/* Behind the last step that reads inputs, and what one launch does with it; where the next inputs do not
 * come before the end, nowhere. */
static int behind_inputs(const Program *program, const Step *step, int nstep) {
    int last = program->prefetches ? nstep : 0;
    while (last > 0 && !reads_inputs(program, &step[last - 1]))
        last--;
    while (last > 0 && last < nstep &&
           (step[last].chained || (step[last].section > 0 && step[last].section == step[last - 1].section)))
        last++;
    return last;
}

/* The name of the piece of an iteration that runs then, behind COUNT others. */
static const char *piece_name(Pool *pool, const char *iteration, When when, int count) {
    static const char *const suffix[] = {"_rest", "_group", "_start"};
    const int number = when == OF_SAMPLES ? count : count + 1;
    return number == 0   ? iteration
           : number == 1 ? pool_text(pool, "%s%s", iteration, suffix[when])
                         : pool_text(pool, "%s%s_%d", iteration, suffix[when], number);
}

/* An iteration, cut where steps run at other times, and where the next inputs may come. */
static void emit_iteration(Cuda *cuda, const Program *program, const char *name, const Step *step,
                           int nstep, int position) {
    const int behind = behind_inputs(program, step, nstep);
    int pieces[] = {0, 0, 0};
    for (int begin = 0, end; begin < nstep; begin = end) {
        const When when = step_runs(program, &step[begin]);
        end = begin + 1;
        while (end < nstep && end != behind && step_runs(program, &step[end]) == when)
            end++;
        emit_piece(cuda, program,
                   (Piece){.name = piece_name(cuda->e.pool, name, when, pieces[when]++),
                           .in_iteration = true,
                           .keeps_inputs = end <= behind,
                           .frees_inputs = end == behind,
                           .ends_group = when == OF_GROUP,
                           .starts_ranks = when == OF_RANKS},
                   step + begin, end - begin, position);
        position += step_count(step + begin, end - begin);
    }
}

static bool sums_ranks(const Program *program, const Step *step) {
    return step->node >= 0 && has_trait(&program->graph->node[step->node], TRAIT_OF_RANKS);
}

/* The steps behind the loop; steps that send to other processes are a piece of their own. */
static void emit_after(Cuda *cuda, const Program *program, const char *name, const Step *step, int nstep,
                       int position) {
    static const char *const pieces[] = {"after", "ranks", "update", "gather", "end"};
    for (int piece = 0, begin = 0, count; begin < nstep; piece++, begin += count) {
        const bool exchanges = piece % 2 > 0;
        CHECK(piece < (int)(sizeof pieces / sizeof *pieces));
        count = exchanges;
        while (!exchanges && begin + count < nstep && !sums_ranks(program, &step[begin + count]))
            count++;
        emit_piece(
            cuda, program,
            (Piece){.name = pool_text(cuda->e.pool, "%s_%s", name, pieces[piece]), .sums_ranks = exchanges},
            step + begin, count, position);
        position += step_count(step + begin, count);
    }
}

static bool merges(const Program *program, const Step *step) {
    return step->node >= 0 && has_trait(&program->graph->node[step->node], TRAIT_MERGES);
}

static bool is_loop(const Step *step) {
    return step->node < 0 && step->axis == AXIS_SAMPLES;
}

/* Loops over samples, and between them what merges all samples, which goes to other processes.  Returns how
 * many of STEP[0..NSTEP) these are. */
static int emit_loops(Cuda *cuda, const Program *program, const char *name, const Step *step, int nstep,
                      int position) {
    Pool *pool = cuda->e.pool;
    int count = 0;
    for (int merged = 0; count < nstep && (is_loop(&step[count]) || merges(program, &step[count]));
         count++) {
        const char *number = merged == 0 ? "" : pool_text(pool, "%d", merged);
        if (is_loop(&step[count]))
            emit_iteration(cuda, program, pool_text(pool, "%s_iteration%s", name, number), step[count].body,
                           step[count].nbody, position + 1);
        else
            emit_piece(cuda, program,
                       (Piece){.name = pool_text(pool, "%s_merge%d", name, ++merged), .sums_ranks = true},
                       &step[count], 1, position);
        position += step_count(&step[count], 1);
    }
    return count;
}

static void emit_program(Cuda *cuda, const Program *program) {
    Text *out = cuda->e.out;
    Pool *pool = cuda->e.pool;
    const Step *step = program->step;
    const char *name = program->name;
    const int once = program->nonce;
    int loop = once;
    while (loop < program->nstep && !is_loop(&step[loop]))
        loop++;
    text_blank(out);
    text_line(out, "/* ---- %s: batch %lld, %s bytes of the arena ---- */", name, (long long)program->batch,
              grouped(pool, program->extent));
    emit_piece(cuda, program, (Piece){.name = pool_text(pool, "%s_prepare", name), .once = true}, step,
               once, 0);
    if (loop == program->nstep) {
        emit_iteration(cuda, program, name, step + once, loop - once, once);
        return;
    }
    const int before = step_count(step, loop);
    emit_piece(cuda, program, (Piece){.name = pool_text(pool, "%s_before", name)}, step + once, loop - once,
               once);
    const int behind = loop + emit_loops(cuda, program, name, &step[loop], program->nstep - loop, before);
    emit_after(cuda, program, name, &step[behind], program->nstep - behind, step_count(step, behind));
}

/* ---- tables ---- */

static const char *convolutions_text(const Cuda *cuda) {
    const char *text = "";
    for (int i = 0; i < cuda->nconvolution; i++)
        text = pool_text(cuda->e.pool, "%s    /* %d */\n    %s,\n", text, i, cuda->convolution[i].text);
    return text;
}

static void streams_table(const Cuda *cuda, Text *out) {
    enum { IN_A_LINE = 16 };
    text_line(out, "static const uint8_t streams[] = {");
    for (int i = 0; i < cuda->nconvolution; i += IN_A_LINE) {
        const char *line = "";
        for (int k = i; k < cuda->nconvolution && k < i + IN_A_LINE; k++)
            line = pool_text(cuda->e.pool, "%s%s%d,", line, k > i ? " " : "", cuda->convolution[k].streams);
        text_line(out, "    %s", line);
    }
    text_line(out, "};");
}

/* Are all samples of the process there? */
static bool holds(const Program *program, ValueId v) {
    return program->held != NULL && program->held[v];
}

static void staging_table(const Cuda *cuda, const Program *program, Text *out) {
    text_line(out, "static const UnetStaging %s_staging[] = {", program->name);
    for (int i = 0; i < program->model->ninput; i++) {
        const ValueId v = program->model->input[i].value;
        const int b = program->buffer_of[v];
        if (b < 0)
            text_line(out, "    {.offset = -1},");
        else
            text_line(out, "    {.offset = %s, .bytes = %lld%s},", offset_name(&cuda->e, b),
                      (long long)cuda->e.plan->buffer[b].bytes, holds(program, v) ? ", .held = true" : "");
    }
    text_line(out, "};");
}

static void piece_table(const Cuda *cuda, const Program *program, Text *out) {
    text_line(out, "static const UnetCudaPiece %s_piece[] = {", program->name);
    for (int i = 0; i < cuda->npiece[program->kind]; i++) {
        const Piece *piece = &cuda->piece[program->kind][i];
        text_line(out, "    {.launch = %s%s%s%s%s%s%s},", piece->name, piece->once ? ", .once = true" : "",
                  piece->in_iteration ? ", .in_iteration = true" : "",
                  piece->frees_inputs ? ", .frees_inputs = true" : "",
                  piece->ends_group ? ", .ends_group = true" : "",
                  piece->starts_ranks ? ", .starts_ranks = true" : "",
                  piece->sums_ranks ? ", .sums_ranks = true" : "");
    }
    text_line(out, "};");
}

/* Adam's. */
static void betas(const Program *program, Text *out) {
    const Optimizer *o = &program->model->train.optimizer;
    if (program->kind == PROGRAM_TRAIN && (o->kind == OPTIMIZER_ADAM || o->kind == OPTIMIZER_ADAMW))
        text_line(out, "        .beta = {%.17g, %.17g},", o->beta1, o->beta2);
}

static void results_table(Cuda *cuda, const Program *program, Text *out) {
    const Plan *plan = cuda->e.plan;
    for (int i = 0; i < program->model->nresult && program->results >= 0; i++) {
        const int b = program->buffer_of[program->model->result[i].value];
        CHECK(b < 0 || plan->buffer[b].slice == program->results);
    }
    if (program->results >= 0)
        text_line(out, "        .results = %s, .results_bytes = %lld,",
                  offset_name(&cuda->e, program->results), (long long)plan->buffer[program->results].bytes);
}

static void device_tables(Cuda *cuda, Text *out) {
    const Plan *plan = cuda->e.plan;
    for (int k = 0; k < PROGRAMS; k++) {
        if (plan->program[k].model == NULL)
            continue;
        staging_table(cuda, &plan->program[k], out);
        cuda->nlabels[k] = emit_label_counts(&plan->program[k], out);
        piece_table(cuda, &plan->program[k], out);
    }
    streams_table(cuda, out);
    text_line(out, "static const UnetCudaModel cuda_model = {");
    text_line(out, "    .table_bytes = UNET_CUDA_TABLE_BYTES,");
    text_line(out, "    .nconvolution = %d,", cuda->nconvolution);
    text_line(out, "    .convolution = convolution,");
    text_line(out, "    .streams = streams,");
    if (cuda->forks)
        text_line(out, "    .forks = true,");
    if (plan->options->shared)
        text_line(out, "    .arrays = {unet_array_to_tensor, unet_array_from_tensor},");
    for (int k = 0; k < PROGRAMS; k++) {
        const Program *program = &plan->program[k];
        if (program->model == NULL)
            continue;
        text_line(out, "    .%s = {.piece = %s_piece,", program->name, program->name);
        text_line(out, "        .npiece = %d,", cuda->npiece[k]);
        text_line(out, "        .iterations = %lld, .iteration_samples = %lld,",
                  (long long)iterations_of(program), (long long)program->micro_batch);
        if (program->group > 0)
            text_line(out, "        .group = %lld,", (long long)program->group);
        text_line(out, "        .control = %s,",
                  offset_name(&cuda->e, program->buffer_of[program->control]));
        betas(program, out);
        results_table(cuda, program, out);
        if (program->held != NULL)
            text_line(out, "        .holds = true,");
        text_line(out, "        .staging = %s_staging,", program->name);
        if (cuda->nlabels[k] > 0)
            text_line(out, "        .nlabels = %d, .labels = %s_labels,", cuda->nlabels[k], program->name);
        text_line(out, "        .prefetches = %s},", program->prefetches ? "true" : "false");
    }
    text_line(out, "};");
}

/* ---- the files ---- */

static const char *file_name(const Cuda *cuda, const char *suffix) {
    return pool_text(cuda->e.pool, "%s%s", cuda->e.plan->model->name, suffix);
}

/* The name of a file of the plan. */
static const char *plan_file(const Cuda *cuda, const char *suffix) {
    return pool_text(cuda->e.pool, "%s%s", plan_name(cuda->e.plan), suffix);
}

static void emit_host(Cuda *cuda, Sources *sources, const Text *programs) {
    const Plan *plan = cuda->e.plan;
    Text device = text_new(cuda->e.pool), tables = text_new(cuda->e.pool);
    device_tables(cuda, &device);
    emit_model(plan, &tables);
    const Hole hole[] = {{"bands", bands_text(plan)},
                         {"programs", programs->bytes},
                         {"convolutions", convolutions_text(cuda)},
                         {"device", device.bytes},
                         {"tables", tables.bytes},
                         {NULL, NULL}};
    emit_file(plan, sources, "program/calls_cuda.c.in", plan_file(cuda, ".c"), hole);
}

static void emit_plan_header(const Cuda *cuda, Sources *sources) {
    const Plan *plan = cuda->e.plan;
    Text offsets = text_new(cuda->e.pool), declarations = text_new(cuda->e.pool);
    emit_offsets(&cuda->e, &offsets);
    emit_declarations(&cuda->e, &declarations);
    text_add(&declarations, "%s",
             cuda->chains.declarations.bytes == NULL ? "" : cuda->chains.declarations.bytes);
    const Hole hole[] = {{"stored", plan->options->stored == TYPE_F32 ? "float" : "uint16_t"},
                         {"offsets", offsets.bytes},
                         {"declarations", declarations.bytes},
                         {NULL, NULL}};
    emit_file(plan, sources, "program/plan_cuda.h.in", plan_file(cuda, "_plan.h"), hole);
}

static void emit_kernels(const Cuda *cuda, Sources *sources) {
    static const char *const type[] = {
        [TYPE_F32] = "float", [TYPE_BF16] = "__nv_bfloat16", [TYPE_F16] = "__half"};
    const Plan *plan = cuda->e.plan;
    Text kernels = text_new(cuda->e.pool);
    const char *prologue = pool_text(
        cuda->e.pool, "%s%s%s", template_part(cuda->e.pool, "cuda/prologue.cuh"), shared_text(&cuda->e),
        plan->options->shared ? template_part(cuda->e.pool, "cuda/arrays.cuh") : "");
    emit_copies(&cuda->e, &kernels);
    text_add(&kernels, "%s", cuda->chains.kernels.bytes == NULL ? "" : cuda->chains.kernels.bytes);
    const Hole hole[] = {{"stored", type[plan->options->stored]},
                         {"prologue", prologue},
                         {"kernels", kernels.bytes},
                         {NULL, NULL}};
    emit_file(plan, sources, "program/kernels.cu.in", file_name(cuda, "_kernels.cu"), hole);
}

/* Emits the programs of a plan. */
static CudaPlan emit_plan(Cuda *cuda, const Plan *plan) {
    CudaPlan made = {.programs = text_new(plan->pool)};
    cuda->e.plan = plan;
    cuda->e.out = &made.programs;
    cuda->forks = false;
    for (int k = 0; k < PROGRAMS; k++) {
        cuda->piece[k] = NULL;
        cuda->npiece[k] = 0;
    }
    for (int i = 0; i < cuda->nconvolution; i++)
        cuda->convolution[i].streams = 0;
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            emit_program(cuda, &plan->program[k]);
    made.forks = cuda->forks;
    memcpy(made.piece, cuda->piece, sizeof made.piece);
    memcpy(made.npiece, cuda->npiece, sizeof made.npiece);
    for (int i = 0; i < cuda->nconvolution; i++)
        PUSH(plan->pool, made.streams, made.nstreams, cuda->convolution[i].streams);
    return made;
}

/* Emits the tables of a plan whose programs are there. */
static void emit_tables(Cuda *cuda, const Plan *plan, const CudaPlan *made, Sources *sources) {
    cuda->e.plan = plan;
    cuda->forks = made->forks;
    memcpy(cuda->piece, made->piece, sizeof made->piece);
    memcpy(cuda->npiece, made->npiece, sizeof made->npiece);
    for (int i = 0; i < cuda->nconvolution; i++)
        cuda->convolution[i].streams = i < made->nstreams ? made->streams[i] : 0;
    emit_host(cuda, sources, &made->programs);
    emit_plan_header(cuda, sources);
}

void emit_cuda(const Plan *plan, Sources *sources) {
    static const Dialect dialect = {"cuda", ".cu", NULL, "LAUNCHER void", FORM_COPIED, "at.held"};
    Cuda cuda = {.e = {.plan = plan, .dialect = &dialect, .pool = plan->pool, .keeps = plan->pool},
                 .at = "at",
                 .chains = {.kernels = text_new(plan->pool), .declarations = text_new(plan->pool)}};
    CudaPlan *made = NULL;
    int count = 0;
    for (const Plan *p = plan; p != NULL; p = p->smaller)
        PUSH(plan->pool, made, count, emit_plan(&cuda, p));
    for (const Plan *p = plan; p != NULL; p = p->smaller)
        emit_tables(&cuda, p, &made[p->place], sources);
    cuda.e.plan = plan;
    emit_main(plan, sources);
    emit_header(plan, sources, "program/model_cuda.h.in");
    emit_kernels(&cuda, sources);
    const char *architecture = plan->options->architecture;
    const Hole hole[] = {{"architecture", architecture == NULL ? "" : architecture + strlen("sm_")},
                         {NULL, NULL}};
    emit_file(plan, sources, "program/CMakeLists_cuda.txt.in", "CMakeLists.txt", hole);
}
