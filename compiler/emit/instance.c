/* instance.c - kernels: from templates and sizes to functions.
 *
 * A template has holes: identifiers that begin with KERNEL, and the statement `SIZES;` at the head of a
 * function (see templates/README.md).  How they are filled is the target's choice, a Form:
 *
 *     FORM_INCLUDED   KERNEL and SIZES become macros.  The body stands once, in a file that includes itself
 *                     for each set of sizes; a compiler sees an instance as if it had been typed in.
 *     FORM_COPIED     the body is copied for each set of sizes.
 *     FORM_CALLED     the body becomes one function, which is handed its sizes.
 *
 * Requires: sizes of all steps (kernel_constants.c).  Provides: one instance for each distinct set, and
 * the text of the functions.
 */
#include "emit/emit.h"
#include "emit/template.h"
#include "ir/ops.h"
#include "ir/target.h"

#include <ctype.h>
#include <string.h>

/* ---- templates ---- */

static const char begin_mark[] = "/* BEGIN */\n", end_mark[] = "/* END */";

const char *template_part(Pool *pool, const char *file) {
    const char *text = template_text(file);
    const char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
    CHECK(begin != NULL && end != NULL);
    begin += strlen(begin_mark);
    return pool_copy(pool, begin, (size_t)(end - begin));
}

static const char *template_file(const Emitter *e, const char *name) {
    return pool_text(e->pool, "%s/%s%s", e->dialect->folder, name, e->dialect->suffix);
}

const char *template_body(const Emitter *e, const char *name) {
    return template_part(e->pool, template_file(e, name));
}

const char *template_of(const Emitter *e, const Node *node) {
    return kernel_name(e->plan->target, node);
}

/* The file that TEMPLATE includes: the prologue, which one without an include has, too, or functions that
 * it shares with others. */
static const char *included_file(const Emitter *e, const char *template) {
    static const char include[] = "#include \"";
    const char *text = template_text(template_file(e, template)), *name = strstr(text, include);
    if (name == NULL)
        return "prologue";
    name += strlen(include);
    return pool_copy(e->pool, name, strcspn(name, "\""));
}

/* The template of functions that TEMPLATE shares with others, which it includes, or NULL: none but the
 * prologue. */
static const char *shared_template(const Emitter *e, const char *template) {
    const char *file = included_file(e, template), *name = pool_copy(e->pool, file, strcspn(file, "."));
    return strcmp(name, "prologue") == 0 ? NULL : name;
}

const char *shared_text(const Emitter *e) {
    Table seen = {0};
    const char *text = "";
    for (int i = 0; i < e->ninstance; i++) {
        const char *template = e->instance[i].template, *file = included_file(e, template);
        if (shared_template(e, template) == NULL || table_find(&seen, file) >= 0)
            continue;
        table_set(e->pool, &seen, file, 1);
        text = pool_text(e->pool, "%s\n%s", text,
                         template_part(e->pool, pool_text(e->pool, "%s/%s", e->dialect->folder, file)));
    }
    return text;
}

const char *prologue_text(const Emitter *e) {
    if (e->dialect->form != FORM_INCLUDED)
        return pool_text(e->pool, "%s%s", template_body(e, "prologue"), shared_text(e));
    const bool half = type_bytes(e->plan->options->stored) == 2;
    const bool pairs = e->plan->options->stored == TYPE_BF16 || e->plan->options->conv == CONV_FAST;
    return pool_text(e->pool, "%s\n%s\n%s%s\n%s", template_body(e, "types"),
                     template_body(e, half ? "stored_16" : "stored_32"),
                     pairs ? template_body(e, "pairs") : "", template_body(e, "products"),
                     template_body(e, "prologue"));
}

/* What the comment at the head of a template says of it, behind "conv.c - ". */
static const char *template_about(const Emitter *e, const char *name) {
    const char *text = template_text(template_file(e, name)), *begin = strstr(text, " - "), *end;
    CHECK(begin != NULL);
    begin += 3;
    end = strstr(begin, " */");
    CHECK(end != NULL);
    return pool_copy(e->pool, begin, (size_t)(end - begin));
}

