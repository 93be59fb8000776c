/* kernel_constants.c - the sizes of a kernel: what the rules of the operators say of a node, as far as the
 * body of its template reads it.
 *
 * Requires: a node of a program whose layout is known.  Provides: named numbers and definitions.  A body
 * that does not read a number, or a field of a layout, gets none (a field: 0), so that steps which differ
 * only there share an instance.
 */
#include "emit/emit.h"
#include "unet/codes.h"

#include <ctype.h>
#include <string.h>

/* ---- what a body reads ---- */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The next place at or behind TEXT where NAME stands as a word, or NULL. */
static const char *next_mention(const char *body, const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *s = strstr(text, name); s != NULL; s = strstr(s + 1, name))
        if ((s == body || !is_word(s[-1])) && !is_word(s[length]))
            return s;
    return NULL;
}

bool mentions(const char *body, const char *name) {
    return next_mention(body, body, name) != NULL;
}

static const char *const layout_field[LAYOUT_FIELDS] = {"channels", "block", "blocks", "origin", "sample",
                                                        "plane",    "depth", "row",    "ring"};
enum { FIELD_BLOCK = 1 << 1, FIELD_BLOCKS = 1 << 2, ALL_FIELDS = (1 << LAYOUT_FIELDS) - 1 };

/* Functions of the prologues that read no other fields of a layout than how its channels are blocked. */
static bool reads_blocks_only(const char *body, const char *mention) {
    static const char *const function[] = {"vectors(", "lanes(", "stored_channels("};
    size_t before = (size_t)(mention - body);
    if (before > 0 && mention[-1] == '&')
        before--;
    for (size_t k = 0; k < sizeof function / sizeof *function; k++) {
        size_t length = strlen(function[k]);
        if (before > length && strncmp(body + before - length, function[k], length) == 0 &&
            !is_word(body[before - length - 1]))
            return true;
    }
    return false;
}

/* The fields that are read where a layout is mentioned: NAME.field, NAME[..].field; else all. */
static unsigned fields_at(const char *body, const char *mention, size_t length) {
    const char *s = mention + length;
    if (reads_blocks_only(body, mention))
        return FIELD_BLOCK | FIELD_BLOCKS;
    if (*s == '[')
        s = strchr(s, ']') + 1;
    for (int k = 0; *s == '.' && k < LAYOUT_FIELDS; k++)
        if (strncmp(s + 1, layout_field[k], strlen(layout_field[k])) == 0 &&
            !is_word(s[1 + strlen(layout_field[k])]))
            return 1U << k;
    return ALL_FIELDS;
}

static unsigned fields_read(const char *body, const char *name) {
    unsigned fields = 0;
    for (const char *s = next_mention(body, body, name); s != NULL; s = next_mention(body, s + 1, name))
        fields |= fields_at(body, s, strlen(name));
    return fields;
}

/* ---- sizes ---- */

Constants constants_new(const Emitter *e, const Program *program, const Node *node, const char *template) {
    return (Constants){.emitter = e,
                       .program = program,
                       .node = node,
                       .body = template_body(e, template),
                       .before = "n",
                       .after = "",
                       .behind = "",
                       .rows_of = -1};
}

/* The first constant of a name holds. */
static void add_size(Constants *c, Size size) {
    bool known = false;
    for (int i = 0; i < c->nsize; i++)
        known |= strcmp(c->size[i].name, size.name) == 0;
    if (!known && mentions(c->body, size.name))
        PUSH(c->emitter->pool, c->size, c->nsize, size);
}

void constant(Constants *c, const char *name, int64_t value) {
    add_size(c, (Size){.name = name,
                       .count = -1,
                       .number = value,
                       .value = pool_text(c->emitter->pool, "%lld", (long long)value)});
}

void constant_definition(Constants *c, const char *name, const char *type, int count, const char *value) {
    add_size(c, (Size){.name = name, .type = type, .count = count, .value = value});
}

void constant_real(Constants *c, const char *name, double value) {
    constant_definition(c, name, "double", -1, pool_text(c->emitter->pool, "%.17g", value));
}

