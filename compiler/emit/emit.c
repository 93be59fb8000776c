/* emit.c - the calls of a step: what stands in a program, on any target.
 *
 * A program is a list of steps: a comment, in a checking build the operands, and calls of kernels
 * (instance.c), handed places in the arena by name.  See generated/README.md for the form.
 *
 * Requires: a checked plan.  Provides: the same text for the same plan.
 */
#include "emit/emit.h"
#include "emit/template.h"
#include "ir/ops.h"

#include <ctype.h>
#include <string.h>

/* ---- places in the arena ---- */

static const char *c_type(const Plan *plan, Type type) {
    if (type == plan->options->real)
        return "real";
    static const char *const name[] = {
        [TYPE_F32] = "float",        [TYPE_F64] = "double", [TYPE_U8] = "uint8_t",
        [TYPE_BF16] = "stored",      [TYPE_F16] = "stored", [TYPE_UNORM8] = "uint8_t",
        [TYPE_UNORM16] = "uint16_t",
    };
    return name[type];
}

const char *offset_name(const Emitter *e, int buffer) {
    char *name = pool_copy(e->pool, e->plan->buffer[buffer].name, strlen(e->plan->buffer[buffer].name));
    for (char *s = name; *s != '\0'; s++)
        if (!isalnum((unsigned char)*s))
            *s = '_';
    return pool_text(e->pool, "B%03d_%s", buffer, name);
}

void emit_offsets(const Emitter *e, Text *out) {
    for (int b = 0; b < e->plan->nbuffer; b++)
        if (e->plan->buffer[b].space == SPACE_DEVICE)
            text_line(out, "#define %s %lldLL /* %lld */", offset_name(e, b),
                      (long long)e->plan->buffer[b].offset, (long long)e->plan->buffer[b].bytes);
}

const char *pointer_text(const Emitter *e, const Program *program, ValueId v) {
    if (v < 0)
        return "NULL";
    const Value *value = &program->graph->value[v];
    const char *type = c_type(e->plan, value->type);
    int buffer = program->buffer_of[v];
    if (buffer < 0 && value->class == CLASS_STAGING)
        return pool_text(e->pool, "INPUT(%s, %d, %lld)", type, value->input,
                         (long long)program->layout[v].sample);
    return pool_text(e->pool, "AT(%s, %s)", type, offset_name(e, buffer));
}

/* ---- calls ---- */

static void add_argument(Text *call, const char *argument) {
    if (*argument == '\0')
        return;
    text_add(call, "%s%s",
             call->bytes[call->length - 1] == '(' || call->bytes[call->length - 1] == ' ' ? "" : ", ",
             argument);
}

/* If several loops over samples touch V: the samples of an iteration; a node that merges samples takes all.
 */
static const char *operand_text(const Emitter *e, const Constants *c, ValueId v) {
    const char *place = pointer_text(e, c->program, v);
    const bool held = v >= 0 && c->program->held != NULL && c->program->held[v];
    if (!held || has_trait(c->node, TRAIT_MERGES))
        return place;
    return pool_text(e->pool, "%s + %s * %lldL", place, e->dialect->held,
                     (long long)c->program->layout[v].sample);
}

static const char *input_text(const Emitter *e, const Constants *c, int k) {
    const ValueId *segment;
    int n = value_segments(c->program->graph, &c->node->in[k], &segment);
    if (!c->array[k])
        return operand_text(e, c, n == 0 ? -1 : segment[0]);
    Text text = text_new(e->pool);
    text_add(&text, "(const %s *const[]){", c_type(e->plan, c->program->graph->value[segment[0]].type));
    for (int p = 0; p < n; p++)
        text_add(&text, "%s%s", p > 0 ? ", " : "", operand_text(e, c, segment[p]));
    text_add(&text, "}");
    return text.bytes;
}

/* The first slice of a region. */
static const char *output_text(const Emitter *e, const Constants *c, int k) {
    const ValueId *segment;
    const int n = value_segments(c->program->graph, &c->node->out[k], &segment);
    return operand_text(e, c, n == 0 ? -1 : segment[0]);
}

