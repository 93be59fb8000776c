/* instance_text.c - kernels: from templates and sizes to the text of functions.
 *
 * A template has holes: identifiers that begin with KERNEL, and the statement `SIZES;` at the head of a
 * function (see templates/README.md).  How they are filled is the target's choice, a Form:
 *
 *     FORM_INCLUDED   KERNEL and SIZES become macros.  The body stands once, in a file that includes itself
 *                     for each set of constants; a compiler sees a function as if it had been typed in.
 *     FORM_COPIED     the body is copied for each set of sizes.
 *     FORM_CALLED     the body becomes one function, which is handed its sizes.
 *
 * Requires: the instances of a program (instance.c).  Provides: the functions, their declarations, and the
 * sizes that are handed to them.
 */
#include "emit/emit.h"
#include "emit/template.h"
#include "ir/ops.h"

#include <ctype.h>
#include <string.h>

static const char *brackets(const Emitter *e, const Size *size) {
    return size->count < 0 ? "" : pool_text(e->pool, "[%d]", size->count);
}

/* ---- comments ---- */

/* "conv: enc1.0 of train, enc1.0 of predict: x[n,3,64,64] -> y[n,16,64,64]" */
static void write_comment(const Emitter *e, const Instance *k, Text *out) {
    const char *more = k->uses > 3 ? pool_text(e->pool, ", %d more", k->uses - 3) : "";
    text_blank(out);
    text_comment(out, pool_text(e->pool, "%s: %s%s:%s", k->template, k->users, more, k->shapes));
}

/* "norm with tiny_unet_norm_sizes_0, tiny_unet_norm_sizes_1, 3 more": the uses of the function of K. */
static void write_function_comment(const Emitter *e, const Instance *k, Text *out) {
    const char *list = "";
    int count = 0;
    for (int i = 0; i < e->ninstance; i++)
        if (strcmp(e->instance[i].function, k->function) == 0 && count++ < 3)
            list = pool_text(e->pool, "%s%s %s", list, count > 1 ? "," : "", e->instance[i].sizes);
    const char *more = count > 3 ? pool_text(e->pool, ", %d more", count - 3) : "";
    text_blank(out);
    text_comment(out, pool_text(e->pool, "%s with%s%s", k->template, list, more));
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

/* ---- sizes that are handed over ---- */

/* "tiny_unet_conv_sizes": the struct of the sizes that are handed over. */
static const char *sizes_type(const Emitter *e, const char *template) {
    return pool_text(e->pool, "%s_%s_sizes", e->plan->model->name, template);
}

/* "int", or "long" where an instance needs that. All instances of a template have sizes of the same names:
 * they share the struct of the sizes. */
static const char *number_type(const Emitter *e, const Instance *k, int size) {
    const char *type = "int";
    for (const Instance *other = e->instance; other < e->instance + e->ninstance; other++) {
        if (strcmp(other->template, k->template) != 0)
            continue;
        CHECK(size < other->nsize && strcmp(other->size[size].name, k->size[size].name) == 0);
        if (other->size[size].number > INT32_MAX)
            type = "long";
    }
    return type;
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
    unfinished_sources("a template calls %s), and no file defines it", name);
}

/* Behind the name of a function of BODY at S, which ends at END. If the function takes sizes, its
 * definition, which begins in the first column, gets one parameter more, and a call of it one argument
 * more. Returns what follows. */
static const char *add_sizes(const Emitter *e, const Instance *k, Text *out, const char *body,
                             const char *s, const char *end) {
    static const char nothing[] = "void)";
    const char *line = s;
    while (line > body && line[-1] != '\n')
        line--;
    if (k->sizes == NULL || *end != '(' || !takes_sizes(e, body, s, (size_t)(end - s)))
        return end;
    text_add(out, *line == ' ' ? "(sizes" : "(const %s *sizes", sizes_type(e, k->template));
    end++;
    if (strncmp(end, nothing, strlen(nothing)) == 0)
        end += strlen(nothing) - 1;
    text_add(out, "%s", *end == ')' ? "" : ", ");
    return end;
}

/* ---- FORM_COPIED ---- */

static const char *copied_name(const Emitter *e, const Instance *k, Text *out, const char *body,
                               const char *s) {
    (void)e, (void)body;
    text_add(out, "%s", k->function);
    return s + strlen(kernel_hole);
}

/* The sizes that the function mentions. */
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
    size_t length = word_length(s), begun = strlen(kernel_hole);
    text_add(out, "KERNEL(%.*s)", (int)(length - begun), s + begun);
    return add_sizes(e, k, out, body, s, s + length);
}

static const char *included_sizes(const Emitter *e, const Instance *k, Text *out, const char *body,
                                  const char *s) {
    (void)e, (void)k, (void)body;
    text_add(out, "%s", sizes_hole);
    return s + strlen(sizes_hole);
}

