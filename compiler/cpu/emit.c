/* emit.c - C for this processor: a step is one OpenMP parallel region.
 *
 *     NAME.c           functions that list the calls of a program; tables
 *     NAME_steps_0.c ...  of a long program: its steps (parts.c)
 *     NAME_calls.h     what stands before the steps
 *     NAME_sizes.h     the sizes that kernels are handed
 *     NAME_plan.h      where every buffer lies
 *     NAME_declarations.h  the kernels as callers see them, and the types of their sizes
 *     NAME_kernels.h   what the kernels share
 *     NAME_conv.c ...  the kernels, a file a template, or for several that share NAME_winograd.h; or, of
 *                      reference kernels, NAME_kernels.c
 *     NAME.h, main.c, CMakeLists.txt
 *     levels.cmake     where there are levels of processors, how the others are compiled for each
 *
 * Requires: a checked plan.  Provides: these files.
 */
#include "cpu/emit.h"
#include "cpu/emit_halo.h"
#include "cpu/parts.h"
#include "emit/emit.h"
#include "emit/template.h"
#include "ir/ops.h"

#include <string.h>

/* ---- steps ---- */

/* The halo of an output is zeroed by a kernel of its own. */
static bool has_halo(const Program *program, ValueId v) {
    const Layout *s = &program->layout[v];
    bool halo = false;
    for (int k = 0; k < AXES; k++)
        halo |= s->before[k] > 0 || s->after[k] > 0;
    const Value *value = &program->graph->value[v];
    int64_t stored = s->plane * s->blocks;
    return value->per_sample && value->type == program->options->stored && (halo || stored != s->sample);
}

/* Rows of the halo, which a ring does not tell. */
static void ring_constants(Constants *c, const Layout *s) {
    constant(c, "ABOVE", s->ring > 0 ? s->before[1] : 0);
    constant(c, "BELOW", s->ring > 0 ? s->after[1] : 0);
}

void cpu_emit_zero_halo(Emitter *e, const Program *program, const Node *node, ValueId v) {
    const Node halo = {.op = node->op, .name = node->name, .nout = 1, .out = &v};
    Constants c = constants_new(e, program, &halo, "zero_halo");
    constant_channels(&c, "C", v);
    constant_extents(&c, "", v);
    constant_layout(&c, "Y", v);
    ring_constants(&c, &program->layout[v]);
    call_rows(&c, v);
    emit_call(e, &c, instance_for(e, "zero_halo", &c), "n", "");
}

/* "TINY_UNET_TRAIN_BYTES", of NAME.h, or of the header of the plan */
static const char *extent_name(const Emitter *e, const Program *program) {
    return upper(e->pool, pool_text(e->pool, "%s_%s_BYTES", plan_name(e->plan), program->name));
}

/* The emitter, the program and its parts: a call needs all three. */
typedef struct {
    Emitter *e;
    const Program *program;
    Parts *parts;
} Calls;

static void emit_steps(const Calls *calls, const Step *step, int nstep, int position);

/* Within a loop over samples, `n` counts the samples of this iteration, and `start` is the first of them.
 */
static void emit_samples(const Calls *calls, const Step *loop, int position) {
    Text *out = calls->e->out;
    Scope *scope = &calls->parts->scope;
    const Program *program = calls->program;
    const long long samples = loop->samples;
    text_line(out, "/* %d: samples */", position);
    const char *first = program->group > 0 ? "step->first" : "0",
               *end = program->group > 0 ? "last" : "step->n";
    text_line(out, "for (int start = %s; start < %s; start += %lld) {", first, end, samples);
    out->depth++;
    text_line(out, "const int n = %s - start < %lld ? %s - start : %lld;", end, samples, end, samples);
    text_line(out, "const int32_t(*const valid)[3] = step->valid ? step->valid + start : NULL;");
    text_line(out, "(void)valid;");
    scope->samples = true;
    emit_steps(calls, loop->body, loop->nbody, position + 1);
    scope->samples = false;
    out->depth--;
    text_line(out, "}");
}

static void emit_bands(const Calls *calls, const Step *loop, int position) {
    emit_bands_begin(calls->e, calls->program, loop, position);
    calls->parts->scope.bands = true;
    emit_steps(calls, loop->body, loop->nbody, position + 1);
    calls->parts->scope.bands = false;
    emit_bands_end(calls->e);
}

