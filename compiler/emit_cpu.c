/* emit_cpu.c - C for this processor: one source, a step is one OpenMP parallel region.
 *
 * Requires: a checked plan.  Provides: NAME.c, NAME.h, main.c, CMakeLists.txt.
 */
#include "emitter.h"
#include "ops.h"

/* ---- steps ---- */

/* The halo of an output is zeroed by a kernel of its own. */
static bool has_halo(const Program *program, ValueId v) {
    const Storage *s = &program->storage[v];
    bool halo = false;
    for (int k = 0; k < AXES; k++)
        halo |= s->before[k] > 0 || s->after[k] > 0;
    const Value *value = &program->graph->value[v];
    int64_t stored = s->plane * s->blocks;
    return value->per_sample && (halo || stored != s->sample);
}

static Instance *halo_instance(Emitter *e, const Program *program, const Node *node, ValueId v) {
    Constants c = constants_new(e, program, node, "zero_halo");
    constant_channels(&c, "C", v);
    constant_extents(&c, "", v);
    constant_layout(&c, "Y", v);
    return instance_for(e, "zero_halo", &c);
}

/* In a poisoning build a step may touch its operands, as long as the plan lets them live, and nothing else.
 */
static void emit_operands(Emitter *e, const Program *program, const Node *node, int position) {
    Text spans = text_new(e->pool);
    for (int k = 0; k < node->nin + node->nout; k++) {
        const ValueId *operand = k < node->nin ? &node->in[k] : &node->out[k - node->nin], *leaf;
        int n = value_leaves(program->graph, operand, &leaf);
        for (int p = 0; p < n; p++) {
            int id = program->buffer_of[leaf[p]];
            const Buffer *b = id < 0 ? NULL : &e->plan->buffer[id];
            bool alive = b != NULL && (b->program < 0 || (b->first <= position && position <= b->last));
            bool first_write = alive && b->program >= 0 && b->first == position && b->same < 0;
            if (alive)
                text_add(&spans, "{%lld, %lld, %d}, ", (long long)b->offset, (long long)b->bytes,
                         first_write);
        }
    }
    text_wrapped(e->out,
                 pool_text(e->pool, "unet_operands(arena, EXTENT_%s, (const UnetSpan[]){%s{0, 0, 0}});",
                           program->name, spans.length > 0 ? spans.bytes : ""));
}

static void emit_zero_padding(Emitter *e, const Program *program, const Node *node) {
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        if (v < 0 || program->graph->value[v].class != CLASS_PARAMETER_GRADIENT)
            continue;
        const Value *value = &program->graph->value[v];
        int64_t used = shape_elements(value->shape),
                stored = program->storage[v].bytes / type_bytes(value->type);
        if (used != stored)
            text_line(e->out, "zero_tail(%s, %lld, %lld);", pointer_text(e, program, v), (long long)used,
                      (long long)stored);
    }
}

static void emit_steps(Emitter *e, const Program *program, const Step *step, int nstep, int position);

/* Within the loop, `n` are the samples of this turn, and `start` is the first of them. */
static void emit_loop(Emitter *e, const Program *program, int position, const Step *loop) {
    text_line(e->out, "/* %d: %s */", position, loop->loop);
    text_line(e->out, "for (int start = 0; start < step->n; start += %lld) {", (long long)program->micro);
    e->out->depth++;
    text_line(e->out, "const int n = step->n - start < %lld ? step->n - start : %lld;",
              (long long)program->micro, (long long)program->micro);
    text_line(e->out, "const int32_t(*const valid)[3] = step->valid ? step->valid + start : NULL;");
    text_line(e->out, "(void)valid;");
    emit_steps(e, program, loop->body, loop->nbody, position + 1);
    e->out->depth--;
    text_line(e->out, "}");
}

static void emit_step(Emitter *e, const Program *program, int position, const Step *step) {
    const Node *node = &program->graph->node[step->node];
    if (node->op == OP_RETURN)
        return;
    const char *template = op_table[node->op].name;
    Constants c = constants_new(e, program, node, template);
    op_table[node->op].sizes(&c, node);
    const char *name = instance_for(e, template, &c)->name;
    emit_step_comment(e, program, node, position);
    if (e->plan->options->poison)
        emit_operands(e, program, node, position);
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        if (v < 0 || !has_halo(program, v) || e->plan->buffer[program->buffer_of[v]].same >= 0)
            continue;
        text_line(e->out, "%s(n, %s);", halo_instance(e, program, node, v)->name,
                  pointer_text(e, program, v));
    }
    emit_zero_padding(e, program, node);
    text_wrapped(e->out, pool_text(e->pool, "%s(%s);", name, call_text(e, &c, c.before, c.after)));
}