static const char *included_body(const Emitter *e, const Instance *k) {
    Text text = text_new(e->pool);
    fill_body(e, k, &text, visible_body(e, k->template), included_name, included_sizes);
    return text.bytes;
}

/* "X = LAYOUT_OF(sizes->X, 16, 0)", "H = sizes->H", "*VALUES = sizes->VALUES": a size that is handed over.
 */
static const char *handed_item(const Emitter *e, const Size *size) {
    const char *name = size->name;
    if (size->block == 0)
        return pool_text(e->pool, "%s%s = sizes->%s", size->count < 0 ? "" : "*", name, name);
    const char *of = pool_text(e->pool, "sizes->%s%s", name, size->count < 0 ? "" : "[0]");
    const char *ring = size->ring ? pool_text(e->pool, "%s.ring", of) : "0";
    const char *layout = pool_text(e->pool, "LAYOUT_OF(%s, %lld, %s)", of, (long long)size->block, ring);
    return pool_text(e->pool, size->count < 0 ? "%s = %s" : "%s[1] = {%s}", name, layout);
}

/* How the definition of size SIZE of K begins: "enum {". */
static const char *definition_begins(const Emitter *e, const Instance *k, int size) {
    const char *type = k->size[size].type;
    return !k->size[size].handed
               ? type == NULL ? "enum {" : pool_text(e->pool, "UNUSED static const %s", type)
               : pool_text(e->pool, "UNUSED const %s", type == NULL ? number_type(e, k, size) : type);
}

/* #define SIZES enum { CI = 3, ... }; UNUSED const int H = sizes->H; UNUSED static const Layout X[1] = ...,
 * Y = ...: a statement for the numbers, and one for the sizes of each type. */
static void define_sizes(const Emitter *e, const Instance *k, Text *out) {
    const char *type = "";
    List list = {.out = out, .begin = ""};
    text_add(out, "%s", k->nsize > 0 ? "#define SIZES" : "");
    for (int typed = 0; typed <= 1; typed++)
        for (int handed = 0; handed <= 1; handed++)
            for (int i = 0; i < k->nsize; i++) {
                const Size *size = &k->size[i];
                if ((size->type != NULL) != typed || size->handed != handed ||
                    (size->per_unit && !size->handed))
                    continue;
                const char *own = definition_begins(e, k, i);
                if (strcmp(type, own) != 0) {
                    const char *closed = *type == '\0' ? "" : strcmp(type, "enum {") == 0 ? " };" : ";";
                    list =
                        (List){out, pool_text(e->pool, "%s \\\n    %s ", closed, own), " \\\n        ", 0};
                }
                type = own;
                list_add(&list, size->handed ? handed_item(e, size)
                                             : pool_text(e->pool, "%s%s = %s", size->name,
                                                         brackets(e, size), size->value));
            }
    text_add(out, "%s%s", strcmp(type, "enum {") == 0 ? " }" : "", k->nsize > 0 ? "\n" : "");
}

/* Heights that are no constants; DEFINES or takes the definitions back. */
static void define_heights(const Instance *k, bool defines, Text *out) {
    for (const Size *size = k->size; size < k->size + k->nsize; size++) {
        if (!size->per_unit || size->handed)
            continue;
        if (defines)
            text_line(out, "#define %s %s", size->name, size->value);
        else
            text_line(out, "#undef %s", size->name);
    }
}

static const char *shared_file(const Emitter *e, const char *shared) {
    return pool_text(e->pool, "%s_%s.h", e->plan->model->name, shared);
}

/* The functions of SHARED, and in front of them the functions of the template that it includes itself, each
 * file once. */
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

/* The functions of TEMPLATE in the file NAME. BODY: which of the bodies there is meant; "": the only one.
 */
static void write_instances(const Emitter *e, const char *template, const char *name, const char *body,
                            Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        const Instance *k = &e->instance[i];
        if (strcmp(k->template, template) != 0 || !k->has_function)
            continue;
        if (k->sizes != NULL)
            write_function_comment(e, k, out);
        else
            write_comment(e, k, out);
        text_add(out, "%s#define KERNEL(part) %s##part\n", body, k->function);
        define_sizes(e, k, out);
        define_heights(k, true, out);
        text_add(out, "#include \"%s\"\n", name);
        define_heights(k, false, out);
    }
}

/* The kernel of a template that shares nothing. */
static void emit_own_file(const Emitter *e, Sources *sources, const Instance *first) {
    const char *template = first->template;
    const char *name = pool_text(e->pool, "%s_%s.c", e->plan->model->name, template);
    Text instances = text_new(e->pool);
    write_instances(e, template, name, "", &instances);
    const Hole hole[] = {{"file", name},
                         {"about", template_about(e, template)},
                         {"shared", ""},
                         {"body", included_body(e, first)},
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
        if (!e->instance[i].is_first || of_it == NULL || strcmp(of_it, shared) != 0)
            continue;
        const char *word = upper(e->pool, template);
        about = pool_text(e->pool, "%s%s%s", about, *about == '\0' ? "" : ", ", template);
        text_add(&bodies, "\n/* %s - %s */\n#ifdef %s\n%s#undef %s\n#endif\n", template,
                 template_about(e, template), word, included_body(e, &e->instance[i]), word);
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
        if (shared == NULL && e->instance[i].is_first)
            emit_own_file(e, sources, &e->instance[i]);
        if (shared == NULL || table_find(&files, shared) >= 0)
            continue;
        table_set(e->pool, &files, shared, 1);
        emit_common_file(e, sources, shared);
    }
}

