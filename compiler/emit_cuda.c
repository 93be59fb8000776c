/* emit_cuda.c - C and CUDA for a GPU.
 *
 *     NAME_kernels.cu   kernels and their launchers, in C++
 *     NAME_plan.h       where every buffer lies; the launchers as the host code sees them
 *     NAME.c            functions that list the launches of a program; the table of convolutions
 *     NAME.h, main.c, CMakeLists.txt
 *
 * Requires: a checked plan.  Provides: these files, or an end with a message where a tensor is too large
 * for 32 bits.
 */
#include "cuda_convolution.h"
#include "emitter.h"
#include "ops.h"

#include <string.h>

/* See UnetCudaPiece. */
typedef struct {
    const char *name; /* of its function */
    bool in_turn, frees_inputs;
} Piece;

typedef struct {
    Emitter e;
    const char **convolution; /* initialisers; the index is what kernels know it by */
    int nconvolution;
    Piece *piece[PROGRAMS];
    int npiece[PROGRAMS];
    bool inputs_come; /* the next ones, while the piece runs that is being emitted */
} Cuda;

static bool is_convolution(Op op) {
    PrepareRule *rule = op_table[op].cuda;
    return rule == cuda_conv || rule == cuda_dgrad || rule == cuda_wgrad;
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
    static const char *const type[] = {"UNET_F32", "UNET_F64",  "UNET_U8", "UNET_U16",
                                       "UNET_I32", "UNET_BF16", "UNET_F16"};
    const char *head =
        pool_text(pool, "{.kind = %s, .type = %s, .result_type = %s,%s%s%s%s%s", kind[c->kind],
                  type[c->type], type[c->result_type], c->tf32 ? " .tf32 = true," : "",
                  c->nondeterministic ? " .nondeterministic = true," : "",
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

static int convolution_index(Cuda *cuda, const UnetConvolution *c) {
    const char *text = convolution_text(cuda->e.pool, c);
    for (int i = 0; i < cuda->nconvolution; i++)
        if (strcmp(cuda->convolution[i], text) == 0)
            return i;
    PUSH(cuda->e.pool, cuda->convolution, cuda->nconvolution, text);
    return cuda->nconvolution - 1;
}

/* ---- constants of kernels that only this target has ---- */

static void filter_constants(Constants *c, const Node *node) {
    Pool *pool = c->emitter->pool;
    const Graph *g = c->program->graph;
    Type stored = c->emitter->plan->options->stored;
    const CudaFilters f = cuda_filters(g, node, stored);
    const char *list = "";
    for (int i = 0; i < f.nsegment; i++) {
        const CudaFilter *s = &f.segment[i];
        list = pool_text(pool, "%s%s{%lld, %lld, %lld, %lld, %lld, %lld, %lld}", list, i > 0 ? ", " : "",
                         (long long)s->k0, (long long)s->kn, (long long)s->kp, (long long)s->c0,
                         (long long)s->cn, (long long)s->cp, (long long)s->offset);
    }
    constant_definition(c, "FILTER", "Filter", pool_text(pool, "[%d]", f.nsegment),
                        pool_text(pool, "{%s}", list));
    constant(c, "SEGMENTS", f.nsegment);
    constant(c, "K", f.k);
    constant(c, "C", f.c);
    constant(c, "TAPS", f.taps);
    constant(c, "BIAS_AT", f.elements);
    constant(c, "PBIAS", cuda_channels(f.k, stored));
}

static void convolution_constants(Cuda *cuda, Constants *c, const Node *node) {
    Pool *pool = cuda->e.pool;
    const Graph *g = c->program->graph;
    const PlanOptions *options = cuda->e.plan->options;
    const char *list = "";
    int count;
    const UnetConvolution *convolution = cuda_convolutions(g, node, c->program->micro, options, &count);
    for (int i = 0; i < count; i++)
        list = pool_text(pool, "%s%s%d", list, i > 0 ? ", " : "", convolution_index(cuda, &convolution[i]));
    constant_definition(c, "GRAPH", "int", pool_text(pool, "[%d]", count), pool_text(pool, "{%s}", list));
    if (op_table[node->op].cuda != cuda_wgrad)
        return;
    CudaScratch scratch = cuda_wgrad_scratch(g, node, c->program->micro, options);
    constant(c, "BANDS_AT", scratch.bands_at / 4);
    constant(c, "WORKSPACE_AT", scratch.workspace_at);
}

static void target_constants(Cuda *cuda, Constants *c, const Node *node) {
    constant(c, "N", c->program->micro);
    if (is_convolution(node->op) || node->op == OP_FILTER_PACK)
        filter_constants(c, node);
    if (is_convolution(node->op))
        convolution_constants(cuda, c, node);
}

/* ---- steps ---- */

/* Gradients of parameters are swept as one region: what lies between two of them is zero. */
static void emit_zero_padding(Cuda *cuda, const Program *program, const Node *node) {
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        if (v < 0 || program->graph->value[v].class != CLASS_PARAMETER_GRADIENT)
            continue;
        const Value *value = &program->graph->value[v];
        int64_t used = shape_elements(value->shape) * type_bytes(value->type);
        int64_t stored = program->storage[v].bytes;
        if (used != stored)
            text_line(cuda->e.out, "zero_tail(at, %s, %lld, %lld);", pointer_text(&cuda->e, program, v),
                      (long long)used, (long long)stored);
    }
}

/* In a checking build a step may touch its operands, as long as the plan lets them live, and nothing else;
 * and beside it the next inputs may come. */
static void emit_operands(Cuda *cuda, const Program *program, const Node *node, int position) {
    Text spans = text_new(cuda->e.pool);
    CHECK(cuda->e.plan->buffer != NULL);
    for (int k = 0; k < node->nin + node->nout; k++) {
        const ValueId *operand = k < node->nin ? &node->in[k] : &node->out[k - node->nin], *leaf;
        int n = value_leaves(program->graph, operand, &leaf);
        for (int p = 0; p < n; p++) {
            int id = program->buffer_of[leaf[p]];
            const Buffer *b = id < 0 ? NULL : &cuda->e.plan->buffer[id];
            if (b != NULL && (b->program < 0 || (b->first <= position && position <= b->last)))
                text_add(&spans, "{%s, %lld, %d}, ", offset_name(&cuda->e, id), (long long)b->bytes,
                         b->program >= 0 && b->first == position && b->same < 0);
        }
    }
    for (int b = 0; cuda->inputs_come && b < cuda->e.plan->nbuffer; b++)
        if (cuda->e.plan->buffer[b].program == (int)program->kind &&
            cuda->e.plan->buffer[b].lifetime == LIFETIME_PROGRAM)
            text_add(&spans, "{%s, %lld, 0}, ", offset_name(&cuda->e, b),
                     (long long)cuda->e.plan->buffer[b].bytes);
    int control = program->buffer_of[program->control];
    text_wrapped(cuda->e.out,
                 pool_text(cuda->e.pool, "OPERANDS(at, %s{%s, %lld, 0}, {0, 0, 0});", spans.bytes,
                           offset_name(&cuda->e, control), (long long)cuda->e.plan->buffer[control].bytes));
}

/* What the runtime does before and after the steps. */
static bool is_of_runtime(const Node *node) {
    return node->op == OP_RETURN || node->op == OP_LOAD;
}

static void emit_step(Cuda *cuda, const Program *program, int position, const Step *step) {
    Emitter *e = &cuda->e;
    const Node *node = &program->graph->node[step->node];
    if (is_of_runtime(node))
        return;
    const char *template = op_table[node->op].name;
    Constants c = constants_new(e, program, node, template);
    op_table[node->op].sizes(&c, node);
    target_constants(cuda, &c, node);
    emit_step_comment(e, program, node, position);
    if (cuda->e.plan->options->poison)
        emit_operands(cuda, program, node, position);
    text_line(e->out, "at.step = \"%s\";", step_name(e, node));
    emit_zero_padding(cuda, program, node);
    text_wrapped(e->out, pool_text(e->pool, "%s(%s);", instance_for(e, template, &c)->name,
                                   call_text(e, &c, "at", "")));
}

/* ---- pieces: what is launched as one graph ---- */

static bool launches(const Program *program, const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++)
        if (!is_of_runtime(&program->graph->node[step[i].node]))
            return true;
    return false;
}