/* ---- instances ---- */

static const char *brackets(const Emitter *e, const Size *size) {
    return size->count < 0 ? "" : pool_text(e->pool, "[%d]", size->count);
}

/* Of images of any height: a height, as a kernel finds it that is told the height of what it computes, so
 * many times as large. */
static const char *height_text(Pool *pool, int64_t rows, int64_t computed) {
    if (rows == computed)
        return "rows.height";
    if (rows % computed == 0)
        return pool_text(pool, "(rows.height * %lld)", (long long)(rows / computed));
    return pool_text(pool, "(rows.height / %lld * %lld)", (long long)computed, (long long)rows);
}

/* The sizes, with values as this dialect writes them. */
static Size *written_sizes(const Emitter *e, const Constants *c) {
    Size *size = NEW_ARRAY(e->pool, Size, c->nsize);
    for (int i = 0; i < c->nsize; i++) {
        size[i] = c->size[i];
        if (size[i].per_unit && e->dialect->form == FORM_INCLUDED) {
            CHECK(c->rows_of >= 0);
            size[i].value = height_text(e->pool, size[i].number, rows_at(c->program, c->rows_of, 1));
        }
    }
    return size;
}

static const char *key_of(const Emitter *e, const Size *size, int count) {
    const char *key = "";
    for (int i = 0; i < count; i++)
        key = pool_text(e->pool, "%s%s = %s;", key, size[i].name, size[i].value);
    return key;
}

static const char *instance_name(const Emitter *e, const char *template, int of_template) {
    const char *name = pool_text(e->pool, "%s_%d", template, of_template);
    return e->dialect->form == FORM_CALLED ? name : pool_text(e->pool, "%s_%s", e->plan->model->name, name);
}

static const char *kept(const Emitter *e, const char *text) {
    return text == NULL ? NULL : pool_copy(e->keeps, text, strlen(text));
}

/* SIZE, which goes with the step, as an instance has it. */
static const Size *kept_sizes(const Emitter *e, const Size *size, int count) {
    Size *copy = NEW_ARRAY(e->keeps, Size, count);
    for (int i = 0; i < count; i++) {
        copy[i] = size[i];
        copy[i].name = kept(e, size[i].name);
        copy[i].type = kept(e, size[i].type);
        copy[i].value = kept(e, size[i].value);
    }
    return copy;
}

static Instance *find_instance(Emitter *e, const char *template, const Constants *c) {
    const Size *size = written_sizes(e, c);
    const char *key = pool_text(e->pool, "%s: %s", template, key_of(e, size, c->nsize));
    const int known = table_find(&e->instance_of, key);
    if (known >= 0)
        return &e->instance[known];
    const int of_template = table_find(&e->last_of, template) + 1;
    Instance new = {.template = template,
                    .of_template = of_template,
                    .size = kept_sizes(e, size, c->nsize),
                    .nsize = c->nsize,
                    .name = kept(e, instance_name(e, template, of_template)),
                    .users = "",
                    .shapes = kept(e, shapes_text(e->pool, c->program, c->node))};
    table_set(e->keeps, &e->instance_of, kept(e, key), e->ninstance);
    table_set(e->keeps, &e->last_of, template, of_template);
    PUSH(e->keeps, e->instance, e->ninstance, new);
    return &e->instance[e->ninstance - 1];
}

const Instance *instance_for(Emitter *e, const char *template, const Constants *c) {
    Instance *instance = find_instance(e, template, c);
    if (instance->uses++ < 3)
        instance->users = pool_text(e->keeps, "%s%s%s of %s", instance->users,
                                    instance->uses > 1 ? ", " : "", c->node->name, c->program->name);
    return instance;
}

bool is_first(const Emitter *e, int instance) {
    return e->instance[instance].of_template == 0;
}

/* "conv: enc1.0 of train, enc1.0 of predict: x[n,3,64,64] -> y[n,16,64,64]" */
static void write_comment(const Emitter *e, const Instance *k, Text *out) {
    const char *more = k->uses > 3 ? pool_text(e->pool, ", %d more", k->uses - 3) : "";
    text_blank(out);
    text_comment(out, pool_text(e->pool, "%s: %s%s:%s", k->template, k->users, more, k->shapes));
}