/* Has a program in front of this one a step of the same name, which reads and writes the same? */
static bool is_described(const Emitter *e, const Program *program, const Node *node, const char *shapes) {
    const char *name = step_name(e, node);
    for (int k = 0; k < (int)program->kind; k++) {
        const Program *earlier = &e->plan->program[k];
        for (int i = 0; earlier->model != NULL && i < earlier->graph->nnode; i++) {
            const Node *other = &earlier->graph->node[i];
            if (strcmp(other->name, node->name) == 0 && strcmp(step_name(e, other), name) == 0 &&
                strcmp(shapes_text(e->pool, earlier, other), shapes) == 0)
                return true;
        }
    }
    return false;
}

/* begin(step, 12, "conv of enc1.0", "Winograd", 11, FLOPs, bytes), and what it reads and writes, once for
 * all programs.
 */
static void emit_begin(Emitter *e, const Program *program, const Node *node, int position) {
    const NodeWork work = node_work(program, node);
    const int line = node->span.line <= 0 ? 0 : node_line(node).line;
    const char *begin = pool_text(e->pool, "begin(step, %d, %s, %s, %d, %lld, %lld);", position,
                                  c_quoted(e->pool, step_name(e, node)),
                                  node->method == NULL ? "NULL" : c_quoted(e->pool, node->method), line,
                                  (long long)work.flops, (long long)work.bytes);
    const char *shapes = shapes_text(e->pool, program, node);
    if (is_described(e, program, node, shapes))
        text_line(e->out, "%s", begin);
    else
        text_commented(e->out, begin, shapes + 1);
}

/* The halos of outputs of NODE that do not lie in the place of an input. */
static void emit_halos(Emitter *e, const Program *program, const Node *node) {
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        if (v >= 0 && has_halo(program, v) && e->plan->buffer[program->buffer_of[v]].same < 0)
            cpu_emit_zero_halo(e, program, node, v);
    }
}

/* The runtime has brought the rows of an input. */
static void emit_load(Emitter *e, const Program *program, const Node *node, int position) {
    emit_step_comment(e, program, node, position);
    emit_halos(e, program, node);
}

/* "{B012_enc1_0 + 64, 1, 0, 2, ...}, ": the rows of T that STEP touches, as UnetRows has them. */
static const char *touched_rows(const Emitter *e, const Program *program, const Step *step,
                                const Touch *t) {
    const Graph *g = program->graph;
    const Node *node = &g->node[step->node];
    const Layout *s = &program->layout[t->value];
    const int64_t bytes = type_bytes(g->value[t->value].type), height = rows_at(program, t->value, 0),
                  above = s->before[1], below = s->after[1], zero = s->ring > 0 ? 0 : above;
    RowsRule *rule = op_table[node->op].rows;
    RowRange now = {-step->lag, step->rows - step->lag}, next = {now.end, now.end + step->rows};
    if (!t->is_output) {
        now = rule(g, node, t->number, 1, now);
        next = rule(g, node, t->number, 1, next);
    }
    const int64_t number[] = {(s->origin - s->before[2] * s->block - zero * s->row) * bytes,
                              program->micro_batch,
                              s->sample * bytes,
                              s->blocks,
                              s->plane * bytes,
                              s->ring > 0 ? s->ring : above + height + below,
                              s->row * bytes,
                              zero,
                              now.begin,
                              now.end,
                              next.begin - now.begin,
                              above,
                              height,
                              below};
    const char *text = pool_text(e->pool, "{%s", offset_name(e, program->buffer_of[t->value]));
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        text = pool_text(e->pool, "%s%s%lld", text, k == 0 ? " + " : ", ", (long long)number[k]);
    return pool_text(e->pool, "%s}, ", text);
}

/* In a checking build a step in a loop over bands touches the rows of images that the plan says; where
 * images may have any height, any of them. */
static void emit_rows(const Emitter *e, const Program *program, const Step *step) {
    const Graph *g = program->graph;
    Text rows = text_new(e->pool);
    for (Touch t = node_touches(g, &g->node[step->node]); touch_next(&t);) {
        const Value *value = &g->value[t.value];
        if (value->per_sample && value->shape.rank == AXES && program->buffer_of[t.value] >= 0)
            text_add(&rows, "%s", touched_rows(e, program, step, &t));
    }
    if (step->rows > 0 && program->units == 0 && rows.length > 0)
        text_wrapped(e->out, pool_text(e->pool, "ROWS(band, %s{0});", rows.bytes));
}