void constant_reals(Constants *c, const char *name, const double *value, int count) {
    Text list = text_new(c->emitter->pool);
    text_add(&list, "{%.17g", count > 0 ? value[0] : 0);
    for (int i = 1; i < count; i++)
        text_add(&list, ", %.17g", value[i]);
    text_add(&list, "}");
    constant_definition(c, name, "double", count > 0 ? count : 1, list.bytes);
}

void constant_integers(Constants *c, const char *name, const int64_t *value, int count) {
    Text list = text_new(c->emitter->pool);
    text_add(&list, "{%lld", count > 0 ? (long long)value[0] : 0);
    for (int i = 1; i < count; i++)
        text_add(&list, ", %lld", (long long)value[i]);
    text_add(&list, "}");
    constant_definition(c, name, "long", count > 0 ? count : 1, list.bytes);
}

/* In a program for images of any height: so many rows for each unit. */
static void constant_height(Constants *c, const char *name, ValueId v) {
    const int64_t rows = rows_at(c->program, v, 1);
    add_size(c, (Size){.name = name,
                       .count = -1,
                       .number = rows,
                       .per_unit = true,
                       .value = times_units(c->emitter->pool, rows)});
}

void constant_extents(Constants *c, const char *prefix, ValueId v) {
    static const char *const letter[AXES] = {"D", "H", "W"};
    const Value *value = &c->program->graph->value[v];
    for (int k = 0; k < AXES; k++) {
        const char *name = pool_text(c->emitter->pool, "%s%s", prefix, letter[k]);
        if (k == 1 && c->program->units > 0 && value->per_sample)
            constant_height(c, name, v);
        else
            constant(c, name, value->per_sample ? shape_extent(value->shape, k) : 1);
    }
}

static int64_t channels_of(const Value *value) {
    return value->per_sample ? shape_channels(value->shape) : shape_elements(value->shape);
}

void constant_channels(Constants *c, const char *name, ValueId v) {
    constant(c, name, channels_of(&c->program->graph->value[v]));
}

void constant_like(Constants *c, const char *name, ValueId v) {
    const Layout *layout = &c->program->layout[v];
    const int64_t blocks = layout->blocks == 1 ? 1 : layout->blocks % 2 == 0 ? 2 : 3;
    constant(c, name, blocks * layout->block);
}

/* A tensor that all samples share is the same for each of them. */
static const char *layout_text(const Constants *c, ValueId v, unsigned fields) {
    const Layout *s = &c->program->layout[v];
    const Value *value = &c->program->graph->value[v];
    const int64_t number[LAYOUT_FIELDS] = {
        channels_of(value), s->block, s->blocks, s->origin, value->per_sample ? s->sample : 0,
        s->plane,           s->depth, s->row,    s->ring};
    const char *text = "";
    for (int k = 0; k < LAYOUT_FIELDS; k++)
        text = pool_text(c->emitter->pool, "%s%s%lld", text, k > 0 ? ", " : "",
                         fields >> k & 1 ? (long long)number[k] : 0LL);
    return pool_text(c->emitter->pool, "{%s}", text);
}

void constant_layout(Constants *c, const char *name, ValueId v) {
    add_size(c, (Size){.name = name,
                       .type = "Layout",
                       .count = -1,
                       .value = layout_text(c, v, fields_read(c->body, name)),
                       .block = c->program->layout[v].block,
                       .ring = c->program->layout[v].ring != 0});
}

void constant_segments(Constants *c, const char *name, ValueId v) {
    const ValueId *segment;
    int n = value_segments(c->program->graph, &v, &segment);
    unsigned fields = fields_read(c->body, name);
    for (int k = 0; k < c->node->nin && k < MAX_INPUTS; k++)
        c->array[k] |= c->node->in[k] == v;
    constant(c, "SEGMENTS", n);
    constant(c, "SINGLE", n == 1);
    Text layouts = text_new(c->emitter->pool);
    text_add(&layouts, "{");
    for (int p = 0; p < n; p++)
        text_add(&layouts, "%s%s", p > 0 ? ", " : "", layout_text(c, segment[p], fields));
    text_add(&layouts, "}");
    add_size(c, (Size){.name = name,
                       .type = "Layout",
                       .count = n,
                       .value = layouts.bytes,
                       .block = n == 1 ? c->program->layout[*segment].block : 0,
                       .ring = n == 1 && c->program->layout[*segment].ring != 0});
}