/* ---- bodies ---- */

/* The length of the identifier at S. */
static size_t word_length(const char *s) {
    size_t length = 0;
    while (isalnum((unsigned char)s[length]) || s[length] == '_')
        length++;
    return length;
}

/* Is S, in BODY, the beginning of a hole whose text begins with WORD? */
static bool hole_begins(const char *body, const char *s, const char *word) {
    bool begins = s == body || !(isalnum((unsigned char)s[-1]) || s[-1] == '_');
    return begins && strncmp(s, word, strlen(word)) == 0;
}

/* Fills a hole that begins at S: writes its text and returns what follows it. */
typedef const char *FillHole(const Emitter *e, const Instance *k, Text *out, const char *body,
                             const char *s);

static const char kernel_hole[] = "KERNEL", sizes_hole[] = "    SIZES;\n";

/* Copies BODY and fills its holes. */
static void fill_body(const Emitter *e, const Instance *k, Text *out, const char *body, FillHole *name,
                      FillHole *sizes) {
    const char *copied = body, *s = body;
    while (*s != '\0') {
        FillHole *fill = hole_begins(body, s, kernel_hole)                 ? name
                         : strncmp(s, sizes_hole, strlen(sizes_hole)) == 0 ? sizes
                                                                           : NULL;
        if (fill == NULL) {
            s++;
            continue;
        }
        text_bytes(out, copied, (size_t)(s - copied));
        copied = s = fill(e, k, out, body, s);
    }
    text_add(out, "%s", copied);
}

/* The function of a template that is called, up to its parameters: "UNUSED static void KERNEL(". */
static const char *function_head(const Emitter *e) {
    return pool_text(e->pool, "%s %s(", e->dialect->mark, kernel_hole);
}

/* The body, in which that function is seen from other files. */
static const char *visible_body(const Emitter *e, const char *template) {
    const char *body = template_body(e, template), *head = function_head(e), *function = strstr(body, head);
    CHECK(function != NULL);
    return pool_text(e->pool, "%.*svoid %s(%s", (int)(function - body), body, kernel_hole,
                     function + strlen(head));
}

/* The text of the function whose SIZES hole is S. */
static const char *function_text(const Emitter *e, const char *s) {
    const char *end = strstr(s, "\n}\n");
    CHECK(end != NULL);
    s += strlen(sizes_hole);
    return pool_copy(e->pool, s, (size_t)(end - s));
}

/* Items between commas, behind BEGIN; the next line begins with LINE_BREAK where one gets too long. */
typedef struct {
    Text *out;
    const char *begin, *line_break;
    size_t column; /* 0: there is no item yet */
} List;

static void list_add(List *list, const char *item) {
    enum { WIDTH = 110 };
    bool first = list->column == 0, wraps = !first && list->column + strlen(item) > WIDTH;
    const char *before = first ? list->begin : wraps ? list->line_break : " ";
    text_add(list->out, "%s%s%s", first ? "" : ",", before, item);
    list->column = (wraps ? 0 : list->column) + strlen(before) + strlen(item) + 1;
}

/* ---- FORM_COPIED ---- */

static const char *copied_name(const Emitter *e, const Instance *k, Text *out, const char *body,
                               const char *s) {
    (void)e, (void)body;
    text_add(out, "%s", k->name);
    return s + strlen(kernel_hole);
}

/* The sizes of which the function speaks. */
static const char *copied_sizes(const Emitter *e, const Instance *k, Text *out, const char *body,
                                const char *s) {
    (void)body;
    const char *function = function_text(e, s);
    List list = {out, "    enum { ", "\n           ", 0};
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].type == NULL && mentions(function, k->size[i].name))
            list_add(&list, pool_text(e->pool, "%s = %s", k->size[i].name, k->size[i].value));
    text_add(out, "%s", list.column > 0 ? " };\n" : "");
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].type != NULL && mentions(function, k->size[i].name))
            /* An array that is indexed at run time would be copied to each thread's local memory. */
            text_add(out, "    %sconstexpr %s %s%s = %s;\n", k->size[i].count < 0 ? "" : "static ",
                     k->size[i].type, k->size[i].name, brackets(e, &k->size[i]), k->size[i].value);
    return s + strlen(sizes_hole);
}

