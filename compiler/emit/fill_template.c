/* fill_template.c - the list of generated files, and their skeletons from templates/program: words between
 * @ are filled in.
 *
 * Requires: texts that are safe where their holes stand.  Provides: files whose fixed text is a template's.
 */
#include "ir/target.h"
#include "emit/sources.h"
#include "emit/template.h"
#include "unet/model.h"

#include <string.h>

static const Template *find_template(const char *file) {
    const Template *t = templates;
    while (t->file != NULL && strcmp(t->file, file) != 0)
        t++;
    return t->file == NULL ? NULL : t;
}

bool has_template(const char *file) {
    return find_template(file) != NULL;
}

const char *template_text(const char *file) {
    const Template *found = find_template(file);
    if (found == NULL)
        unfinished_sources("there is no templates/%s", file);
    return found->text;
}

const char *plan_name(const Plan *plan) {
    return plan->place == 0 ? plan->model->name
                            : pool_text(plan->pool, "%s_plan%d", plan->model->name, plan->place + 1);
}

static const char *extents(const Plan *plan) {
    Text text = text_new(plan->pool);
    const char *model = upper(plan->pool, plan_name(plan));
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            text_add(&text, "%s#define %s_%s_BYTES %lldLL", text.length > 0 ? "\n" : "", model,
                     upper(plan->pool, plan->program[k].name), (long long)plan->program[k].extent);
    return text.bytes;
}

static const char *hole_text(const Hole *hole, const char *word, size_t length) {
    for (; hole != NULL && hole->word != NULL; hole++)
        if (strlen(hole->word) == length && strncmp(hole->word, word, length) == 0)
            return hole->text == NULL ? "" : hole->text;
    return NULL;
}

/* A hole that has a line for itself becomes whole lines, or none. */
static void fill_line(Text *text, const char *filled) {
    size_t length = strlen(filled);
    text_add(text, "%s%s", filled, length > 0 && filled[length - 1] != '\n' ? "\n" : "");
}

static Text fill_holes(Pool *pool, const char *template, const Hole *hole, const Hole *more) {
    Text text = text_new(pool);
    for (const char *s = template; *s != '\0';) {
        const char *at = strchr(s, '@'), *end = at == NULL ? NULL : strchr(at + 1, '@');
        if (end == NULL) {
            text_add(&text, "%s", s);
            break;
        }
        text_bytes(&text, s, (size_t)(at - s));
        size_t length = (size_t)(end - at - 1);
        const char *filled = hole_text(more, at + 1, length);
        if (filled == NULL)
            filled = hole_text(hole, at + 1, length);
        CHECK(filled != NULL);
        bool line = (at == template || at[-1] == '\n') && end[1] == '\n';
        if (line)
            fill_line(&text, filled);
        else
            text_add(&text, "%s", filled);
        s = end + 1 + line;
    }
    return text;
}

Text *source_new(Pool *pool, Sources *sources, const char *name) {
    SourceFile new = {.name = name, .text = NEW(pool, Text)};
    *new.text = text_new(pool);
    PUSH(pool, sources->file, sources->count, new);
    return new.text;
}

bool is_compiled(const SourceFile *file) {
    const char *dot = strrchr(file->name, '.');
    return dot != NULL && (strcmp(dot, ".c") == 0 || strcmp(dot, ".cu") == 0);
}

/* The files so far that are compiled, but for main(): a line of CMake each. */
static const char *compiled_files(Pool *pool, const Sources *sources) {
    const char *text = "";
    for (int i = 0; i < sources->count; i++)
        if (is_compiled(&sources->file[i]) && !sources->file[i].has_main)
            text = pool_text(pool, "%s  %s\n", text, sources->file[i].name);
    return text;
}

const Level *levels_of(const Plan *plan) {
    static const Level none = {NULL, NULL};
    const Level *levels = plan->target->levels == NULL ? NULL : plan->target->levels(plan->options);
    return levels == NULL ? &none : levels;
}

/* Declares the models of the levels and of smaller plans. */
static const char *declared_levels(const Plan *plan) {
    Text text = text_new(plan->pool);
    for (const Plan *p = plan; p != NULL; p = p->smaller) {
        if (p != plan)
            text_line(&text, "UNET_EXTERN const UnetModel %s_model; /* the same in %s bytes */",
                      plan_name(p), grouped(plan->pool, p->arena));
        for (const Level *level = levels_of(p); level->name != NULL; level++)
            text_line(
                &text,
                "UNET_EXTERN const UnetModel %s_model_%s; /* for processors that have its instructions */",
                plan_name(p), level->name);
    }
    return text.bytes;
}

/* The models of one plan. */
static void list_models(const Plan *plan, Text *text) {
    const char *name = plan_name(plan);
    const Level *level = levels_of(plan);
    if (level->name == NULL) {
        text_add(text, "&%s_model", name);
        return;
    }
    text_add(text, "\n#ifdef UNET_LEVELS\n");
    for (; level->name != NULL; level++)
        text_add(text, "        &%s_model_%s,\n", name, level->name);
    text_add(text, "#endif\n        &%s_model", name);
}

