/* emit.c - from the plan to generated code: what all targets share.
 *
 * A generated source is: a head that says where it came from, the prologue of the templates, one instance
 * of a kernel for each distinct set of sizes, one function a program that lists the calls, and the tables
 * of emit_model.c.  Everything else is in the templates or in the runtime.  See generated/README.md for the
 * form.
 *
 * Requires: a checked plan.  Provides: the texts of all generated files; the same plan gives the same
 * bytes.
 */
#include "emitter.h"
#include "ops.h"
#include "template.h"
#include "unet/model.h"

#include <ctype.h>
#include <string.h>

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

/* The first constant of a name holds. */
static void add_size(Constants *c, const char *name, const char *text, bool number) {
    bool known = false;
    for (int i = 0; i < c->nsize; i++)
        known |= strcmp(c->size[i].name, name) == 0;
    if (!known && mentions(c->body, name))
        PUSH(c->emitter->pool, c->size, c->nsize, ((Size){name, text, number}));
}

void constant(Constants *c, const char *name, int64_t value) {
    add_size(c, name, pool_text(c->emitter->pool, "%s = %lld", name, (long long)value), true);
}

void constant_definition(Constants *c, const char *name, const char *type, const char *brackets,
                         const char *value) {
    add_size(c, name,
             pool_text(c->emitter->pool, "%s %s %s%s = %s;", c->emitter->dialect->constant, type, name,
                       brackets, value),
             false);
}

void constant_real(Constants *c, const char *name, double value) {
    constant_definition(c, name, "double", "", pool_text(c->emitter->pool, "%.17g", value));
}