void emit_copies(const Emitter *e, Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        const Instance *k = &e->instance[i];
        write_comment(e, k, out);
        fill_body(e, k, out, template_body(e, k->template), copied_name, copied_sizes);
    }
}

/* ---- FORM_INCLUDED ---- */

/* "KERNEL_row" becomes "KERNEL(_row)". */
static const char *included_name(const Emitter *e, const Instance *k, Text *out, const char *body,
                                 const char *s) {
    (void)e, (void)k, (void)body;
    size_t length = word_length(s), begun = strlen(kernel_hole);
    text_add(out, "KERNEL(%.*s)", (int)(length - begun), s + begun);
    return s + length;
}

static const char *included_sizes(const Emitter *e, const Instance *k, Text *out, const char *body,
                                  const char *s) {
    (void)e, (void)k, (void)body;
    text_add(out, "%s", sizes_hole);
    return s + strlen(sizes_hole);
}

static const char *included_body(const Emitter *e, const char *template) {
    Text text = text_new(e->pool);
    fill_body(e, NULL, &text, visible_body(e, template), included_name, included_sizes);
    return text.bytes;
}

/* #define SIZES enum { CI = 3, ... }; UNUSED static const Layout X[1] = ..., Y = ...: a statement for the
 * numbers, and one for the sizes of each type. */
static void define_sizes(const Emitter *e, const Instance *k, Text *out) {
    const char *type = "";
    List list = {.out = out};
    text_add(out, "%s", k->nsize > 0 ? "#define SIZES" : "");
    for (int numbers = 1; numbers >= 0; numbers--)
        for (int i = 0; i < k->nsize; i++) {
            const Size *size = &k->size[i];
            if ((size->type == NULL) != numbers || size->per_unit)
                continue;
            const char *own = numbers ? "enum {" : pool_text(e->pool, "UNUSED static const %s", size->type);
            if (strcmp(type, own) != 0) {
                const char *closed = *type == '\0' ? "" : strcmp(type, "enum {") == 0 ? " };" : ";";
                list = (List){out, pool_text(e->pool, "%s \\\n    %s ", closed, own), " \\\n        ", 0};
            }
            type = own;
            list_add(&list, pool_text(e->pool, "%s%s = %s", size->name, brackets(e, size), size->value));
        }
    text_add(out, "%s%s", strcmp(type, "enum {") == 0 ? " }" : "", k->nsize > 0 ? "\n" : "");
}

/* Heights that are no constants; DEFINES or takes the definitions back. */
static void define_heights(const Instance *k, bool defines, Text *out) {
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].per_unit && defines)
            text_line(out, "#define %s %s", k->size[i].name, k->size[i].value);
        else if (k->size[i].per_unit)
            text_line(out, "#undef %s", k->size[i].name);
}

static const char *shared_file(const Emitter *e, const char *shared) {
    return pool_text(e->pool, "%s_%s.h", e->plan->model->name, shared);
}

/* The functions of SHARED, and in front of them those of the template that it includes itself, each file
 * once. */
static void emit_shared_file(const Emitter *e, Sources *sources, const char *shared, Table *emitted) {
    if (shared == NULL || table_find(emitted, shared) >= 0)
        return;
    table_set(e->pool, emitted, shared, 1);
    const char *included = shared_template(e, shared), *file = shared_file(e, shared);
    emit_shared_file(e, sources, included, emitted);
    const Hole hole[] = {{"file", file},
                         {"about", template_about(e, shared)},
                         {"included", shared_file(e, included == NULL ? "kernels" : included)},
                         {"body", template_body(e, shared)},
                         {NULL, NULL}};
    emit_file(e->plan, sources, "program/shared.h.in", file, hole);
}

