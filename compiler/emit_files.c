/* emit_files.c - the list of generated files, and those around the source, from templates/program: words
 * between @ are filled in. */
#include "sources.h"
#include "template.h"

#include <ctype.h>
#include <string.h>

const char *template_text(const char *file) {
    for (const Template *t = templates; t->file != NULL; t++)
        if (strcmp(t->file, file) == 0)
            return t->text;
    BUG("there is no template %s", file);
}

typedef struct {
    const char *word, *text;
} Hole;

static const char *upper(Pool *pool, const char *name) {
    char *copy = pool_copy(pool, name, strlen(name));
    for (char *s = copy; *s != '\0'; s++)
        *s = (char)toupper((unsigned char)*s);
    return copy;
}

static const char *extents(const Plan *plan) {
    Text text = text_new(plan->pool);
    const char *model = upper(plan->pool, plan->model->name);
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            text_add(&text, "%s#define %s_%s_BYTES %lldLL", text.length > 0 ? "\n" : "", model,
                     upper(plan->pool, plan->program[k].name), (long long)plan->program[k].extent);
    return text.bytes;
}

static Text fill_holes(Pool *pool, const char *template, const Hole *hole) {
    Text text = text_new(pool);
    for (const char *s = template; *s != '\0';) {
        const char *at = strchr(s, '@'), *end = at == NULL ? NULL : strchr(at + 1, '@');
        if (end == NULL) {
            text_add(&text, "%s", s);
            break;
        }
        text_bytes(&text, s, (size_t)(at - s));
        const Hole *h = hole;
        while (h->word != NULL && (strlen(h->word) != (size_t)(end - at - 1) ||
                                   strncmp(h->word, at + 1, (size_t)(end - at - 1)) != 0))
            h++;
        CHECK(h->word != NULL);
        text_add(&text, "%s", h->text);
        s = end + 1;
    }
    return text;
}

Text *source_new(Pool *pool, Sources *sources, const char *name) {
    SourceFile new = {name, NEW(pool, Text)};
    *new.text = text_new(pool);
    PUSH(pool, sources->file, sources->count, new);
    return new.text;
}

/* How a caller runs a model that is a library. */
static const char *use(const Plan *plan) {
    const char *name = plan->model->name;
    if (plan->target == &target_cuda)
        return pool_text(
            plan->pool,
            "open\n"
            " * %s_model.device, which takes the arena on the GPU, push the weights to it, and begin\n"
            " * and end steps of %s_model.train, ...eval or ...predict, as unet/device.h says.",
            name, name);
    return pool_text(
        plan->pool,
        "run\n"
        " * %s_model.train->run, ...eval->run or ...predict->run on an arena of yours, as unet/model.h "
        "says.",
        name);
}

void emit_file(const Plan *plan, Sources *sources, const char *template, const char *name) {
    Pool *pool = plan->pool;
    int64_t budget = plan->options->budget > 0 ? plan->options->budget : plan->arena;
    const Hole hole[] = {
        {"model", plan->model->name},
        {"MODEL", upper(pool, plan->model->name)},
        {"source", plan->model->source},
        {"hash", plan->source_hash},
        {"command", plan->options->command},
        {"arena", pool_text(pool, "%lld", (long long)plan->arena)},
        {"align", pool_text(pool, "%lld", (long long)plan->target->align)},
        {"persistent", pool_text(pool, "%lld", (long long)plan->persistent)},
        {"budget", pool_text(pool, "%lld", (long long)budget)},
        {"extents", extents(plan)},
        {"flags", plan->c_flags},
        {"use", use(plan)},
        {"provider", plan->target == &target_cuda ? "the device" : "the caller"},
        {"architecture", plan->options->architecture == NULL ? "" : plan->options->architecture + 3},
        {NULL, NULL},
    };
    *source_new(pool, sources, name) = fill_holes(pool, template_text(template), hole);
}