/* STEP[0..NSTEP), of which none is a loop, as a function. */
static void emit_piece(Cuda *cuda, const Program *program, Piece piece, const Step *step, int nstep,
                       int position) {
    Text *out = cuda->e.out;
    if (!launches(program, step, nstep))
        return;
    text_blank(out);
    text_line(out, "static void %s(UnetLaunch at, char *arena) {", piece.name);
    out->depth++;
    cuda->inputs_come = program->prefetches && !piece.frees_inputs;
    for (int i = 0; i < nstep; i++)
        emit_step(cuda, program, position + i, &step[i]);
    out->depth--;
    text_line(out, "}");
    PUSH(cuda->e.pool, cuda->piece[program->kind], cuda->npiece[program->kind], piece);
}

/* A turn, cut behind the last reader of inputs where the next ones may come then. */
static void emit_turn(Cuda *cuda, const Program *program, const char *name, const Step *step, int nstep,
                      int position) {
    int last = nstep;
    while (program->prefetches && last > 0 &&
           !reads_staging(program->graph, &program->graph->node[step[last - 1].node]))
        last--;
    emit_piece(cuda, program, (Piece){.name = name, .in_turn = true, .frees_inputs = program->prefetches},
               step, last, position);
    emit_piece(cuda, program, (Piece){.name = pool_text(cuda->e.pool, "%s_rest", name), .in_turn = true},
               step + last, nstep - last, position + last);
}