/* The instances of TEMPLATE in the file NAME. BODY: which of the bodies there is meant; "": the only one.
 */
static void write_instances(const Emitter *e, const char *template, const char *name, const char *body,
                            Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        const Instance *k = &e->instance[i];
        if (strcmp(k->template, template) != 0)
            continue;
        write_comment(e, k, out);
        text_add(out, "%s#define KERNEL(part) %s##part\n", body, k->name);
        define_sizes(e, k, out);
        define_heights(k, true, out);
        text_add(out, "#include \"%s\"\n", name);
        define_heights(k, false, out);
    }
}

/* The kernel of a template that shares nothing. */
static void emit_own_file(const Emitter *e, Sources *sources, const char *template) {
    const char *name = pool_text(e->pool, "%s_%s.c", e->plan->model->name, template);
    Text instances = text_new(e->pool);
    write_instances(e, template, name, "", &instances);
    const Hole hole[] = {{"file", name},
                         {"about", template_about(e, template)},
                         {"shared", ""},
                         {"body", included_body(e, template)},
                         {"instances", instances.bytes},
                         {NULL, NULL}};
    emit_file(e->plan, sources, "program/kernel.c.in", name, hole);
    sources->file[sources->count - 1].joins = true;
}

/* The kernels whose templates include SHARED, in one file: a compiler sees what they share once. */
static void emit_common_file(const Emitter *e, Sources *sources, const char *shared) {
    const char *name = pool_text(e->pool, "%s_%s.c", e->plan->model->name, shared), *about = "";
    Text bodies = text_new(e->pool), instances = text_new(e->pool);
    for (int i = 0; i < e->ninstance; i++) {
        const char *template = e->instance[i].template, *of_it = shared_template(e, template);
        if (!is_first(e, i) || of_it == NULL || strcmp(of_it, shared) != 0)
            continue;
        const char *word = upper(e->pool, template);
        about = pool_text(e->pool, "%s%s%s", about, *about == '\0' ? "" : ", ", template);
        text_add(&bodies, "\n/* %s - %s */\n#ifdef %s\n%s#undef %s\n#endif\n", template,
                 template_about(e, template), word, included_body(e, template), word);
        write_instances(e, template, name, pool_text(e->pool, "#define %s\n", word), &instances);
    }
    const Hole hole[] = {{"file", name},
                         {"about", about},
                         {"shared", pool_text(e->pool, "#include \"%s\"\n", shared_file(e, shared))},
                         {"body", bodies.bytes},
                         {"instances", instances.bytes},
                         {NULL, NULL}};
    emit_file(e->plan, sources, "program/kernel.c.in", name, hole);
}

void emit_template_files(const Emitter *e, Sources *sources) {
    Table headers = {0}, files = {0};
    for (int i = 0; i < e->ninstance; i++) {
        const char *template = e->instance[i].template, *shared = shared_template(e, template);
        emit_shared_file(e, sources, shared, &headers);
        if (shared == NULL && is_first(e, i))
            emit_own_file(e, sources, template);
        if (shared == NULL || table_find(&files, shared) >= 0)
            continue;
        table_set(e->pool, &files, shared, 1);
        emit_common_file(e, sources, shared);
    }
}

/* ---- FORM_CALLED ---- */

/* "ConvDgradSizes" of conv_dgrad. */
static const char *sizes_type(const Emitter *e, const char *template) {
    char *name = pool_text(e->pool, "%sSizes", template), *to = name;
    bool capital = true;
    for (const char *s = name; *s != '\0'; s++) {
        if (*s != '_')
            *to++ = capital ? (char)toupper((unsigned char)*s) : *s;
        capital = *s == '_';
    }
    *to = '\0';
    return name;
}

/* "int", or "long" where an instance needs that. */
static const char *number_type(const Emitter *e, const Instance *k, int size) {
    for (int i = 0; i < e->ninstance; i++)
        if (strcmp(e->instance[i].template, k->template) == 0 &&
            e->instance[i].size[size].number > INT32_MAX)
            return "long";
    return "int";
}