/* Running statistics belong to the first group: another process may have the samples of other groups. */
static bool of_first_group(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (t.operand->access == ACCESS_UPDATE && g->value[t.value].class == CLASS_RUNNING_STATISTIC)
            return true;
    return false;
}

/* With groups of samples: in which iterations NODE computes, as a condition; or NULL: in all of them. */
static const char *condition_text(const Emitter *e, const Program *program, const Node *node) {
    const long long group = program->group;
    if (node->ends_group)
        return pool_text(e->pool, "(start + n) %% %lld == 0 || start + n == last", group);
    if (group > 0 && of_first_group(program->graph, node) && !node->a.norm.sync)
        return pool_text(e->pool, "start < %lld", group);
    return NULL;
}

/* The call of the kernel of STEP, with all that comes in front of it. */
static void emit_kernel(Emitter *e, const Program *program, int position, const Step *step) {
    const Node *node = &program->graph->node[step->node];
    const char *template = template_of(e, node);
    Constants c = constants_new(e, program, node, template);
    op_table[node->op].constants(&c, node);
    const Instance *instance = instance_for(e, template, &c);
    emit_begin(e, program, node, position);
    if (e->plan->options->poison) {
        emit_operands(e, extent_name(e, program), operand_spans(e, program, node, position));
        emit_rows(e, program, step);
    }
    emit_halos(e, program, node);
    emit_zero_tails(e, program, node);
    const char *condition = condition_text(e, program, node);
    if (condition != NULL)
        text_line(e->out, "if (%s)", condition);
    e->out->depth += condition != NULL;
    emit_call(e, &c, instance, c.before, c.after);
    e->out->depth -= condition != NULL;
}

static void emit_step(Emitter *e, const Program *program, int position, const Step *step) {
    const Node *node = &program->graph->node[step->node];
    emit_step_begin(e, step);
    if (has_trait(node, TRAIT_LOADS))
        emit_load(e, program, node, position);
    if (!has_trait(node, TRAIT_OF_RUNTIME))
        emit_kernel(e, program, position, step);
    emit_step_end(e);
}

/* Steps that stand one after the other, from STEP[0] on, at most MOST. */
static int steps_in_a_row(const Step *step, int nstep, int most) {
    int count = 0;
    while (count < nstep && count < most && step[count].node >= 0)
        count++;
    return count;
}

static void emit_row(const Calls *calls, const Step *step, int nstep, int position, bool apart) {
    if (apart)
        part_begin(calls->parts, calls->e, calls->program);
    for (int i = 0; i < nstep; i++)
        emit_step(calls->e, calls->program, position + i, &step[i]);
    if (apart)
        part_end(calls->parts, calls->e);
}

static void emit_steps(const Calls *calls, const Step *step, int nstep, int position) {
    const bool splits = parts_split(calls->parts, step, nstep);
    for (int i = 0; i < nstep;) {
        const int row = steps_in_a_row(step + i, nstep - i, splits ? calls->parts->limit : nstep);
        if (row > 0) {
            emit_row(calls, step + i, row, position, splits);
            position += row;
            i += row;
        } else {
            (step[i].axis == AXIS_SAMPLES ? emit_samples : emit_bands)(calls, &step[i], position);
            position += 1 + step_count(step[i].body, step[i].nbody);
            i++;
        }
    }
}

/* ---- programs -------------------------------------------------------------------------------------------
 */

/* A function of that NAME that runs STEP[0..NSTEP), the first of them at POSITION, once so many sums of
 * LABELS are known. */