static void emit_steps(Emitter *e, const Program *program, const Step *step, int nstep, int position) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            emit_loop(e, program, position, &step[i]);
            position += 1 + step_count(step[i].body, step[i].nbody);
        } else {
            emit_step(e, program, position++, &step[i]);
        }
    }
}

/* ---- programs -------------------------------------------------------------------------------------------
 */

static void emit_program(Emitter *e, const Program *program) {
    bool poison = e->plan->options->poison;
    text_blank(e->out);
    text_line(e->out, "/* ---- %s: batch %lld, %s bytes of the arena ---- */", program->name,
              (long long)program->batch, grouped(e->pool, program->extent));
    text_blank(e->out);
    text_line(e->out, "static void %s(const UnetStep *step) {", program->name);
    e->out->depth++;
    text_line(e->out, "char *const arena = step->arena;");
    if (program->micro == program->batch) {
        text_line(e->out, "const int n = step->n, start = 0;");
        text_line(e->out, "const int32_t(*const valid)[3] = step->valid;");
        text_line(e->out, "(void)n, (void)start, (void)valid;");
    }
    if (poison) {
        text_line(e->out, "enum { EXTENT_%s = %lld };", program->name, (long long)program->extent);
    }
    text_add(e->out, "#pragma omp parallel num_threads(step->threads)\n");
    text_line(e->out, "{");
    e->out->depth++;
    emit_steps(e, program, program->step, program->nstep, 0);
    e->out->depth--;
    text_line(e->out, "}");
    if (poison)
        text_line(e->out, "unet_unpoison(arena, EXTENT_%s);", program->name);
    e->out->depth--;
    text_line(e->out, "}");
}

static void emit_source(const Plan *plan, Text *out) {
    const Dialect dialect = {plan->options->reference ? "reference" : "cpu", ".c", "static const", false};
    Emitter e = {.plan = plan, .dialect = &dialect, .pool = plan->pool, .out = out};
    Text programs = text_new(plan->pool);
    e.out = &programs; /* first, so that it is known which kernels they use */
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            emit_program(&e, &plan->program[k]);
    e.out = out;
    emit_head(plan, out, pool_text(plan->pool, "%s.c", plan->model->name));
    text_line(out, "#include \"%s.h\"", plan->model->name);
    text_blank(out);
    for (const char *const *name = (const char *const[]){"math", "stddef", "stdint", "string", NULL}; *name;
         name++)
        text_line(out, "#include <%s.h>", *name);
    if (plan->options->poison)
        text_line(out, "#include <unet/poison.h>");
    text_blank(out);
    emit_version_check(out);
    text_line(out, "#define UNET_REAL %s", plan->options->real == TYPE_F64 ? "double" : "float");
    if (plan->options->stored != plan->options->real)
        text_line(out, "#define UNET_STORED_%s", plan->options->stored == TYPE_BF16 ? "BF16" : "F16");
    text_blank(out);
    text_add(out, "%s", template_body(&e, "prologue"));
    text_blank(out);
    text_line(out, "#define AT(type, offset) ((type *)(void *)(arena + (offset)))");
    text_line(out,
              "#define INPUT(type, index, sample) ((const type *)step->inputs[index] + start * (sample))");
    text_blank(out);
    text_line(out, "/* A slice of a region is as long as its last vector. */");
    text_line(out, "UNUSED static void zero_tail(real *p, long used, long stored) {");
    text_line(out, "#pragma omp single nowait");
    text_line(out, "    for (long i = used; i < stored; i++)");
    text_line(out, "        p[i] = 0;");
    text_line(out, "}");
    text_blank(out);
    text_line(out, "/* ---- kernels ---- */");
    for (int i = 0; i < e.ninstance; i++)
        emit_instance(&e, &e.instance[i]);
    text_bytes(out, programs.bytes, programs.length);
    emit_model(plan, out);
}

void emit_cpu(const Plan *plan, Sources *sources) {
    emit_source(plan, source_new(plan->pool, sources, pool_text(plan->pool, "%s.c", plan->model->name)));
    emit_file(plan, sources, "program/model.h.in", pool_text(plan->pool, "%s.h", plan->model->name));
    emit_file(plan, sources, "program/main.c.in", "main.c");
    emit_file(plan, sources, "program/CMakeLists.txt.in", "CMakeLists.txt");
}