/* Elements of main()'s array. */
static const char *models(const Plan *plan) {
    Text text = text_new(plan->pool);
    for (const Plan *p = plan; p != NULL; p = p->smaller) {
        if (p != plan)
            text_add(&text, ", ");
        list_models(p, &text);
    }
    return text.bytes;
}

/* The origin of a file. */
static const char *made(const Plan *plan) {
    const char *command = *plan->options->command != '\0' ? plan->options->command : "no options";
    return comment_escaped(plan->pool, pool_text(plan->pool, "Made by unetc from %s (%s) with: %s",
                                                 plan->model->source, plan->source_hash, command));
}

/* "main.c", unless that has the calls of the model. */
static const char *main_file(const Plan *plan) {
    return strcmp(plan->model->name, "main") == 0 ? "program.c" : "main.c";
}

const char *c_flags_of(const Plan *plan) {
    const Options *options = plan->options;
    const char *flags = plan->target->c_flags(options);
    return options->instructions == NULL
               ? flags
               : pool_text(plan->pool, "%s -march=%s", flags, options->instructions);
}

void emit_main(const Plan *plan, Sources *sources) {
    if (plan->options->shared)
        emit_file(plan, sources, "program/door.c.in", pool_text(plan->pool, "%s_door.c", plan->model->name),
                  NULL);
    else
        emit_file(plan, sources, "program/main.c.in", main_file(plan), NULL);
    sources->file[sources->count - 1].has_main = true;
}

/* "add_level(v3 -march=x86-64-v3)" */
static const char *added_levels(const Plan *plan) {
    Text text = text_new(plan->pool);
    for (const Level *level = levels_of(plan); level->name != NULL; level++)
        text_line(&text, "  add_level(%s %s)", level->name, level->flags);
    return text.bytes;
}

static const char archives[] = "${UNET_RUNTIME}/libunet_runtime.a ${unet_libraries}\n"
                               "  ${OpenMP_C_LIBRARIES}";
/* As link_program() has them. */
static const char small_archives[] =
    "-s -Wl,--gc-sections -Wl,--whole-archive\n"
    "  ${UNET_RUNTIME}/libunet_small.a -Wl,--no-whole-archive ${UNET_RUNTIME}/libunet_runtime.a "
    "${unet_libraries}";

void emit_cmake(const Plan *plan, Sources *sources) {
    const bool levels = levels_of(plan)->name != NULL;
    const bool small = plan->options->no_images;
    const Hole included[] = {{"levels", levels ? "include(levels.cmake)" : ""},
                             {"libraries", small ? "libraries_small" : "libraries"},
                             {"openmp", small ? "" : "\nfind_package(OpenMP REQUIRED COMPONENTS C)"},
                             {"archives", small ? small_archives : archives},
                             {NULL, NULL}};
    const Hole hole[] = {{"levels", added_levels(plan)}, {NULL, NULL}};
    emit_file(plan, sources, "program/CMakeLists.txt.in", "CMakeLists.txt", included);
    if (levels)
        emit_file(plan, sources, "program/levels.cmake.in", "levels.cmake", hole);
}

/* Fills the holes that every template may have. */
static Text fill(const Plan *plan, const Sources *sources, const char *template, const char *name,
                 const Hole *more) {
    Pool *pool = plan->pool;
    int64_t budget = plan->budget > 0 ? plan->budget : plan->arena;
    const bool ranks = plan->model->train.ranks > 1;
    const Hole hole[] = {
        {"file", name},
        {"model", plan->model->name},
        {"MODEL", upper(pool, plan->model->name)},
        {"plan", plan_name(plan)},
        {"PLAN", upper(pool, plan_name(plan))},
        {"own_extents", plan->place > 0 ? extents(plan) : ""},
        {"made", made(plan)},
        {"version", pool_text(pool, "%d", UNET_RUNTIME_VERSION)},
        {"arena", pool_text(pool, "%lld", (long long)plan->arena)},
        {"align", pool_text(pool, "%lld", (long long)plan->target->align)},
        {"persistent", pool_text(pool, "%lld", (long long)plan->persistent)},
        {"budget", pool_text(pool, "%lld", (long long)budget)},
        {"extents", extents(plan)},
        {"models", models(plan)},
        {"declared_levels", declared_levels(plan)},
        {"flags", c_flags_of(plan)},
        {"main", main_file(plan)},
        {"compiled", compiled_files(pool, sources)},
        {"transport", ranks ? template_text("program/ranks.cmake.in") : ""},
        {"linked", ranks ? "${unet_ranks} " : ""},
        {NULL, NULL},
    };
    return fill_holes(pool, template_text(template), hole, more);
}

const char *filled_template(const Plan *plan, const char *template, const Hole *more) {
    const Sources none = {0};
    return fill(plan, &none, template, "", more).bytes;
}

void emit_file(const Plan *plan, Sources *sources, const char *template, const char *name,
               const Hole *more) {
    const Text text = fill(plan, sources, template, name, more);
    *source_new(plan->pool, sources, name) = text;
}

void emit_header(const Plan *plan, Sources *sources, const char *template) {
    const Hole hole[] = {{"embedding", embedding_text(plan)}, {NULL, NULL}};
    emit_file(plan, sources, template, pool_text(plan->pool, "%s.h", plan->model->name), hole);
}