static void emit_function(const Calls *calls, const char *name, const Step *step, int nstep, int position,
                          int labels) {
    Emitter *e = calls->e;
    const Program *program = calls->program;
    calls->parts->scope = (Scope){.samples = program->micro_batch == program->batch,
                                  .last = program->group > 0,
                                  .labels = labels > 0};
    text_blank(e->out);
    text_line(e->out, "static void %s(const UnetStep *step) {", name);
    e->out->depth++;
    text_line(e->out, "char *const arena = step->arena;");
    if (program->micro_batch == program->batch) {
        text_line(e->out, "const int n = step->n, start = 0;");
        text_line(e->out, "const int32_t(*const valid)[3] = step->valid;");
        text_line(e->out, "(void)n, (void)start, (void)valid;");
    }
    if (program->group > 0)
        text_line(e->out, "const int last = step->last > 0 ? step->last : step->n;");
    if (labels > 0) {
        text_line(e->out, "double labelled[%d];", labels);
        text_line(e->out, "unet_count_labels(%s_labels, %d, step, labelled);", program->name, labels);
    }
    text_add(e->out, "#pragma omp parallel num_threads(step->threads)\n");
    text_line(e->out, "{");
    e->out->depth++;
    emit_steps(calls, step, nstep, position);
    e->out->depth--;
    text_line(e->out, "}");
    if (e->plan->options->poison)
        text_line(e->out, "unet_unpoison(arena, %s);", extent_name(e, program));
    e->out->depth--;
    text_line(e->out, "}");
}

static void emit_program(Emitter *e, const Program *program, Parts *parts) {
    const Calls calls = {.e = e, .program = program, .parts = parts};
    const int once = program->nonce;
    text_blank(e->out);
    text_line(e->out, "/* ---- %s: batch %lld, %s bytes of the arena ---- */", program->name,
              (long long)program->batch, grouped(e->pool, program->extent));
    if (once > 0)
        emit_function(&calls, pool_text(e->pool, "%s_prepare", program->name), program->step, once, 0, 0);
    const int labels = emit_label_counts(program, e->out);
    emit_function(&calls, program->name, program->step + once, program->nstep - once, once, labels);
}

/* ---- files ---- */

static const char *file_name(const Emitter *e, const char *suffix) {
    return pool_text(e->pool, "%s%s", e->plan->model->name, suffix);
}

/* The name of a file of the plan. */
static const char *plan_file(const Emitter *e, const char *suffix) {
    return pool_text(e->pool, "%s%s", plan_name(e->plan), suffix);
}

static bool has_any_height(const Plan *plan) {
    bool found = false;
    for (; plan != NULL; plan = plan->smaller)
        found |= plan->program[PROGRAM_PREDICT].model != NULL && plan->program[PROGRAM_PREDICT].units > 0;
    return found;
}

/* The types that the prologue asks for. */
static const char *type_definitions(const Plan *plan) {
    return pool_text(plan->pool, "#define UNET_REAL %s\n%s%s%s",
                     plan->options->real == TYPE_F64 ? "double" : "float",
                     has_any_height(plan) ? "#define UNET_ANY_HEIGHT\n" : "",
                     plan->options->conv == CONV_FAST ? "#define UNET_FAST_PRODUCTS\n" : "",
                     plan->options->stored == plan->options->real ? ""
                     : plan->options->stored == TYPE_BF16         ? "#define UNET_STORED_BF16\n"
                                                                  : "#define UNET_STORED_F16\n");
}

static void emit_kernels(const Emitter *e, Sources *sources) {
    if (e->dialect->form == FORM_CALLED) {
        Text functions = text_new(e->pool);
        emit_functions(e, &functions);
        const Hole hole[] = {{"functions", functions.bytes}, {NULL, NULL}};
        emit_file(e->plan, sources, "program/kernels.c.in", file_name(e, "_kernels.c"), hole);
        return;
    }
    emit_template_files(e, sources);
}

/* The names of functions that are compiled for each level; PARTS: of each plan. */
static void emit_level_names(const Emitter *e, const Parts *parts, Text *out) {
    if (levels_of(e->plan)->name == NULL)
        return;
    text_blank(out);
    text_add(out, "%s", template_text("program/level_names.h.in"));
    for (const Plan *plan = e->plan; plan != NULL; plan = plan->smaller)
        text_line(out, "#define %s_model LEVEL_NAME(%s_model)", plan_name(plan), plan_name(plan));
    for (int i = 0; i < e->ninstance; i++)
        if (e->instance[i].has_function)
            text_line(out, "#define %s LEVEL_NAME(%s)", e->instance[i].function, e->instance[i].function);
    for (const Plan *plan = e->plan; plan != NULL; plan = plan->smaller)
        for (int i = 0; i < parts[plan->place].count; i++)
            text_line(out, "#define %s LEVEL_NAME(%s)", parts[plan->place].name[i],
                      parts[plan->place].name[i]);
}

