/* emit.c - from the plan to C.
 *
 * A generated source is: a head that says where it came from, the prologue of the templates, one instance
 * of a kernel for each distinct set of sizes, one function a program that lists the calls, and the tables
 * of emit_model.c.  Everything else is in the templates or in the runtime.  See generated/README.md for the
 * form.
 *
 * Requires: a checked plan.  Provides: the texts of all generated files; the same plan gives the same
 * bytes.
 */
#include "emit.h"
#include "sources.h"
#include "ops.h"
#include "template.h"

#include <ctype.h>
#include <string.h>

/* A constant that fills a SIZES hole: a number of the enum, or a definition of its own. */
typedef struct {
    const char *name; /* as the template knows it */
    const char *text; /* "CI = 16", or a line of C */
    bool number;
} Size;

typedef struct {
    const char *template; /* "conv" */
    const char *key;      /* all sizes as one text */
    const Size *size;
    int nsize;
    const char *name;  /* "k03_conv" */
    const char *users; /* comment: which nodes use it */
    int uses;
} Instance;

typedef struct {
    const Plan *plan;
    Pool *pool;
    Text *out;
    Instance *instance;
    int ninstance;
} Emitter;

struct Constants {
    const Plan *plan;
    const Program *program;
    const Node *node;
    const char *body; /* the template: constants it does not name are left out */
    Size *size;
    int nsize;
    bool array[4]; /* per input of the node: handed over as an array of pointers */
    const char *before, *after;
};

/* ---- constants ---- */

static bool mentions(const char *body, const char *name) {
    size_t length = strlen(name);
    for (const char *s = strstr(body, name); s != NULL; s = strstr(s + 1, name)) {
        bool begins = s == body || !(isalnum((unsigned char)s[-1]) || s[-1] == '_');
        bool ends = !(isalnum((unsigned char)s[length]) || s[length] == '_');
        if (begins && ends)
            return true;
    }
    return false;
}

static void add_size(Constants *c, const char *name, const char *text, bool number) {
    if (mentions(c->body, name))
        PUSH(c->plan->pool, c->size, c->nsize, ((Size){name, text, number}));
}

void constant(Constants *c, const char *name, int64_t value) {
    add_size(c, name, pool_text(c->plan->pool, "%s = %lld", name, (long long)value), true);
}

void constant_real(Constants *c, const char *name, double value) {
    add_size(c, name, pool_text(c->plan->pool, "static const double %s = %.17g;", name, value), false);
}

void constant_extents(Constants *c, const char *prefix, ValueId v) {
    static const char *const letter[AXES] = {"D", "H", "W"};
    const Value *value = &c->program->graph->value[v];
    for (int k = 0; k < AXES; k++)
        constant(c, pool_text(c->plan->pool, "%s%s", prefix, letter[k]),
                 value->per_sample ? shape_extent(value->shape, k) : 1);
}

void constant_channels(Constants *c, const char *name, ValueId v) {
    const Value *value = &c->program->graph->value[v];
    constant(c, name, value->per_sample ? shape_channels(value->shape) : shape_elements(value->shape));
}

static const char *layout_text(const Constants *c, ValueId v) {
    const Value *value = &c->program->graph->value[v];
    const Storage *s = &c->program->storage[v];
    int64_t channels = value->per_sample ? shape_channels(value->shape) : shape_elements(value->shape);
    return pool_text(c->plan->pool, "{%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld}", (long long)channels,
                     (long long)s->block, (long long)s->blocks, (long long)s->origin, (long long)s->sample,
                     (long long)s->plane, (long long)s->depth, (long long)s->row);
}

void constant_layout(Constants *c, const char *name, ValueId v) {
    add_size(c, name, pool_text(c->plan->pool, "static const Layout %s = %s;", name, layout_text(c, v)),
             false);
}

void constant_segments(Constants *c, const char *name, ValueId v) {
    const ValueId *leaf;
    int n = value_leaves(c->program->graph, &v, &leaf);
    for (int k = 0; k < c->node->nin && k < 4; k++)
        c->array[k] |= c->node->in[k] == v;
    constant(c, "SEGMENTS", n);
    const char *layouts = "";
    for (int p = 0; p < n; p++)
        layouts = pool_text(c->plan->pool, "%s%s%s", layouts, p > 0 ? ", " : "", layout_text(c, leaf[p]));
    add_size(c, name, pool_text(c->plan->pool, "static const Layout %s[%d] = {%s};", name, n, layouts),
             false);
}

void call_arguments(Constants *c, const char *before, const char *after) {
    c->before = before;
    c->after = after;
}

int64_t constant_region_elements(const Constants *c) {
    return c->plan->region_elements;
}

const Graph *constants_graph(const Constants *c) {
    return c->program->graph;
}

/* ---- templates -----------------------------------------------------------------------------------------
 */

static const char *folder(const Plan *plan) {
    return plan->options->reference ? "reference" : plan->target->name;
}