void add_operands(Emitter *e, const Constants *c, Text *call) {
    CHECK(c->node->nin <= MAX_INPUTS);
    for (int i = 0; i < c->node->nout; i++)
        add_argument(call, output_text(e, c, i));
    for (int i = 0; i < c->node->nin; i++)
        add_argument(call, input_text(e, c, i));
    add_argument(call, c->behind);
}

void emit_call(Emitter *e, const Constants *c, const Instance *k, const char *first, const char *last) {
    Text call = text_new(e->pool);
    text_add(&call, "%s", instance_call(e, k));
    add_argument(&call, first);
    if (c->rows_of >= 0)
        add_argument(&call, rows_text(e, c->program, c->rows_of));
    add_operands(e, c, &call);
    add_argument(&call, last);
    text_add(&call, ");");
    text_wrapped(e->out, call.bytes);
}

/* "rows_256": a constant of the program. */
static const char *all_rows_name(Emitter *e, int64_t rows) {
    int known = 0;
    while (known < e->nall_rows && e->all_rows[known] != rows)
        known++;
    if (known == e->nall_rows)
        PUSH(e->keeps, e->all_rows, e->nall_rows, rows);
    return pool_text(e->pool, "rows_%lld", (long long)rows);
}

void emit_all_rows(const Emitter *e, Text *out) {
    const char *text = "";
    for (int i = 0; i < e->nall_rows; i++)
        text = pool_text(e->pool, "%s%s rows_%lld = {0, %lld}", text, i == 0 ? "static const Rows" : ",",
                         (long long)e->all_rows[i], (long long)e->all_rows[i]);
    if (e->nall_rows == 0)
        return;
    text_line(out, "\n/* All rows of a tensor. */");
    text_wrapped(out, pool_text(e->pool, "%s;", text));
}

const char *rows_text(Emitter *e, const Program *program, ValueId v) {
    const Value *value = &program->graph->value[v];
    const long long rows = value->per_sample ? shape_rows(value->shape) : 1;
    if (e->step->rows == 0 && e->dialect->form != FORM_COPIED)
        return all_rows_name(e, rows);
    if (e->step->rows == 0)
        return pool_text(e->pool, "(Rows){0, %lld}", rows);
    const bool tall = program->units > 0;
    return pool_text(e->pool, "%s(band, %lld, %lld, %s)", tall ? "tall_rows" : "band_rows",
                     (long long)e->step->rows, (long long)e->step->lag,
                     tall ? times_units(e->pool, rows / program->units) : pool_text(e->pool, "%lld", rows));
}

const char *times_units(Pool *pool, int64_t rows) {
    return rows == 1 ? "step->units" : pool_text(pool, "%lld * step->units", (long long)rows);
}

static bool loops_over_bands(const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0 &&
            (step[i].axis == AXIS_BANDS || loops_over_bands(step[i].body, step[i].nbody)))
            return true;
    return false;
}

const char *bands_text(const Plan *plan) {
    bool bands = false, tall = false;
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1)) {
        bands |= loops_over_bands(p->step, p->nstep);
        tall |= p->units > 0;
    }
    return pool_text(plan->pool, "%s%s", bands ? template_text("program/bands.c.in") : "",
                     tall ? template_text("program/tall_bands.c.in") : "");
}

void emit_bands_begin(Emitter *e, const Program *program, const Step *loop, int position) {
    if (program->units > 0) {
        text_line(e->out, "/* %d: bands of rows, of an image of any height */", position);
        text_line(e->out, "for (int band = step->band; band < step->band + step->bands; band++) {");
    } else {
        text_line(e->out, "/* %d: %lld bands of rows */", position, (long long)loop->times);
        text_line(e->out, "for (int band = 0; band < %lld; band++) {", (long long)loop->times);
    }
    e->out->depth++;
}

void emit_bands_end(Emitter *e) {
    e->out->depth--;
    text_line(e->out, "}");
}

/* ---- comments ---- */

/* "[n,16,256,256]" */
static const char *dimensions_text(Pool *pool, const Value *value) {
    const char *text = value->per_sample ? "[n" : "[";
    for (int k = 0; k < value->shape.rank; k++)
        text = pool_text(pool, "%s%s%lld", text, k > 0 || value->per_sample ? "," : "",
                         (long long)value->shape.dim[k]);
    return pool_text(pool, "%s]", text);
}