static void emit_program(Cuda *cuda, const Program *program) {
    Text *out = cuda->e.out;
    Pool *pool = cuda->e.pool;
    const Step *step = program->step;
    const char *name = program->name;
    int loop = 0;
    while (loop < program->nstep && step[loop].node >= 0)
        loop++;
    text_blank(out);
    text_line(out, "/* ---- %s: batch %lld, %s bytes of the arena ---- */", name, (long long)program->batch,
              grouped(pool, program->extent));
    if (loop == program->nstep) {
        emit_turn(cuda, program, name, step, program->nstep, 0);
        return;
    }
    const int behind = loop + 1 + step[loop].nbody;
    emit_piece(cuda, program, (Piece){.name = pool_text(pool, "%s_before", name)}, step, loop, 0);
    emit_turn(cuda, program, pool_text(pool, "%s_turn", name), step[loop].body, step[loop].nbody, loop + 1);
    emit_piece(cuda, program, (Piece){.name = pool_text(pool, "%s_after", name)}, &step[loop + 1],
               program->nstep - loop - 1, behind);
}

/* ---- the files ---- */

static void emit_kernels(Cuda *cuda, Text *out) {
    static const char *const type[] = {
        [TYPE_F32] = "float", [TYPE_BF16] = "__nv_bfloat16", [TYPE_F16] = "__half"};
    static const char *const header[] = {"cuda_bf16.h", "cuda_fp16.h", "math.h",      "stddef.h",
                                         "stdint.h",    "string.h",    "unet/cuda.h", NULL};
    const Plan *plan = cuda->e.plan;
    emit_head(plan, out, pool_text(plan->pool, "%s_kernels.cu", plan->model->name));
    for (int i = 0; header[i] != NULL; i++)
        text_line(out, "#include <%s>", header[i]);
    text_blank(out);
    text_line(out, "#define UNET_STORED %s", type[plan->options->stored]);
    text_blank(out);
    text_add(out, "%s", template_part(cuda->e.pool, "cuda/prologue.cuh"));
    cuda->e.out = out;
    for (int i = 0; i < cuda->e.ninstance; i++)
        emit_instance(&cuda->e, &cuda->e.instance[i]);
}

static void emit_plan_header(Cuda *cuda, Text *out) {
    const Plan *plan = cuda->e.plan;
    emit_head(plan, out, pool_text(plan->pool, "%s_plan.h", plan->model->name));
    text_line(out, "#include <unet/cuda.h>");
    text_blank(out);
    text_line(out, "typedef float real;");
    text_line(out, "typedef %s stored;", plan->options->stored == TYPE_F32 ? "float" : "uint16_t");
    text_blank(out);
    text_line(out, "/* ---- where the buffers lie in the arena: offset, bytes ---- */");
    for (int b = 0; b < plan->nbuffer; b++)
        text_line(out, "#define %s %lldLL /* %lld */", offset_name(&cuda->e, b),
                  (long long)plan->buffer[b].offset, (long long)plan->buffer[b].bytes);
    text_blank(out);
    text_line(out, "/* ---- the launchers of %s_kernels.cu ---- */", plan->model->name);
    for (int i = 0; i < cuda->e.ninstance; i++)
        text_wrapped(out, instance_declaration(&cuda->e, &cuda->e.instance[i]));
}

static void convolution_table(const Cuda *cuda, Text *out) {
    text_blank(out);
    text_line(out, "/* ---- what cuDNN computes; see unet/cudnn.h ---- */");
    text_blank(out);
    text_line(out, "static const UnetConvolution convolution[] = {");
    for (int i = 0; i < cuda->nconvolution; i++)
        text_add(out, "    /* %d */\n    %s,\n", i, cuda->convolution[i]);
    text_line(out, "};");
}

static void staging_table(const Cuda *cuda, const Program *program, Text *out) {
    text_line(out, "static const UnetStaging %s_staging[] = {", program->name);
    for (int i = 0; i < program->model->ninput; i++) {
        int b = program->buffer_of[program->model->input[i].value];
        if (b < 0)
            text_line(out, "    {.offset = -1},");
        else
            text_line(out, "    {.offset = %s, .bytes = %lld},", offset_name(&cuda->e, b),
                      (long long)cuda->e.plan->buffer[b].bytes);
    }
    text_line(out, "};");
}