void constant_staged(Constants *c, const char *name, ValueId v) {
    const Value *value = &c->program->graph->value[v];
    constant(c, name,
             value->class != CLASS_STAGING ? 0
             : value->type == TYPE_UNORM8  ? 2
             : value->type == TYPE_UNORM16 ? 3
                                           : 1);
}

/* ---- arguments ---- */

void call_arguments(Constants *c, const char *before, const char *after) {
    c->before = before;
    c->after = after;
}

void call_rows(Constants *c, ValueId v) {
    if (mentions(c->body, "Rows"))
        c->rows_of = v;
}

void call_number(Constants *c, int64_t number) {
    c->behind = pool_text(c->emitter->pool, "%lld", (long long)number);
}

/* ---- questions of the rules ---- */

int64_t constant_region_elements(const Constants *c) {
    return c->emitter->plan->region_elements;
}

/* Returns how many elements V lies behind FIRST in the arena. */
static int64_t elements_behind(const Constants *c, ValueId first, ValueId v) {
    const Buffer *buffer = c->emitter->plan->buffer;
    const int *buffer_of = c->program->buffer_of;
    return (buffer[buffer_of[v]].offset - buffer[buffer_of[first]].offset) /
           type_bytes(c->program->graph->value[v].type);
}

void constant_runs(Constants *c, ValueId region) {
    const Graph *g = c->program->graph;
    const ValueId *segment;
    const int n = value_segments(g, &region, &segment);
    Text runs = text_new(c->emitter->pool), places = text_new(c->emitter->pool);
    int64_t begin = 0;
    for (int i = 0; i < n; i++) {
        const int64_t end = begin + shape_elements(g->value[segment[i]].shape),
                      at = elements_behind(c, segment[0], segment[i]) - begin;
        text_add(&runs, "%s%lld, %lld", i > 0 ? ", " : "{", (long long)begin, (long long)end);
        text_add(&places, "%s%lld", i > 0 ? ", " : "{", (long long)at);
        begin += constant_stored_elements(c, &segment[i], 1);
    }
    text_add(&runs, "}");
    text_add(&places, "}");
    constant(c, "RUNS", n);
    constant_definition(c, "RUN", "long", 2 * n, runs.bytes);
    constant_definition(c, "AT", "long", n, places.bytes);
}

void constant_coded(Constants *c, ValueId parameters, ValueId state) {
    const Graph *g = c->program->graph;
    const ValueId *parameter, *kept;
    const int n = value_segments(g, &parameters, &parameter), states = value_segments(g, &state, &kept);
    Text tensors = text_new(c->emitter->pool);
    int64_t block = 0, begin = 0, byte = 0;
    int count = 0;
    text_add(&tensors, "{");
    for (; count < n && states == n && g->value[kept[count]].type == TYPE_U8; count++) {
        const int64_t elements = shape_elements(g->value[parameter[count]].shape);
        text_add(&tensors, "%lld, %lld, %lld, %lld, ", (long long)block, (long long)begin,
                 (long long)elements, (long long)byte);
        block += unet_code_blocks(elements);
        begin += constant_stored_elements(c, &parameter[count], 1);
        byte += c->program->layout[kept[count]].bytes;
    }
    text_add(&tensors, "%lld, %lld, 0, %lld}", (long long)block, (long long)begin, (long long)byte);
    constant(c, "TENSORS", count);
    constant_definition(c, "TENSOR", "long", 4 * count + 4, tensors.bytes);
}

int64_t constant_stored_elements(const Constants *c, const ValueId *v, int count) {
    int64_t elements = 0;
    for (int i = 0; i < count; i++)
        elements += c->program->layout[v[i]].bytes / type_bytes(c->program->graph->value[v[i]].type);
    return elements;
}

int64_t constant_group(const Constants *c) {
    return c->program->group;
}

int constant_bucket(const Constants *c, ValueId gradients, int64_t *place) {
    const int number = bucket_number(c->program, gradients);
    *place = number < 0 ? 0 : c->program->bucket[number].place;
    return number;
}

bool constant_checks(const Constants *c) {
    return c->emitter->plan->options->poison;
}

const TrainSection *constant_training(const Constants *c) {
    return &c->program->model->train;
}

const Graph *constants_graph(const Constants *c) {
    return c->program->graph;
}