/* ---- FORM_CALLED ---- */

static const char *called_name(const Emitter *e, const Instance *k, Text *out, const char *body,
                               const char *s) {
    const char *suffix = s + strlen(kernel_hole), *end = s + word_length(s);
    text_add(out, "%s%.*s", suffix == end ? k->function : k->template, (int)(end - suffix), suffix);
    return add_sizes(e, k, out, body, s, end);
}

/* Constants with the names of the sizes that the function mentions: one list for each type. */
static const char *called_sizes(const Emitter *e, const Instance *k, Text *out, const char *body,
                                const char *s) {
    (void)body;
    const char *function = function_text(e, s), *type = "";
    List list = {.out = out, .begin = "", .line_break = "\n        "};
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
        if (!k->is_first)
            continue;
        text_add(out, "\n/* %s - %s */\n", k->template, template_about(e, k->template));
        fill_body(e, k, out, visible_body(e, k->template), called_name, called_sizes);
    }
}

static void emit_sizes_type(const Emitter *e, const Instance *k, Text *out) {
    List list = {out, "    int ", "\n        ", 0};
    text_add(out, "typedef struct {\n");
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].handed && k->size[i].type == NULL && strcmp(number_type(e, k, i), "int") == 0)
            list_add(&list, k->size[i].name);
    text_add(out, "%s", list.column > 0 ? ";\n" : "");
    for (int i = 0; i < k->nsize; i++) {
        const Size *size = &k->size[i];
        const char *type = size->type == NULL ? number_type(e, k, i) : size->type;
        if (!size->handed)
            continue;
        if (size->count >= 0)
            text_add(out, "    const %s *%s;\n", type, size->name);
        else if (strcmp(type, "int") != 0)
            text_add(out, "    %s %s;\n", type, size->name);
    }
    text_add(out, "} %s;\n", sizes_type(e, k->template));
}

static bool hands_heights(const Instance *k) {
    for (int i = 0; i < k->nsize; i++)
        if (k->size[i].handed && k->size[i].per_unit)
            return true;
    return false;
}

/* Each set, or, where an image may have any height, what makes it at a call. */
void emit_sizes(const Emitter *e, Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        const Instance *k = &e->instance[i];
        if (k->sizes == NULL)
            continue;
        write_comment(e, k, out);
        const bool tall = hands_heights(k);
        const char *ends = tall ? " \\\n    " : "\n    ", *type = sizes_type(e, k->template);
        if (tall)
            text_add(out, "#define %s (const %s) {", k->sizes, type);
        else
            text_add(out, "static const %s %s = {", type, k->sizes);
        List list = {out, ends, ends, 0};
        for (int s = 0; s < k->nsize; s++) {
            const Size *size = &k->size[s];
            if (size->handed)
                list_add(&list,
                         pool_text(e->pool, ".%s = %s%s", size->name,
                                   size->count < 0 ? "" : pool_text(e->pool, "(const %s[])", size->type),
                                   size->value));
        }
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

/* The number of functions that the template of FIRST has. */
static int functions_of(const Emitter *e, const Instance *first) {
    int count = 0;
    for (int i = 0; i < e->ninstance; i++)
        count += e->instance[i].has_function && strcmp(e->instance[i].template, first->template) == 0;
    return count;
}

/* The functions of the template of FIRST, with their parameters once. */
static void declare_template(const Emitter *e, Text *out, const Instance *first) {
    const char *sizes = "", *template = first->template;
    if (first->sizes != NULL) {
        emit_sizes_type(e, first, out);
        sizes = pool_text(e->pool, "const %s *sizes, ", sizes_type(e, template));
    }
    if (functions_of(e, first) == 1) {
        declare(e, out, false, first->function, template, sizes);
        return;
    }
    const char *type = pool_text(e->pool, "%s_%s_kernel", e->plan->model->name, template);
    declare(e, out, true, type, template, sizes);
    List list = {out, pool_text(e->pool, "%s ", type), "\n    ", 0};
    for (const Instance *k = first; k < e->instance + e->ninstance; k++)
        if (k->has_function && strcmp(k->template, template) == 0)
            list_add(&list, k->function);
    text_add(out, ";\n");
}

void emit_declarations(const Emitter *e, Text *out) {
    for (int i = 0; i < e->ninstance; i++) {
        if (!e->instance[i].is_first)
            continue;
        text_blank(out);
        declare_template(e, out, &e->instance[i]);
    }
}