/* The part of a template between its marks, without the marks. */
static const char *template_body(const Emitter *e, const char *name) {
    const char *text = template_text(pool_text(e->pool, "%s/%s.c", folder(e->plan), name));
    const char *begin = strstr(text, "/* BEGIN */\n"), *end = strstr(text, "/* END */");
    CHECK(begin != NULL && end != NULL);
    begin += strlen("/* BEGIN */\n");
    return pool_copy(e->pool, begin, (size_t)(end - begin));
}

/* The constants that a function, the text up to END, speaks of: its share of the sizes. */
static void write_sizes(Emitter *e, const Instance *k, const char *function, size_t length) {
    enum { WIDTH = 100 };
    const char *text = pool_copy(e->pool, function, length);
    size_t column = 0;
    for (int i = 0; i < k->nsize; i++) {
        if (!k->size[i].number || !mentions(text, k->size[i].name))
            continue;
        size_t width = strlen(k->size[i].text) + 2;
        bool wrap = column > 0 && column + width > WIDTH;
        text_add(e->out, "%s%s",
                 column == 0 ? "    enum { "
                 : wrap      ? ",\n           "
                             : ", ",
                 k->size[i].text);
        column = column == 0 || wrap ? 11 + width : column + width;
    }
    if (column > 0)
        text_add(e->out, " };\n");
    for (int i = 0; i < k->nsize; i++)
        if (!k->size[i].number && mentions(text, k->size[i].name))
            text_add(e->out, "    %s\n", k->size[i].text);
}

/* Copies the template and fills its holes: identifiers that begin with KERNEL, and the statement SIZES; */
static void write_instance(Emitter *e, const Instance *k) {
    const char *body = template_body(e, k->template), *copied = body;
    for (const char *s = body; *s != '\0'; s++) {
        bool begins = s == body || !(isalnum((unsigned char)s[-1]) || s[-1] == '_');
        if (begins && strncmp(s, "KERNEL", 6) == 0) {
            text_bytes(e->out, copied, (size_t)(s - copied));
            text_add(e->out, "%s", k->name);
            copied = s + 6;
        } else if (begins && strncmp(s, "SIZES;\n", 7) == 0) {
            const char *line = s, *end = strstr(s, "\n}\n");
            CHECK(end != NULL);
            while (line > copied && line[-1] == ' ')
                line--;
            text_bytes(e->out, copied, (size_t)(line - copied));
            write_sizes(e, k, s + 7, (size_t)(end - s - 7));
            copied = s + 7;
        }
    }
    text_add(e->out, "%s", copied);
}

/* ---- instances ------------------------------------------------------------------------------------------
 */

static Constants sizes_of(const Emitter *e, const Program *program, const Node *node,
                          const char *template) {
    Constants c = {.plan = e->plan, .program = program, .node = node, .body = template_body(e, template)};
    c.before = "n";
    c.after = "";
    return c;
}

static Instance *instance_of(Emitter *e, const char *template, const Constants *c) {
    const char *key = "";
    for (int i = 0; i < c->nsize; i++)
        key = pool_text(e->pool, "%s%s;", key, c->size[i].text);
    for (int i = 0; i < e->ninstance; i++)
        if (strcmp(e->instance[i].template, template) == 0 && strcmp(e->instance[i].key, key) == 0)
            return &e->instance[i];
    Instance new = {.template = template, .key = key, .size = c->size, .nsize = c->nsize, .users = ""};
    new.name = pool_text(e->pool, "k%02d_%s", e->ninstance, template);
    PUSH(e->pool, e->instance, e->ninstance, new);
    return &e->instance[e->ninstance - 1];
}

static void used_by(Emitter *e, Instance *instance, const Program *program, const Node *node) {
    if (instance->uses++ < 3)
        instance->users = pool_text(e->pool, "%s%s%s of %s", instance->users,
                                    instance->uses > 1 ? ", " : "", node->name, program->name);
}

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
    Constants c = sizes_of(e, program, node, "zero_halo");
    constant_channels(&c, "C", v);
    constant_extents(&c, "", v);
    constant_layout(&c, "Y", v);
    return instance_of(e, "zero_halo", &c);
}

/* ---- calls ----------------------------------------------------------------------------------------------
 */

static const char *c_type(const Plan *plan, Type type) {
    if (type == plan->options->real)
        return "real";
    static const char *const name[] = {"float", "double", "uint8_t", "uint16_t", "int32_t"};
    return name[type];
}

static const char *pointer(const Emitter *e, const Program *program, ValueId v) {
    if (v < 0)
        return "NULL";
    const Value *value = &program->graph->value[v];
    if (value->class == CLASS_STAGING)
        return pool_text(e->pool, "INPUT(%s, %d, %lld)", c_type(e->plan, value->type), value->input,
                         (long long)program->storage[v].sample);
    const Buffer *buffer = &e->plan->buffer[program->buffer_of[v]];
    return pool_text(e->pool, "AT(%s, %lld)", c_type(e->plan, value->type), (long long)buffer->offset);
}

static void separate(Text *call, bool *first) {
    text_add(call, *first ? "" : ", ");
    *first = false;
}