static void emit_plan_header(const Emitter *e, Sources *sources) {
    Text offsets = text_new(e->pool);
    emit_offsets(e, &offsets);
    const Hole hole[] = {{"offsets", offsets.bytes}, {NULL, NULL}};
    emit_file(e->plan, sources, "program/plan.h.in", plan_file(e, "_plan.h"), hole);
}

/* Kernels follow from this header alone, so that another batch or budget leaves their objects as they are.
 */
static void emit_declarations_header(const Emitter *e, const Parts *parts, Sources *sources) {
    Text names = text_new(e->pool), declarations = text_new(e->pool);
    emit_level_names(e, parts, &names);
    emit_declarations(e, &declarations);
    const Hole hole[] = {{"level_names", names.bytes}, {"declarations", declarations.bytes}, {NULL, NULL}};
    emit_file(e->plan, sources, "program/declarations.h.in", file_name(e, "_declarations.h"), hole);
}

/* NAME.c, and what stands before the steps, in a header. */
static void emit_calls(const Emitter *e, const Parts *parts, const char *programs, const char *tables,
                       Sources *sources) {
    const Plan *plan = e->plan;
    Text all_rows = text_new(e->pool);
    emit_all_rows(e, &all_rows);
    const Hole header[] = {{"poison", plan->options->poison ? template_text("program/poison.c.in") : ""},
                           {"bands", bands_text(plan)},
                           {"all_rows", all_rows.bytes},
                           {"parts", parts_declared(parts)},
                           {NULL, NULL}};
    const Hole calls[] = {{"programs", programs}, {"tables", tables}, {NULL, NULL}};
    emit_file(plan, sources, "program/calls.c.in", plan_file(e, ".c"), calls);
    emit_file(plan, sources, "program/calls.h.in", plan_file(e, "_calls.h"), header);
}

static void emit_handed_sizes(const Emitter *e, Sources *sources) {
    Text sizes = text_new(e->pool);
    emit_sizes(e, &sizes);
    const Hole hole[] = {{"sizes", sizes.bytes}, {NULL, NULL}};
    emit_file(e->plan, sources, "program/sizes.h.in", file_name(e, "_sizes.h"), hole);
}

/* Whatever belongs to one plan: its programs, its tables, where its buffers lie. */
static void emit_plan(Emitter *e, const Plan *plan, Parts *parts, Sources *sources) {
    Text programs = text_new(plan->pool), tables = text_new(plan->pool);
    e->plan = plan;
    e->out = &programs;
    *parts = parts_new(plan);
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            emit_program(e, &plan->program[k], parts);
    emit_model(plan, &tables);
    emit_calls(e, parts, programs.bytes, tables.bytes, sources);
    emit_plan_header(e, sources);
    emit_parts(parts, sources);
}

static int count_plans(const Plan *plan) {
    int count = 0;
    for (; plan != NULL; plan = plan->smaller)
        count++;
    return count;
}

void emit_cpu(const Plan *plan, Sources *sources) {
    const bool reference = plan->options->reference;
    const Dialect dialect = {.folder = reference ? "reference" : "cpu",
                             .also = reference ? "cpu" : NULL,
                             .suffix = ".c",
                             .mark = "UNUSED static void",
                             .form = reference ? FORM_CALLED : FORM_INCLUDED,
                             .held = "(start - step->first)"};
    Emitter e = {.plan = plan, .dialect = &dialect, .pool = plan->pool, .keeps = plan->pool};
    Parts *parts = pool_array(plan->pool, (size_t)count_plans(plan), sizeof *parts);
    for (const Plan *p = plan; p != NULL; p = p->smaller)
        emit_plan(&e, p, &parts[p->place], sources);
    e.plan = plan;
    emit_handed_sizes(&e, sources);
    const Hole kernels[] = {
        {"types", type_definitions(plan)}, {"prologue", prologue_text(&e)}, {NULL, NULL}};
    emit_main(plan, sources);
    emit_header(plan, sources, "program/model.h.in");
    emit_declarations_header(&e, parts, sources);
    emit_file(plan, sources, "program/kernels.h.in", file_name(&e, "_kernels.h"), kernels);
    emit_kernels(&e, sources);
    emit_cmake(plan, sources);
}