/* "tiny_unet_conv_kernel": no function of the runtime ends like that, whatever the model is called. */
static const char *called_function(const Emitter *e, const char *template) {
    return pool_text(e->pool, "%s_%s_kernel", e->plan->model->name, template);
}

/* Does the function WORD of a body have sizes? */
static bool takes_sizes(const Emitter *e, const char *body, const char *word, size_t length) {
    const char *name = pool_text(e->pool, "%.*s(", (int)length, word), *line = body;
    for (const char *s = strstr(body, name); s != NULL; s = strstr(s + 1, name)) {
        for (line = s; line > body && line[-1] != '\n';)
            line--;
        if (*line == ' ') /* a call */
            continue;
        const char *end = strstr(s, "\n}\n"), *sizes = strstr(s, sizes_hole);
        return sizes != NULL && end != NULL && sizes < end;
    }
    BUG("%s has no definition", name);
}

/* Where the function has sizes, its definition, which begins in the first column, gets one parameter more,
 * and a call of it one argument more. */
static const char *called_name(const Emitter *e, const Instance *k, Text *out, const char *body,
                               const char *s) {
    const char *line = s, *suffix = s + strlen(kernel_hole), *end = s + word_length(s);
    while (line > body && line[-1] != '\n')
        line--;
    text_add(out, "%s%.*s", suffix == end ? called_function(e, k->template) : k->template,
             (int)(end - suffix), suffix);
    if (*end != '(' || !takes_sizes(e, body, s, (size_t)(end - s)))
        return end;
    text_add(out, "(%s%s",
             *line == ' ' ? "sizes" : pool_text(e->pool, "const %s *sizes", sizes_type(e, k->template)),
             end[1] == ')' ? "" : ", ");
    return end + 1;
}

/* The sizes of which the function speaks, as constants of the same names: one list for each type. */
static const char *called_sizes(const Emitter *e, const Instance *k, Text *out, const char *body,
                                const char *s) {
    (void)body;
    const char *function = function_text(e, s), *type = "";
    List list = {.out = out, .line_break = "\n        "};
    for (int i = 0; i < k->nsize; i++) {
        const Size *size = &k->size[i];
        if (!mentions(function, size->name))
            continue;
        const char *own = size->type == NULL ? number_type(e, k, i) : size->type;
        if (strcmp(type, own) != 0) {
            text_add(out, "%s", list.column > 0 ? ";\n" : "");
            list.begin = pool_text(e->pool, "    const %s ", own);
            list.column = 0;
        }
        type = own;
        list_add(&list, pool_text(e->pool, "%s%s = sizes->%s", size->count >= 0 ? "*" : "", size->name,
                                  size->name));
    }
    text_add(out, "%s", list.column > 0 ? ";\n" : "");
    return s + strlen(sizes_hole);
}

void emit_functions(const Emitter *e, Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        const Instance *k = &e->instance[i];
        if (!is_first(e, i))
            continue;
        text_add(out, "\n/* %s - %s */\n", k->template, template_about(e, k->template));
        fill_body(e, k, out, visible_body(e, k->template), called_name, called_sizes);
    }
}

static void emit_sizes_type(const Emitter *e, const Instance *k, Text *out) {
    List list = {out, "    int ", "\n        ", 0};
    text_add(out, "typedef struct {\n");
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].type == NULL && strcmp(number_type(e, k, i), "int") == 0)
            list_add(&list, k->size[i].name);
    text_add(out, "%s", list.column > 0 ? ";\n" : "");
    for (int i = 0; i < k->nsize; i++) {
        const Size *size = &k->size[i];
        const char *type = size->type == NULL ? number_type(e, k, i) : size->type;
        if (size->count >= 0)
            text_add(out, "    const %s *%s;\n", type, size->name);
        else if (strcmp(type, "int") != 0)
            text_add(out, "    %s %s;\n", type, size->name);
    }
    text_add(out, "} %s;\n", sizes_type(e, k->template));
}

static bool has_heights(const Instance *k) {
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].per_unit)
            return true;
    return false;
}