void constant_extents(Constants *c, const char *prefix, ValueId v) {
    static const char *const letter[AXES] = {"D", "H", "W"};
    const Value *value = &c->program->graph->value[v];
    for (int k = 0; k < AXES; k++)
        constant(c, pool_text(c->emitter->pool, "%s%s", prefix, letter[k]),
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
    return pool_text(c->emitter->pool, "{%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld}",
                     (long long)channels, (long long)s->block, (long long)s->blocks, (long long)s->origin,
                     (long long)s->sample, (long long)s->plane, (long long)s->depth, (long long)s->row);
}

void constant_layout(Constants *c, const char *name, ValueId v) {
    constant_definition(c, name, "Layout", "", layout_text(c, v));
}

void constant_segments(Constants *c, const char *name, ValueId v) {
    const ValueId *leaf;
    int n = value_leaves(c->program->graph, &v, &leaf);
    for (int k = 0; k < c->node->nin && k < MOST_INPUTS; k++)
        c->array[k] |= c->node->in[k] == v;
    constant(c, "SEGMENTS", n);
    const char *layouts = "";
    for (int p = 0; p < n; p++)
        layouts =
            pool_text(c->emitter->pool, "%s%s%s", layouts, p > 0 ? ", " : "", layout_text(c, leaf[p]));
    constant_definition(c, name, "Layout", pool_text(c->emitter->pool, "[%d]", n),
                        pool_text(c->emitter->pool, "{%s}", layouts));
}

void constant_staged(Constants *c, const char *name, ValueId v) {
    const Value *value = &c->program->graph->value[v];
    constant(c, name, value->class != CLASS_STAGING ? 0 : value->type == TYPE_UNORM8 ? 2 : 1);
}

void call_arguments(Constants *c, const char *before, const char *after) {
    c->before = before;
    c->after = after;
}

int64_t constant_region_elements(const Constants *c) {
    return c->emitter->plan->region_elements;
}

const Graph *constants_graph(const Constants *c) {
    return c->program->graph;
}

/* ---- templates -----------------------------------------------------------------------------------------
 */

const char *template_part(Pool *pool, const char *file) {
    const char *text = template_text(file);
    const char *begin = strstr(text, "/* BEGIN */\n"), *end = strstr(text, "/* END */");
    CHECK(begin != NULL && end != NULL);
    begin += strlen("/* BEGIN */\n");
    return pool_copy(pool, begin, (size_t)(end - begin));
}

const char *template_body(const Emitter *e, const char *name) {
    return template_part(e->pool,
                         pool_text(e->pool, "%s/%s%s", e->dialect->folder, name, e->dialect->suffix));
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

Constants constants_new(const Emitter *e, const Program *program, const Node *node, const char *template) {
    return (Constants){.emitter = e,
                       .program = program,
                       .node = node,
                       .body = template_body(e, template),
                       .before = "n",
                       .after = ""};
}

static Instance *find_instance(Emitter *e, const char *template, const Constants *c) {
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

Instance *instance_for(Emitter *e, const char *template, const Constants *c) {
    Instance *instance = find_instance(e, template, c);
    if (instance->uses++ < 3)
        instance->users = pool_text(e->pool, "%s%s%s of %s", instance->users,
                                    instance->uses > 1 ? ", " : "", c->node->name, c->program->name);
    return instance;
}

const char *instance_declaration(const Emitter *e, const Instance *k) {
    static const char mark[] = "LAUNCHER void KERNEL(";
    const char *body = template_body(e, k->template), *begin = strstr(body, mark);
    CHECK(begin != NULL);
    begin += strlen(mark);
    const char *end = strstr(begin, ") {");
    CHECK(end != NULL);
    Text text = text_new(e->pool);
    text_add(&text, "void %s(", k->name);
    while (begin < end) { /* lines of the template stay lines, indented as all that goes on */
        size_t taken = strcspn(begin, "\n");
        bool last = begin + taken >= end;
        text_add(&text, "%.*s%s", (int)(last ? end - begin : (ptrdiff_t)taken), begin,
                 last ? "" : "\n    ");
        begin += taken;
        begin += strspn(begin, "\n ");
    }
    text_add(&text, ");");
    return text.bytes;
}

void emit_instance(Emitter *e, const Instance *k) {
    text_blank(e->out);
    text_line(e->out, "/* %s: %s%s */", k->template, k->users,
              k->uses > 3 ? pool_text(e->pool, ", %d more", k->uses - 3) : "");
    write_instance(e, k);
}

/* ---- calls ----------------------------------------------------------------------------------------------
 */

static const char *c_type(const Plan *plan, Type type) {
    if (type == plan->options->real)
        return "real";
    static const char *const name[] = {"float",   "double", "uint8_t", "uint16_t",
                                       "int32_t", "stored", "stored",  "uint8_t"};
    return name[type];
}

/* "B012_enc1_0": a name that C takes for the offset of a buffer. */
const char *offset_name(const Emitter *e, int buffer) {
    char *name = pool_copy(e->pool, e->plan->buffer[buffer].name, strlen(e->plan->buffer[buffer].name));
    for (char *s = name; *s != '\0'; s++)
        if (!isalnum((unsigned char)*s))
            *s = '_';
    return pool_text(e->pool, "B%03d_%s", buffer, name);
}

static const char *offset_text(const Emitter *e, int buffer) {
    return e->dialect->names_offsets
               ? offset_name(e, buffer)
               : pool_text(e->pool, "%lld", (long long)e->plan->buffer[buffer].offset);
}

const char *pointer_text(const Emitter *e, const Program *program, ValueId v) {
    if (v < 0)
        return "NULL";
    const Value *value = &program->graph->value[v];
    const char *type = c_type(e->plan, value->type);
    int buffer = program->buffer_of[v];
    if (buffer < 0 && value->class == CLASS_STAGING)
        return pool_text(e->pool, "INPUT(%s, %d, %lld)", type, value->input,
                         (long long)program->storage[v].sample);
    return pool_text(e->pool, "AT(%s, %s)", type, offset_text(e, buffer));
}

static void separate(Text *call, bool *first) {
    text_add(call, *first ? "" : ", ");
    *first = false;
}

static void add_input(const Emitter *e, Text *call, const Constants *c, int k) {
    const ValueId *leaf;
    int n = value_leaves(c->program->graph, &c->node->in[k], &leaf);
    if (!c->array[k]) {
        text_add(call, "%s", pointer_text(e, c->program, n == 0 ? -1 : leaf[0]));
        return;
    }
    text_add(call, "(const %s *const[]){", c_type(e->plan, c->program->graph->value[leaf[0]].type));
    for (int p = 0; p < n; p++)
        text_add(call, "%s%s", p > 0 ? ", " : "", pointer_text(e, c->program, leaf[p]));
    text_add(call, "}");
}

const char *call_text(const Emitter *e, const Constants *c, const char *first_argument, const char *last) {
    CHECK(c->node->nin <= MOST_INPUTS);
    Text call = text_new(e->pool);
    bool first = true;
    if (*first_argument != '\0') {
        separate(&call, &first);
        text_add(&call, "%s", first_argument);
    }
    for (int k = 0; k < c->node->nout; k++) {
        separate(&call, &first);
        text_add(&call, "%s", pointer_text(e, c->program, c->node->out[k]));
    }
    for (int k = 0; k < c->node->nin; k++) {
        separate(&call, &first);
        add_input(e, &call, c, k);
    }
    if (*last != '\0') {
        separate(&call, &first);
        text_add(&call, "%s", last);
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

const char *step_name(Emitter *e, const Node *node) {
    const char *operator= op_table[node->op].name;
    return strcmp(operator, node->name) == 0 ? operator
        : pool_text(e->pool, "%s of %s", operator, node->name);
}

void emit_step_comment(Emitter *e, const Program *program, const Node *node, int position) {
    Text line = text_new(e->pool);
    text_add(&line, "/* %d: %s", position, step_name(e, node));
    if (node->place.line > 0)
        text_add(&line, " (%s:%d)", e->plan->model->source, node_line(node).line);
    text_add(&line, ":");
    if (node->op == OP_ADAM || node->op == OP_SGD || node->op == OP_LOSS_SCALE) {
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

/* ---- files ---- */

void emit_head(const Plan *plan, Text *out, const char *what) {
    text_line(out, "/* %s - %s", what, plan->model->name);
    text_line(out, " *");
    text_line(out, " * Made by unetc from %s (%s) with: %s", plan->model->source, plan->source_hash,
              *plan->options->command != '\0' ? plan->options->command : "no options");
    text_line(out, " * Do not edit: change the .unet file and compile again. */");
}

void emit_version_check(Text *out) {
    text_line(out, "#if UNET_RUNTIME_VERSION != %d", UNET_RUNTIME_VERSION);
    text_line(out, "#error \"made for another version of the runtime: compile the .unet file again\"");
    text_line(out, "#endif");
}