static void add_input(const Emitter *e, Text *call, const Constants *c, int k) {
    const ValueId *leaf;
    int n = value_leaves(c->program->graph, &c->node->in[k], &leaf);
    if (!c->array[k]) {
        text_add(call, "%s", pointer(e, c->program, n == 0 ? -1 : leaf[0]));
        return;
    }
    text_add(call, "(const %s *const[]){", c_type(e->plan, c->program->graph->value[leaf[0]].type));
    for (int p = 0; p < n; p++)
        text_add(call, "%s%s", p > 0 ? ", " : "", pointer(e, c->program, leaf[p]));
    text_add(call, "}");
}

static const char *call_text(const Emitter *e, const Constants *c) {
    Text call = text_new(e->pool);
    bool first = true;
    if (*c->before != '\0') {
        separate(&call, &first);
        text_add(&call, "%s", c->before);
    }
    for (int k = 0; k < c->node->nout; k++) {
        separate(&call, &first);
        text_add(&call, "%s", pointer(e, c->program, c->node->out[k]));
    }
    for (int k = 0; k < c->node->nin; k++) {
        separate(&call, &first);
        add_input(e, &call, c, k);
    }
    if (*c->after != '\0') {
        separate(&call, &first);
        text_add(&call, "%s", c->after);
    }
    return call.bytes;
}

/* "[n,16,256,256]" */
static const char *shape_comment(const Emitter *e, const Program *program, ValueId v) {
    const Value *value = &program->graph->value[v];
    const char *text = value->per_sample ? "[n" : "[";
    for (int k = 0; k < value->shape.rank; k++)
        text = pool_text(e->pool, "%s%s%lld", text, k > 0 || value->per_sample ? "," : "",
                         (long long)value->shape.dim[k]);
    return pool_text(e->pool, "%s]", text);
}

static void step_comment(Emitter *e, const Program *program, const Node *node, int position) {
    const char *operator= op_table[node->op].name;
    Text line = text_new(e->pool);
    text_add(&line, "/* %d: %s", position, operator);
    if (strcmp(operator, node->name) != 0)
        text_add(&line, " of %s", node->name);
    if (node->place.line > 0)
        text_add(&line, " (%s:%d)", e->plan->model->source, node_line(node).line);
    text_add(&line, ":");
    if (node->op == OP_ADAM || node->op == OP_SGD) {
        text_line(e->out, "%s all parameters */", line.bytes);
        return;
    }
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0)
            text_add(&line, " %s%s", program->graph->value[node->in[k]].name,
                     shape_comment(e, program, node->in[k]));
    text_add(&line, " ->");
    for (int k = 0; k < node->nout; k++)
        if (node->out[k] >= 0)
            text_add(&line, " %s%s", program->graph->value[node->out[k]].name,
                     shape_comment(e, program, node->out[k]));
    text_add(&line, " */");
    text_wrapped(e->out, line.bytes);
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
            text_line(e->out, "zero_tail(%s, %lld, %lld);", pointer(e, program, v), (long long)used,
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
    Constants c = sizes_of(e, program, node, template);
    op_table[node->op].sizes(&c, node);
    Instance *instance = instance_of(e, template, &c);
    used_by(e, instance, program, node);
    const char *name = instance->name;
    step_comment(e, program, node, position);
    if (e->plan->options->poison)
        emit_operands(e, program, node, position);
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        if (v < 0 || !has_halo(program, v) || e->plan->buffer[program->buffer_of[v]].same >= 0)
            continue;
        Instance *halo = halo_instance(e, program, node, v);
        used_by(e, halo, program, node);
        text_line(e->out, "%s(n, %s);", halo->name, pointer(e, program, v));
    }
    emit_zero_padding(e, program, node);
    text_wrapped(e->out, pool_text(e->pool, "%s(%s);", name, call_text(e, &c)));
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

static void emit_head(const Plan *plan, Text *out, const char *what) {
    text_line(out, "/* %s - %s", what, plan->model->name);
    text_line(out, " *");
    text_line(out, " * Made by unetc from %s (%s) with: %s", plan->model->source, plan->source_hash,
              *plan->options->command != '\0' ? plan->options->command : "no options");
    text_line(out, " * Do not edit: change the .unet file and compile again. */");
}

static void emit_source(const Plan *plan, Text *out) {
    Emitter e = {.plan = plan, .pool = plan->pool, .out = out};
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
    text_line(out, "#if UNET_RUNTIME_VERSION != %d", 1);
    text_line(out, "#error \"made for another version of the runtime: compile the .unet file again\"");
    text_line(out, "#endif");
    text_line(out, "#define UNET_REAL %s", plan->options->real == TYPE_F64 ? "double" : "float");
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
    for (int i = 0; i < e.ninstance; i++) {
        const Instance *k = &e.instance[i];
        text_blank(out);
        text_line(out, "/* %s: %s%s */", k->template, k->users,
                  k->uses > 3 ? pool_text(e.pool, ", %d more", k->uses - 3) : "");
        write_instance(&e, k);
    }
    text_bytes(out, programs.bytes, programs.length);
    emit_model(plan, out);
}

void emit(const Plan *plan, Sources *sources) {
    sources->source = text_new(plan->pool);
    emit_source(plan, &sources->source);
    emit_files(plan, sources);
}