/* Constants, or, where an image may have any height, what makes them at a call. */
void emit_sizes(const Emitter *e, Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        const Instance *k = &e->instance[i];
        if (k->nsize == 0)
            continue;
        write_comment(e, k, out);
        const bool tall = has_heights(k);
        const char *ends = tall ? " \\\n    " : "\n    ", *type = sizes_type(e, k->template);
        if (tall)
            text_add(out, "#define %s (const %s) {", k->name, type);
        else
            text_add(out, "static const %s %s = {", type, k->name);
        List list = {out, ends, ends, 0};
        for (int s = 0; s < k->nsize; s++)
            list_add(
                &list,
                pool_text(e->pool, ".%s = %s%s", k->size[s].name,
                          k->size[s].count < 0 ? "" : pool_text(e->pool, "(const %s[])", k->size[s].type),
                          k->size[s].value));
        text_add(out, tall ? " \\\n}\n" : "};\n");
    }
}

/* ---- declarations ---- */

/* The parameters of a template, in one line. */
static const char *parameters_text(const Emitter *e, const char *template) {
    const char *head = function_head(e), *begin = strstr(template_body(e, template), head), *end;
    CHECK(begin != NULL);
    begin += strlen(head);
    end = strstr(begin, ") {");
    CHECK(end != NULL);
    Text text = text_new(e->pool);
    while (begin < end) {
        size_t taken = strcspn(begin, "\n"), left = (size_t)(end - begin);
        bool last = taken >= left;
        text_add(&text, "%.*s%s", (int)(last ? left : taken), begin, last ? "" : " ");
        begin += taken;
        begin += strspn(begin, "\n ");
    }
    return text.bytes == NULL ? "" : text.bytes;
}

/* TYPED: the type of a function in place of a function. Wraps between parameters. */
static void declare(const Emitter *e, Text *out, bool typed, const char *function, const char *template,
                    const char *first) {
    char *parameters = pool_text(e->pool, "%s%s", first, parameters_text(e, template));
    List list = {out, pool_text(e->pool, "%svoid %s(", typed ? "typedef " : "", function), "\n    ", 0};
    for (char *rest = NULL, *one = strtok_r(parameters, ",", &rest); one != NULL;
         one = strtok_r(NULL, ",", &rest))
        list_add(&list, one + strspn(one, " "));
    text_add(out, ");\n");
}

static int instances_of(const Emitter *e, const char *template) {
    int count = 0;
    for (int i = 0; i < e->ninstance; i++)
        count += strcmp(e->instance[i].template, template) == 0;
    return count;
}

/* The functions of the template of FIRST, with their parameters once. */
static void declare_template(const Emitter *e, Text *out, const Instance *first) {
    if (e->dialect->form == FORM_CALLED) {
        const char *sizes = "";
        if (first->nsize > 0) {
            emit_sizes_type(e, first, out);
            sizes = pool_text(e->pool, "const %s *sizes, ", sizes_type(e, first->template));
        }
        declare(e, out, false, called_function(e, first->template), first->template, sizes);
    } else if (instances_of(e, first->template) == 1) {
        declare(e, out, false, first->name, first->template, "");
    } else {
        declare(e, out, true, called_function(e, first->template), first->template, "");
        List list = {out, pool_text(e->pool, "%s ", called_function(e, first->template)), "\n    ", 0};
        for (const Instance *k = first; k < e->instance + e->ninstance; k++)
            if (strcmp(k->template, first->template) == 0)
                list_add(&list, k->name);
        text_add(out, ";\n");
    }
}

void emit_declarations(const Emitter *e, Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        if (!is_first(e, i))
            continue;
        text_blank(out);
        declare_template(e, out, &e->instance[i]);
    }
}

/* ---- calls ---- */

const char *instance_call(const Emitter *e, const Instance *k) {
    if (e->dialect->form != FORM_CALLED)
        return pool_text(e->pool, "%s(", k->name);
    const char *sizes = k->nsize == 0 ? "" : pool_text(e->pool, "&%s, ", k->name);
    return pool_text(e->pool, "%s(%s", called_function(e, k->template), sizes);
}