/* Does it work on all parameters, or all their gradients, at once? */
static bool sweeps_regions(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (t.operand->region && g->value[t.value].class != CLASS_METRIC)
            return true;
    return false;
}

/* " all parameters", " the parameters up1.weight to enc1.bias" */
static const char *swept_text(Pool *pool, const Program *program, const Node *node) {
    int updates = 1;
    if (bucket_number(program, node->nout > 0 ? node->out[0] : node->in[0]) >= 0)
        return " the parameters of a bucket";
    if (has_trait(node, TRAIT_UPDATES))
        first_update(program->graph, &updates);
    if (updates == 1)
        return " all parameters";
    const ValueId *parameter;
    const int count = value_segments(program->graph, &node->in[0], &parameter);
    const Value *value = program->graph->value;
    return pool_text(pool, " the parameters %s to %s", value[parameter[0]].name,
                     value[parameter[count - 1]].name);
}

const char *shapes_text(Pool *pool, const Program *program, const Node *node) {
    const bool sums_one =
        node->a.kind == ATTRIBUTES_PART && program->graph->value[node->out[0]].nsegments == 0;
    if (sweeps_regions(program->graph, node) && !sums_one)
        return swept_text(pool, program, node);
    const char *text = "";
    for (int k = 0; k < node->nin + node->nout; k++) {
        ValueId v = k < node->nin ? node->in[k] : node->out[k - node->nin];
        const Value *value = v < 0 ? NULL : &program->graph->value[v];
        text = pool_text(pool, "%s%s", text, k == node->nin ? " ->" : "");
        if (value != NULL)
            text = pool_text(pool, "%s %s%s", text, value->name, dimensions_text(pool, value));
    }
    return text;
}

void emit_step_begin(Emitter *e, const Step *step) {
    e->step = step;
    e->pool = pool_part(e->keeps);
}

void emit_step_end(Emitter *e) {
    pool_free(e->pool);
    e->pool = e->keeps;
}

const char *step_name(const Emitter *e, const Node *node) {
    const char *operator= node_operator(e->pool, node);
    return strcmp(operator, node->name) == 0 ? operator
        : pool_text(e->pool, "%s of %s", operator, node->name);
}

void emit_step_comment(Emitter *e, const Program *program, const Node *node, int position) {
    const char *place = node->span.line <= 0
                            ? ""
                            : pool_text(e->pool, " (%s:%d)", e->plan->model->source, node_line(node).line);
    text_comment(e->out, pool_text(e->pool, "%d: %s%s:%s", position, step_name(e, node), place,
                                   shapes_text(e->pool, program, node)));
}

/* ---- beside the kernels ---- */

const char *operand_spans(const Emitter *e, const Program *program, const Node *node, int position) {
    Text spans = text_new(e->pool);
    for (Touch t = node_touches(program->graph, node); touch_next(&t);) {
        const int id = program->buffer_of[t.value];
        const Buffer *b = id < 0 ? NULL : &e->plan->buffer[id];
        if (b != NULL && (b->program < 0 || (b->first <= position && position <= b->last)))
            text_add(&spans, "{%s, %lld, %d}, ", offset_name(e, id), (long long)b->bytes,
                     b->program >= 0 && b->first == position && b->same < 0);
    }
    return spans.bytes == NULL ? "" : spans.bytes;
}

void emit_operands(Emitter *e, const char *first, const char *spans) {
    text_wrapped(e->out, pool_text(e->pool, "OPERANDS(%s, %s{0, 0, 0});", first, spans));
}

void emit_zero_tails(Emitter *e, const Program *program, const Node *node) {
    for (int k = 0; k < node->nout && !sweeps_regions(program->graph, node); k++) {
        ValueId v = node->out[k];
        if (v < 0 || program->graph->value[v].class != CLASS_PARAMETER_GRADIENT)
            continue;
        const Value *value = &program->graph->value[v];
        int64_t used = shape_elements(value->shape) * type_bytes(value->type);
        int64_t stored = program->layout[v].bytes;
        if (used != stored)
            text_line(e->out, "zero_tail(%s, %lld, %lld);", pointer_text(e, program, v), (long long)used,
                      (long long)stored);
    }
}
