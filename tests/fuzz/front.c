/* front.c - fuzzes the compiler from a file's text to the generated sources.
 *
 * A first line "#! --bands=4 ..." has options of unetc.  A file that asks for much and takes long is no
 * finding: sizes are read as they are, so libFuzzer's -timeout should be generous. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "emit/sources.h"
#include "ir/target.h"
#include "search/budget_search.h"

enum { MOST_WORDS = 16 };

typedef struct {
    Pool *pool;
    const char *text;
    const Target *opened; /* NULL: none */
    DeviceModel *device;
} Case;

/* The options of the first line, as main() would have got them. */
static Command read_options(Pool *pool, const char *text) {
    static char program[] = "unetc", option[] = "-S", folder[] = "out", file[] = "fuzz.unet";
    char *words[MOST_WORDS + 1] = {program, option, folder}, *rest = NULL;
    int count = 3;
    if (strncmp(text, "#!", 2) == 0) {
        char *line = pool_copy(pool, text + 2, strcspn(text, "\n") > 2 ? strcspn(text, "\n") - 2 : 0);
        for (char *word = strtok_r(line, " ", &rest); word != NULL && count < MOST_WORDS - 1;
             word = strtok_r(NULL, " ", &rest))
            words[count++] = word;
    }
    words[count++] = file;
    return command_read(pool, count, words);
}

static void compile(void *context) {
    Case *c = context;
    Command command = read_options(c->pool, c->text);
    if (command.kind != COMMAND_COMPILE || command.file == NULL || strcmp(command.file, "fuzz.unet") != 0)
        return;
    command.lower.path = "fuzz.unet";
    command.lower.text = c->text;
    Diag *diag = diag_new(c->pool, "fuzz.unet", c->text, command.error_format, command.color);
    Ast *file = parse(c->pool, diag, c->text);
    if (file == NULL || diag_errors(diag) > 0)
        return;
    Options *options = &command.options;
    if (options->target->open != NULL) {
        c->opened = options->target;
        options->device = c->device = c->opened->open(c->pool, options);
    }
    const Model *model = lower(c->pool, diag, file, &command.lower);
    if (model == NULL || diag_errors(diag) > 0) {
        if (diag_errors(diag) == 0)
            abort(); /* a refusal says why */
        return;
    }
    if (!options->has_precision)
        options->stored = model->train.precision;
    const Plan *plan = plan_all(c->pool, diag, file, &command.lower, options);
    Sources sources = {0};
    if (plan != NULL && plan_fits(plan))
        plan->target->emit(plan, &sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = as_text(data, size);
    Case c = {.pool = pool_new(), .text = text};
    setenv("UNETC_CUDNN", "/dev/null", 1); /* not this machine's cuDNN, which is slow to ask */
    if (memchr(text, '\0', size) == NULL)  /* read_source() refuses it */
        run_caught(compile, &c);
    if (c.device != NULL)
        c.opened->close(c.device);
    pool_free(c.pool);
    free(text);
    return 0;
}
