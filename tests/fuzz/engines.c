/* engines.c - fuzzes the reading of NAME.engines.json, which `tune` writes and a program reads when it
 * starts, and what `unetc --engines=FILE` makes of it: a small network is planned with it, and its sources
 * are written. */
#include "target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "emit/sources.h"
#include "ir/target.h"
#include "search/budget_search.h"
#include "unet/engines.h"

static const char network[] = "input  x : image(3, 8, 8)\n"
                              "target t : image(3)\n"
                              "output y = conv(relu(conv(x, 8, 3, name = \"a\")), 3, 3, name = \"b\")\n"
                              "train {\n    loss mse(y, t)\n    batch 2\n    steps 1\n}\n";

typedef struct {
    Pool *pool;
    char *table;          /* its path */
    const Target *opened; /* NULL: none */
    DeviceModel *device;
} Case;

/* Whoever has a table need look at nothing of it again: each row is found, and is possible. */
static void check_rows(const UnetEngineTable *table) {
    for (int32_t i = 0; i < table->count; i++) {
        const UnetTimedEngine *row = &table->row[i];
        const UnetTimedEngine *found = unet_engines_find(table, &row->convolution, INT64_MAX);
        if (found == NULL || found->seconds > row->seconds || !isfinite(row->planned) ||
            row->convolution.engine.nknob > UNET_MAX_KNOBS || row->convolution.batch < 1)
            abort();
    }
}

static void compile(void *context) {
    Case *c = context;
    static char program[] = "unetc", option[] = "-S", folder[] = "out", target[] = "--target=cuda",
                engines[] = "--engines", file[] = "fuzz.unet";
    char *words[] = {program, option, folder, target, engines, c->table, file, NULL};
    Command command = command_read(c->pool, (int)(sizeof words / sizeof *words) - 1, words);
    command.lower.path = "fuzz.unet";
    command.lower.text = network;
    Diag *diag = diag_new(c->pool, "fuzz.unet", network, command.error_format, command.color);
    Options *options = &command.options;
    c->opened = options->target;
    options->device = c->device = c->opened->open(c->pool, options);
    Ast *parsed = parse(c->pool, diag, network);
    const Model *model = lower(c->pool, diag, parsed, &command.lower);
    if (model == NULL)
        abort();
    options->stored = model->train.precision;
    const Plan *plan = plan_all(c->pool, diag, parsed, &command.lower, options);
    if (plan == NULL || !plan_fits(plan))
        abort(); /* nothing in a table makes a plan impossible */
    int all;
    if (plan->target->measured(plan, &all) > all)
        abort();
    Sources sources = {0};
    plan->target->emit(plan, &sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    UnetEngineTable table;
    UnetError error = {.text = ""};
    (void)snprintf(path, sizeof path, "%s", as_file(FUZZ_FIRST, data, size));
    setenv("UNETC_CUDNN", "/dev/null", 1); /* not this machine's cuDNN, which is slow to ask */
    const UnetStatus status = unet_engines_read(&table, path, &error);
    if (status != UNET_OK && error.text[0] == '\0')
        abort(); /* a refusal says why */
    if (status == UNET_OK)
        check_rows(&table);
    unet_engines_free(&table);
    if (status != UNET_OK)
        return 0;
    Case c = {.pool = pool_new(), .table = path};
    run_caught(compile, &c);
    if (c.device != NULL)
        c.opened->close(c.device);
    pool_free(c.pool);
    return 0;
}
