/* instance.c - which functions the kernels of a program become.
 *
 * An instance is a template with a set of sizes.  Sizes are constants of a function, or are handed to the
 * function when it is called.  A Form says which: all are constants (FORM_COPIED), all are handed over
 * (FORM_CALLED), or a template says which are (FORM_INCLUDED), by a line such as
 *
 *     #define AT_RUN_TIME H, W
 *
 * in front of its body: these numbers and all layouts then, but for the channels of a block and, unless
 * RING is listed, whether there is a ring.  Instances that differ in nothing else have one function.
 *
 * Requires: sizes of all steps (kernel_constants.c).  Provides: one instance for each distinct set, and a
 * function for each distinct set of constants, whose text instance_text.c writes.
 */
#include "emit/emit.h"
#include "emit/template.h"
#include "ir/ops.h"
#include "ir/target.h"

#include <string.h>

/* ---- templates ---- */

static const char begin_mark[] = "/* BEGIN */\n", end_mark[] = "/* END */";

const char *template_part(Pool *pool, const char *file) {
    const char *text = template_text(file);
    const char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
    if (begin == NULL || end == NULL)
        unfinished_sources("templates/%s has no line `/* BEGIN */`, or no `/* END */`", file);
    begin += strlen(begin_mark);
    return pool_copy(pool, begin, (size_t)(end - begin));
}

static const char *template_file(const Emitter *e, const char *name) {
    const Dialect *d = e->dialect;
    const char *file = pool_text(e->pool, "%s/%s%s", d->folder, name, d->suffix);
    return d->also == NULL || has_template(file) ? file
                                                 : pool_text(e->pool, "%s/%s%s", d->also, name, d->suffix);
}

/* Products of bf16 may be products of matrices; other programs have no use for code of them. */
static bool has_matrices(const Emitter *e) {
    return e->plan->options->stored == TYPE_BF16;
}

/* Returns TEXT without its lines from "#ifdef MATRICES" to the "#endif" of it. */
static const char *without_matrices(Pool *pool, const char *text) {
    static const char begin[] = "#ifdef MATRICES\n", opens[] = "#if", closes[] = "#endif";
    Text out = text_new(pool);
    int depth = 0;
    for (const char *end; *text != '\0'; text = end) {
        end = strchr(text, '\n') + 1;
        const bool opened =
            strncmp(text, depth > 0 ? opens : begin, strlen(depth > 0 ? opens : begin)) == 0;
        depth += opened;
        if (depth == 0)
            text_bytes(&out, text, (size_t)(end - text));
        depth -= depth > 0 && strncmp(text, closes, strlen(closes)) == 0;
    }
    return out.bytes;
}

const char *template_body(const Emitter *e, const char *name) {
    const char *body = template_part(e->pool, template_file(e, name));
    return has_matrices(e) ? body : without_matrices(e->pool, body);
}

const char *template_of(const Emitter *e, const Node *node) {
    return kernel_name(e->plan->target, node);
}

/* The file that the text of a template includes: the prologue, which one without an include has, too, or
 * functions that it shares with others. */
static const char *included_file(const Emitter *e, const char *text) {
    static const char include[] = "#include \"";
    const char *name = strstr(text, include);
    if (name == NULL)
        return "prologue";
    name += strlen(include);
    return pool_copy(e->pool, name, strcspn(name, "\""));
}

const char *shared_template(const Emitter *e, const char *template) {
    const char *file = included_file(e, template_text(template_file(e, template))),
               *name = pool_copy(e->pool, file, strcspn(file, "."));
    if (strcmp(name, "matrix") == 0 && !has_matrices(e))
        return shared_template(e, name);
    return strcmp(name, "prologue") == 0 ? NULL : name;
}

/* Appends the shared files that a template of this text includes, each once and behind its own includes.
 */
static const char *with_shared(const Emitter *e, const char *text, const char *of, Table *seen) {
    const char *file = included_file(e, of);
    if (strncmp(file, "prologue", strlen("prologue")) == 0 || table_find(seen, file) >= 0)
        return text;
    const char *path = pool_text(e->pool, "%s/%s", e->dialect->folder, file);
    table_set(e->pool, seen, file, 1);
    return pool_text(e->pool, "%s\n%s", with_shared(e, text, template_text(path), seen),
                     template_part(e->pool, path));
}

