/* main.c - the main program of every compiled model: reads the command line, picks the variant of the
 * model that this processor runs, calls the command (commands.c) and turns its status into an exit code.
 */
#include "driver.h"
#include "unet/words.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One model, compiled for several sets of instructions, best first. */
typedef struct {
    const UnetModel *const *model;
    int n;
    const char *asked; /* the one to take, or NULL: the best that this processor runs */
} Variants;

static bool is_candidate(const Variants *variants, int i) {
    return variants->asked == NULL || strcmp(variants->asked, variants->model[i]->isa) == 0;
}

/* NULL: none. */
static const UnetModel *choose_model(const Variants *variants) {
    if (variants->asked == NULL)
        return unet_best_model(variants->model, variants->n);
    for (int i = 0; i < variants->n; i++)
        if (is_candidate(variants, i) && unet_lacking_instruction(variants->model[i]->instructions) == NULL)
            return variants->model[i];
    return NULL;
}

/* Says why there is none; returns an exit code. */
static int no_model(const char *program, const Variants *variants) {
    const char *lacking = NULL;
    for (int i = 0; i < variants->n; i++)
        if (is_candidate(variants, i))
            lacking = unet_lacking_instruction(variants->model[i]->instructions);
    if (lacking == NULL) {
        (void)fprintf(stderr, "%s: error: UNET_ISA asks for %s, and the program holds", program,
                      variants->asked);
        for (int i = 0; i < variants->n; i++)
            (void)fprintf(stderr, "%s %s", i > 0 ? "," : "", variants->model[i]->isa);
        (void)fprintf(stderr, "\n");
        return UNET_USAGE;
    }
    if (variants->asked != NULL)
        (void)fprintf(stderr, "%s: error: UNET_ISA asks for %s, and this processor has no %s\n", program,
                      variants->asked, lacking);
    else
        (void)fprintf(stderr,
                      "%s: error: this processor has no %s, which the program was compiled for; compile it "
                      "here, or for any processor with `unetc --isa=portable`\n",
                      program, lacking);
    return UNET_TOO_SMALL;
}

static int32_t choose_threads(const Driver *driver) {
    int64_t asked = driver->options.threads, max = driver->model->max_threads;
    const int32_t here = driver->ranks.local > 1 ? driver->ranks.local : 1;
    int64_t each = machine_processors();
    if (each == sysconf(_SC_NPROCESSORS_ONLN)) /* not bound to some of them by the launcher */
        each = each / here > 0 ? each / here : 1;
    int64_t wanted = asked > 0 ? asked : each;
    if (asked > max)
        driver_note_limit(asked, max);
    return (int32_t)(wanted < max ? wanted : max);
}

/* The last part of a path. */
static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static UnetStatus print_help(const char *program, UnetCommand about) {
    char text[8192];
    (void)fwrite(text, 1, unet_options_help(text, sizeof text, program, about), stdout);
    return UNET_OK;
}

static UnetStatus print_version(const UnetModel *model) {
    (void)printf("%s (%s, %s, %s, runtime %d)\n", model->name, model->source, model->target, model->isa,
                 model->runtime_version);
    return UNET_OK;
}

static int report(const Driver *driver, const char *program, UnetStatus status) {
    if (status == UNET_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        (void)fprintf(stderr, "%s: standard output cannot be written\n", program);
        return UNET_IO;
    }
    if (driver->ranks.alike && driver->ranks.rank > 0)
        return (int)status;
    if (status == UNET_OK)
        return driver->stopped_by != 0 ? 128 + driver->stopped_by : 0;
    char rank[32] = "";
    if (!ranks_alone(&driver->ranks) && !driver->ranks.alike)
        (void)snprintf(rank, sizeof rank, "rank %d: ", (int)driver->ranks.rank);
    (void)fprintf(stderr, "%s: error: %s%s\n", program, rank, driver->error.text);
    if (status == UNET_BUG)
        (void)fprintf(stderr, "%s: this is a bug in unetc, not in your model or data\n", program);
    return (int)status;
}

/* A mistake in the command line. */
static int report_usage(const Driver *driver, const char *program, UnetStatus status) {
    char advice[UNET_PATH_BYTES];
    const int code = report(driver, program, status);
    unet_options_advice(&driver->options, driver->program, advice, sizeof advice);
    (void)fprintf(stderr, "%s\n", advice);
    return code;
}

int unet_main(const UnetModel *const *models, int nmodels, int argc, char **argv) {
    const char *program = argc > 0 ? base_name(argv[0]) : "unet";
    const char *asked = getenv("UNET_ISA");
    const Variants variants = {models, nmodels, asked != NULL && *asked != '\0' ? asked : NULL};
    Driver driver = {.model = choose_model(&variants),
                     .models = models,
                     .nmodels = nmodels,
                     .program = argc > 0 ? argv[0] : program};
    if (driver.model == NULL)
        return no_model(program, &variants);
    if (driver.model->runtime_version != UNET_RUNTIME_VERSION ||
        driver.model->table_bytes != UNET_TABLE_BYTES)
        return report(&driver, program, unet_fail(&driver.error, UNET_IO, UNET_OTHER_TABLES));
    if (driver.model->max_threads > 1)
        machine_set_wait_policy(argv); /* before the words of argv are put in another order */
    UnetStatus status = unet_options_parse(&driver.options, argc, argv, &driver.error);
    if (status != UNET_OK)
        return report_usage(&driver, program, status);
    if (driver.options.command == UNET_COMMAND_HELP)
        return report(&driver, program, print_help(program, driver.options.about));
    if (driver.options.command == UNET_COMMAND_VERSION)
        return report(&driver, program, print_version(driver.model));
    status = driver_join(&driver);
    if (status == UNET_OK) {
        plans_fit(&driver);
        driver.threads = choose_threads(&driver);
        status = normal_start(&driver);
    }
    if (status == UNET_OK)
        status = driver_run(&driver);
    normal_end(&driver);
    const int code = report(&driver, program, status);
    driver_leave(&driver, status == UNET_OK || driver.ranks.alike ? 0 : code);
    return code;
}