static void piece_table(const Cuda *cuda, const Program *program, Text *out) {
    text_line(out, "static const UnetCudaPiece %s_piece[] = {", program->name);
    for (int i = 0; i < cuda->npiece[program->kind]; i++) {
        const Piece *piece = &cuda->piece[program->kind][i];
        text_line(out, "    {.launch = %s%s%s},", piece->name, piece->in_turn ? ", .in_turn = true" : "",
                  piece->frees_inputs ? ", .frees_inputs = true" : "");
    }
    text_line(out, "};");
}

static void device_tables(const Cuda *cuda, Text *out) {
    const Plan *plan = cuda->e.plan;
    text_blank(out);
    text_line(out, "/* ---- the programs; see unet/cuda_device.h ---- */");
    text_blank(out);
    for (int k = 0; k < PROGRAMS; k++) {
        if (plan->program[k].model == NULL)
            continue;
        staging_table(cuda, &plan->program[k], out);
        piece_table(cuda, &plan->program[k], out);
    }
    text_line(out, "static const UnetCudaModel cuda_model = {");
    text_line(out, "    .nconvolution = %d,", cuda->nconvolution);
    text_line(out, "    .convolution = convolution,");
    for (int k = 0; k < PROGRAMS; k++) {
        const Program *program = &plan->program[k];
        if (program->model == NULL)
            continue;
        text_line(out, "    .%s = {.piece = %s_piece,", program->name, program->name);
        text_line(out, "        .npiece = %d,", cuda->npiece[k]);
        text_line(out, "        .turns = %lld, .turn_samples = %lld,", (long long)turns_of(program),
                  (long long)program->micro);
        text_line(out, "        .control = %s,",
                  offset_name(&cuda->e, program->buffer_of[program->control]));
        text_line(out, "        .staging = %s_staging,", program->name);
        text_line(out, "        .prefetches = %s},", program->prefetches ? "true" : "false");
    }
    text_line(out, "};");
}

static void emit_host(Cuda *cuda, Text *out, const Text *programs) {
    const Plan *plan = cuda->e.plan;
    const char *name = plan->model->name;
    emit_head(plan, out, pool_text(plan->pool, "%s.c", name));
    text_line(out, "#include \"%s.h\"", name);
    text_line(out, "#include \"%s_plan.h\"", name);
    text_blank(out);
    text_line(out, "#include <unet/cuda_device.h>");
    text_blank(out);
    emit_version_check(out);
    text_blank(out);
    text_line(out, "#define AT(type, offset) ((type *)(void *)(arena + (offset)))");
    text_blank(out);
    text_line(out, "/* A slice of a region is as long as its last vector. */");
    text_line(out,
              "static inline void zero_tail(UnetLaunch at, real *p, int64_t used, int64_t stored_bytes) {");
    text_line(
        out, "    unet_cuda_check(at, cudaMemsetAsync((char *)p + used, 0, (size_t)(stored_bytes - used),");
    text_line(out, "                    at.stream), __func__);");
    text_line(out, "}");
    text_bytes(out, programs->bytes, programs->length);
    convolution_table(cuda, out);
    device_tables(cuda, out);
    emit_model(plan, out);
}

/* Kernels count the vectors of a tensor, and numbers of parameters, in 32 bits.  What they count in a
 * workspace is less. */
static void check_counts(const Plan *plan) {
    enum { VECTOR = 16 };
    for (int b = 0; b < plan->nbuffer; b++) {
        const Buffer *buffer = &plan->buffer[b];
        int64_t unit = buffer->batch > 0 ? VECTOR : type_bytes(buffer->type);
        if (buffer->class != CLASS_WORKSPACE && buffer->bytes / unit > INT32_MAX)
            environment_error(
                "`%s` takes %s bytes, more than the kernels of a GPU count: they reach as far as "
                "2^31 times %lld; --micro-batches, or a smaller --batch or --size, makes it smaller",
                buffer->name, grouped(plan->pool, buffer->bytes), (long long)unit);
    }
}

void emit_cuda(const Plan *plan, Sources *sources) {
    static const Dialect dialect = {"cuda", ".cu", "constexpr", true};
    Pool *pool = plan->pool;
    const char *name = plan->model->name;
    Text programs = text_new(pool);
    Cuda cuda = {.e = {.plan = plan, .dialect = &dialect, .pool = pool, .out = &programs}};
    check_counts(plan);
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            emit_program(&cuda, &plan->program[k]);
    emit_host(&cuda, source_new(pool, sources, pool_text(pool, "%s.c", name)), &programs);
    emit_plan_header(&cuda, source_new(pool, sources, pool_text(pool, "%s_plan.h", name)));
    emit_kernels(&cuda, source_new(pool, sources, pool_text(pool, "%s_kernels.cu", name)));
    emit_file(plan, sources, "program/model.h.in", pool_text(pool, "%s.h", name));
    emit_file(plan, sources, "program/main.c.in", "main.c");
    emit_file(plan, sources, "program/CMakeLists_cuda.txt.in", "CMakeLists.txt");
}