const char *shared_text(const Emitter *e) {
    Table seen = {0};
    const char *text = "";
    for (int i = 0; i < e->ninstance; i++)
        text = with_shared(e, text, template_text(template_file(e, e->instance[i].template)), &seen);
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

const char *template_about(const Emitter *e, const char *name) {
    const char *text = template_text(template_file(e, name)), *begin = strstr(text, " - "), *end;
    end = begin == NULL ? NULL : strstr(begin, " */");
    if (end == NULL)
        unfinished_sources("templates/%s does not begin with `/* NAME - the words for it */`",
                           template_file(e, name));
    begin += 3;
    return pool_copy(e->pool, begin, (size_t)(end - begin));
}

/* ---- instances ---- */

/* The numbers that TEMPLATE is handed when it runs, "H, W", or NULL: none, nor any layout. */
static const char *numbers_at_run_time(const Emitter *e, const char *template) {
    static const char define[] = "#define AT_RUN_TIME ";
    const char *line = strstr(template_text(template_file(e, template)), define);
    if (line == NULL)
        return NULL;
    line += strlen(define);
    return pool_copy(e->pool, line, strcspn(line, "\n"));
}

/* Is this one of the sizes that are handed over, NUMBERS among them? */
static bool is_handed(const Emitter *e, const char *numbers, const Size *size) {
    if (e->dialect->form != FORM_INCLUDED)
        return e->dialect->form == FORM_CALLED;
    const bool layout = size->type != NULL && strcmp(size->type, "Layout") == 0;
    return numbers != NULL && (layout || mentions(numbers, size->name));
}

/* The C expression for the height of an operand when the image height is a run-time value: a multiple of
 * `rows.height`, the output's height. */
static const char *height_text(Pool *pool, int64_t rows, int64_t computed) {
    if (rows == computed)
        return "rows.height";
    if (rows % computed == 0)
        return pool_text(pool, "(rows.height * %lld)", (long long)(rows / computed));
    return pool_text(pool, "(rows.height / %lld * %lld)", (long long)computed, (long long)rows);
}

/* The sizes, with values as this dialect writes them. */
static Size *written_sizes(const Emitter *e, const char *template, const Constants *c) {
    const bool included = e->dialect->form == FORM_INCLUDED;
    const char *numbers = included ? numbers_at_run_time(e, template) : NULL;
    Size *size = NEW_ARRAY(e->pool, Size, c->nsize);
    for (int i = 0; i < c->nsize; i++) {
        size[i] = c->size[i];
        size[i].handed = is_handed(e, numbers, &size[i]);
        size[i].block = included ? size[i].block : 0;
        size[i].ring = included && (size[i].ring || (numbers != NULL && mentions(numbers, "RING")));
        if (included && size[i].per_unit && !size[i].handed) {
            CHECK(c->rows_of >= 0);
            size[i].value = height_text(e->pool, size[i].number, rows_at(c->program, c->rows_of, 1));
        }
    }
    return size;
}

/* The part of SIZE that functions have as a constant: all, or, if it is handed over, nothing but the block
 * of a layout and whether there is a ring. */
static const char *constant_part(const Emitter *e, const Size *size) {
    if (!size->handed)
        return size->value;
    if (size->block == 0)
        return "";
    return pool_text(e->pool, "blocks of %lld%s", (long long)size->block, size->ring ? ", in a ring" : "");
}

/* TEMPLATE with ALL its sizes, or with the constants of its function alone. */
static const char *key_of(const Emitter *e, const char *template, const Size *size, int count, bool all) {
    const char *key = pool_text(e->pool, "%s: ", template);
    for (int i = 0; i < count; i++)
        key = pool_text(e->pool, "%s%s = %s;", key, size[i].name,
                        all ? size[i].value : constant_part(e, &size[i]));
    return key;
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

/* How many there were of KEY, which are one more now. */
static int count_one(Emitter *e, const char *key) {
    const int before = table_find(&e->count_of, key);
    table_set(e->keeps, &e->count_of, kept(e, key), before < 0 ? 1 : before + 1);
    return before < 0 ? 0 : before;
}

/* "tiny_unet_conv_3"; if there is one of each template, "tiny_unet_conv_kernel": no function of the runtime
 * ends like that, whatever the model is called. */
static void name_function(Emitter *e, Instance *new, const char *constants) {
    const char *model = e->plan->model->name;
    const int known = table_find(&e->function_of, constants);
    new->has_function = known < 0;
    if (known >= 0) {
        new->function = e->instance[known].function;
        return;
    }
    const int number = count_one(e, pool_text(e->pool, "functions of %s", new->template));
    new->function = pool_text(e->keeps, e->dialect->form == FORM_CALLED ? "%s_%s_kernel" : "%s_%s_%d",
                              model, new->template, number);
    table_set(e->keeps, &e->function_of, kept(e, constants), e->ninstance);
}

static bool hands_over(const Size *size, int count) {
    for (int i = 0; i < count; i++)
        if (size[i].handed)
            return true;
    return false;
}

static Instance *find_instance(Emitter *e, const char *template, const Constants *c) {
    const Size *size = written_sizes(e, template, c);
    const char *key = key_of(e, template, size, c->nsize, true);
    const int known = table_find(&e->instance_of, key);
    if (known >= 0)
        return &e->instance[known];
    const int number = count_one(e, template);
    Instance new = {.template = template,
                    .size = kept_sizes(e, size, c->nsize),
                    .nsize = c->nsize,
                    .sizes = hands_over(size, c->nsize) ? pool_text(e->keeps, "%s_%s_sizes_%d",
                                                                    e->plan->model->name, template, number)
                                                        : NULL,
                    .is_first = number == 0,
                    .users = "",
                    .shapes = kept(e, shapes_text(e->pool, c->program, c->node))};
    name_function(e, &new, key_of(e, template, size, c->nsize, false));
    table_set(e->keeps, &e->instance_of, kept(e, key), e->ninstance);
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

const char *instance_call(const Emitter *e, const Instance *k) {
    const char *sizes = k->sizes == NULL ? "" : pool_text(e->pool, "&%s, ", k->sizes);
    return pool_text(e->pool, "%s(%s", k->function, sizes);
}
