/* main.c - unetc: reads the options and runs the command.  pipeline.c lists the passes. */
#include "command.h"
#include "front/words.h"
#include "ir/target.h"
#include "report/diff.h"
#include "emit/build_program.h"
#include "front/reference.h"
#include "onnx/onnx.h"
#include "pipeline.h"
#include "search/advice.h"
#include "search/budget_search.h"
#include "report/report.h"
#include "report/fit_text.h"
#include "report/waiting.h"
#include "unet/atomic_file.h"
#include "unet/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    Pool *pool;
    Command command;
    Diag *diag;
    Ast *file;
} Session;

/* A program without libraries does not read and write volumes. */
static void check_small(const Model *model) {
    for (int i = 0; i < model->ninput; i++)
        if (model->input[i].kind == KIND_VOLUME) {
            fprintf(stderr,
                    "unetc: --no-images: %s is a volume, and its files (NIfTI) need a library: leave out "
                    "--no-images\n",
                    model->input[i].name);
            exit(EXIT_USAGE);
        }
}

/* The file on its own; options that the command line leaves open become the file's.  NULL after reporting
 * errors. */
static Model *read_model(Session *s) {
    Options *options = &s->command.options;
    if (options->target->open != NULL && options->device == NULL)
        options->device = options->target->open(s->pool, options);
    s->command.lower.program = first_program(options);
    Model *model = lower(s->pool, s->diag, s->file, &s->command.lower);
    if (model == NULL || diag_errors(s->diag) > 0)
        return NULL;
    if (options->no_images)
        check_small(model);
    if (!options->has_precision)
        options->stored = model->train.precision;
    return model;
}

static FitQuestion question(const Session *s) {
    return (FitQuestion){.file = s->file, .lower = s->command.lower, .options = s->command.options};
}

static Plan *make_plan_under(Session *s, const Choices *fixed) {
    if (read_model(s) == NULL)
        return NULL;
    Plan *plan = plan_file(s->pool, s->diag, s->file, &s->command.lower, &s->command.options, fixed);
    if (plan != NULL)
        judge_plan(plan);
    return plan;
}

static Plan *make_plan(Session *s) {
    if (read_model(s) == NULL)
        return NULL;
    return plan_all(s->pool, s->diag, s->file, &s->command.lower, &s->command.options);
}

/* Reports a plan that does not fit, with what would; returns whether it does not. */
static bool over_budget(Session *s, const Plan *plan) {
    if (plan_fits(plan))
        return false;
    const FitQuestion asked = question(s);
    Waiting waiting;
    begin_over_budget(plan, s->diag);
    waiting_begin(&waiting, "looking for what would fit");
    const Advice advice = advise(s->pool, plan, &asked);
    waiting_end(&waiting);
    end_over_budget(plan, &advice, s->diag);
    return true;
}

/* Warns of the convolutions that the file of --engines does not name, for it is of another network or plan.
 */
static void tell_of_engines(const Session *s, const Plan *plan) {
    const Options *options = &s->command.options;
    int all = 0;
    const int found = options->engines == NULL ? 0 : plan->target->measured(plan, &all);
    if (options->engines != NULL && found == 0)
        environment_error("--engines: %s has none of the convolutions of this plan: it was measured for "
                          "another network, or with other options",
                          options->engines);
    if (found < all)
        fprintf(
            stderr,
            "note: %s has no engine for %d of %d convolutions of this plan: cuDNN chooses these; `tune` of "
            "the new program measures them\n",
            options->engines, all - found, all);
}

/* ---- commands ---- */

static void print(const Text *text) {
    if (text->length > 0)
        (void)fwrite(text->bytes, 1, text->length, stdout);
}

/* However unetc ends, what it printed has arrived, or it says so. */
static void check_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    fputs("unetc: standard output: cannot be written\n", stderr);
    _exit(EXIT_IO);
}

/* --emit=graph: as lowered, or, for each program, as a pass leaves it. */
static int emit_graph(Session *s, Text *out) {
    Model *model[PROGRAMS] = {NULL};
    const char *pass = s->command.after;
    if (pass == NULL) {
        Model *lowered = lower(s->pool, s->diag, s->file, &s->command.lower);
        if (lowered == NULL)
            return EXIT_ERRORS;
        graph_print(lowered->graph, out);
        return EXIT_DONE;
    }
    if (read_model(s) == NULL ||
        !lower_programs(s->pool, s->diag, s->file, &s->command.lower, &s->command.options, model))
        return EXIT_ERRORS;
    if (print_graph_after(s->pool, &s->command.options, &(Choices){0}, model, pass, out))
        return EXIT_DONE;
    fprintf(stderr, "unetc: --emit=graph:after=%s: the passes are %s\n", pass, pass_names(s->pool));
    return EXIT_USAGE;
}

static int emit_stage(Session *s) {
    Text out = text_new(s->pool);
    const bool remat = s->command.stage == EMIT_REMAT;
    if (s->command.stage == EMIT_AST) {
        ast_print(s->file, stdout);
        return EXIT_DONE;
    }
    if (s->command.stage == EMIT_GRAPH) {
        int result = emit_graph(s, &out);
        print(&out);
        return result;
    }
    /* so that the question of what to compute again is asked, even if all can be kept */
    const Choices asks = {.capacity = remat ? INT64_MAX : 0};
    Plan *plan = make_plan_under(s, &asks);
    if (plan == NULL)
        return EXIT_ERRORS;
    (remat ? report_remat : report_json)(plan, &out);
    print(&out);
    return over_budget(s, plan) ? EXIT_NO_FIT : EXIT_DONE;
}

static int command_check(Session *s) {
    Model *model = read_model(s), *program[PROGRAMS] = {NULL};
    if (model == NULL ||
        !lower_programs(s->pool, s->diag, s->file, &s->command.lower, &s->command.options, program))
        return EXIT_ERRORS;
    Text out = text_new(s->pool);
    if (s->command.format == REPORT_JSON)
        report_check_json(model, &out);
    else
        report_check(model, &out);
    print(&out);
    return EXIT_DONE;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Refuses an output that would replace a file that was read. */
static void keep_sources(const Command *c, const char *output) {
    const char *const read[] = {c->file, c->other, c->weights};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i] != NULL && is_same_file(read[i], output)) {
            fprintf(stderr, "unetc: %s: is read, so it is not written: name another file with -o\n",
                    output);
            exit(EXIT_USAGE);
        }
}

/* To the file of -o, which appears whole or not at all, or to standard output, which `-` is, too. */
static void print_report(const Session *s, const Text *text) {
    UnetAtomicFile file;
    UnetError error;
    if (s->command.output == NULL || strcmp(s->command.output, "-") == 0) {
        print(text);
        return;
    }
    keep_sources(&s->command, s->command.output);
    UnetStatus status = unet_atomic_open(&file, s->command.output, &error);
    if (status == UNET_OK)
        status = unet_atomic_write(&file, text->bytes, text->length, &error);
    if (status == UNET_OK)
        status = unet_atomic_commit(&file, &error);
    if (status != UNET_OK)
        environment_error("%s", error.text);
}

static int command_mem(Session *s) {
    Plan *plan = make_plan(s);
    if (plan == NULL)
        return EXIT_ERRORS;
    tell_of_engines(s, plan);
    Text out = text_new(s->pool);
    if (s->command.format == REPORT_JSON)
        report_json(plan, &out);
    else if (s->command.format == REPORT_CSV)
        report_csv(plan, &out);
    else if (s->command.format == REPORT_HTML)
        report_html(plan, &out);
    else {
        const FitQuestion asked = question(s);
        Waiting waiting;
        waiting_begin(&waiting, "comparing with other plans");
        const Comparison comparison = compare(s->pool, plan, &asked);
        waiting_end(&waiting);
        report_text(plan, &comparison, &asked, &out);
    }
    print_report(s, &out);
    return over_budget(s, plan) ? EXIT_NO_FIT : EXIT_DONE;
}

static int command_fit(Session *s) {
    Model *model = read_model(s);
    FitQuestion asked = question(s);
    const FitMax max = s->command.max;
    asked.card =
        asked.options.budget; /* as the usual amounts do, it holds what lies beside the arena, too */
    if (model == NULL)
        return EXIT_ERRORS;
    if (max == FIT_BATCH && (!model->train.present || !asked.options.wanted[PROGRAM_TRAIN])) {
        fputs("unetc: --max=batch needs a file with a `train` section, and `train` among --programs\n",
              stderr);
        return EXIT_USAGE;
    }
    Text out = text_new(s->pool);
    const bool json = s->command.format == REPORT_JSON;
    const bool trains = model->train.present && asked.options.wanted[PROGRAM_TRAIN];
    FitRow *row;
    Waiting waiting;
    waiting_begin(&waiting, max == FIT_BATCH ? "trying batches" : "trying sizes");
    int count = fit_rows(s->pool, &asked, max, trains, json, &row);
    waiting_end(&waiting);
    bool fits = report_fit(&asked, model, max, trains, row, count, json, &out);
    print(&out);
    return fits ? EXIT_DONE : EXIT_NO_FIT;
}

/* Returns the name of the output, which is a file: `-` is refused. */
static const char *output_name(const Session *s, const char *otherwise) {
    const char *given = s->command.output, *name = given == NULL ? otherwise : given;
    if (given != NULL && strcmp(given, "-") == 0) {
        fputs("unetc: -o -: this does not go to standard output; name a file\n", stderr);
        exit(EXIT_USAGE);
    }
    keep_sources(&s->command, name);
    return name;
}

/* Returns the default name of the program, the plain name for the CPU, or of the library. */
static const char *default_program(const Session *s, const Model *model) {
    const Target *target = s->command.options.target;
    const char *name =
        target == targets[0] ? model->name : pool_text(s->pool, "%s_%s", model->name, target->name);
    return s->command.options.shared ? pool_text(s->pool, "lib%s.so", name) : name;
}

/* Makes a plan under each budget of --plans and links them, the largest first.  A plan that needs no less
 * memory than the plan before is left out.  NULL after an error, which is in *RESULT. */
static Plan *make_plans(Session *s, int *result) {
    Plan *first = NULL, *last = NULL;
    for (int k = 0; k < s->command.nplan; k++) {
        Session *one = pool_array(s->pool, 1, sizeof *one); /* a plan points to its options */
        *one = *s;
        one->command.options.budget = s->command.plan[k];
        Plan *plan = make_plan(one);
        *result = plan == NULL ? EXIT_ERRORS : over_budget(one, plan) ? EXIT_NO_FIT : EXIT_DONE;
        if (*result != EXIT_DONE)
            return NULL;
        if (last != NULL && plan->arena >= last->arena)
            continue;
        plan->place = last == NULL ? 0 : last->place + 1;
        if (last != NULL)
            last->smaller = plan;
        first = first == NULL ? plan : first;
        last = plan;
    }
    return first;
}

/* The plan, or the first of several; NULL after an error, which is in *RESULT. */
static Plan *make_fitting(Session *s, int *result) {
    if (s->command.nplan > 0)
        return make_plans(s, result);
    Plan *plan = make_plan(s);
    *result = plan == NULL ? EXIT_ERRORS : over_budget(s, plan) ? EXIT_NO_FIT : EXIT_DONE;
    return *result == EXIT_DONE ? plan : NULL;
}

static int command_compile(Session *s) {
    const Command *c = &s->command;
    int result;
    const Model *model = read_model(s);
    if (model == NULL)
        return EXIT_ERRORS;
    const char *program =
        c->folder == NULL ? find_place(s->pool, output_name(s, default_program(s, model))) : NULL;
    if (c->nplan > 0 && model->train.ranks > 1) {
        fputs("unetc: --plans: processes of a training run one plan: leave out --plans, or `ranks`\n",
              stderr);
        return EXIT_USAGE;
    }
    Plan *plan = make_fitting(s, &result);
    if (plan == NULL)
        return result;
    warn_of_bands(plan, s->diag);
    tell_of_engines(s, plan);
    Sources sources = {0};
    plan->target->emit(plan, &sources);
    return c->folder != NULL ? write_sources(plan, &sources, c->folder)
                             : build_program(plan, &sources, program);
}

static int command_onnx(Session *s) {
    LowerOptions options = s->command.lower;
    const Model *model = read_model(s);
    if (model == NULL)
        return EXIT_ERRORS;
    options.program = PROGRAM_PREDICT;
    for (int k = 0; k < AXES && s->command.lower.size[AXES - 1] == 0; k++)
        options.size[k] = model->predict.size[k];
    model = lower(s->pool, s->diag, s->file, &options);
    if (model == NULL)
        return EXIT_ERRORS;
    return export_onnx(model, s->command.weights, s->command.map,
                       output_name(s, pool_text(s->pool, "%s.onnx", model->name)));
}

/* Prints the lines of `unetc words` on WORD; returns whether there are any. */
static bool explain_word(Session *s, const char *word) {
    Text words = text_new(s->pool), out = text_new(s->pool);
    const size_t length = strlen(word);
    print_words(&words);
    for (const char *line = words.bytes, *end; *line != '\0'; line = end + 1) {
        const char *name = strchr(line, '\t') + 1;
        end = strchr(name, '\n');
        if (strncmp(name, word, length) == 0 && (name[length] == '(' || name + length == end))
            text_add(&out, "%.*s: %.*s\n", (int)(name - 1 - line), line, (int)(end - name), name);
    }
    if (out.length > 0)
        print(&out);
    return out.length > 0;
}

/* The word that is spelled nearly so, or NULL. */
static const char *near_word(Pool *pool, const char *typed) {
    Text words = text_new(pool);
    const char **name = NULL;
    int count = 0;
    print_words(&words);
    for (const char *line = words.bytes; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *from = strchr(line, '\t') + 1;
        PUSH(pool, name, count, pool_copy(pool, from, strcspn(from, "(\n")));
    }
    return unet_nearest_word(typed, name, count);
}

static int no_such_word(Session *s, const char *typed) {
    const char *near = near_word(s->pool, typed);
    fprintf(stderr, "unetc: there is no diagnostic, operator or setting `%s`%s\n", typed,
            near != NULL ? pool_text(s->pool, ": did you mean `%s`?", near)
                         : "; `unetc explain operators` and `unetc explain settings` list those");
    return EXIT_USAGE;
}

/* "U0401", of "u0401" and "0401", too. */
static const char *code_of(Session *s, const char *typed) {
    const char *digits = typed + (*typed == 'u' || *typed == 'U');
    return pool_text(s->pool, "U%s", digits);
}

static int command_explain(Session *s, const char *what) {
    if (strcmp(what, "settings") == 0 || strcmp(what, "operators") == 0) {
        (*what == 's' ? print_settings : print_operators)(stdout);
        return EXIT_DONE;
    }
    const char *text = diag_explain(code_of(s, what));
    if (text != NULL)
        fputs(text, stdout);
    else if (!explain_word(s, what))
        return no_such_word(s, what);
    return EXIT_DONE;
}

/* Reads and parses the file; false after reporting errors. */
static bool open_file(Session *s, const char *path) {
    Command *c = &s->command;
    c->lower.path = path;
    c->lower.text = read_source(s->pool, path);
    c->lower.text += unet_bom_length(c->lower.text);
    s->diag = diag_new(s->pool, path, c->lower.text, c->error_format, c->color);
    if (c->warnings_are_errors)
        diag_strict(s->diag);
    s->file = parse(s->pool, s->diag, c->lower.text);
    return s->file != NULL && diag_errors(s->diag) == 0;
}

/* The plan of a .unet file, or the one that the file is: no .unet file begins with a brace. */
static bool plan_text(Session *s, const char *path, PlanText *plan) {
    const char *text = read_source(s->pool, path);
    *plan = (PlanText){path, text};
    if (text[strspn(text, " \t\r\n")] == '{')
        return true;
    Plan *made = open_file(s, path) ? make_plan(s) : NULL;
    if (made == NULL)
        return false;
    Text out = text_new(s->pool);
    report_json(made, &out);
    plan->json = out.bytes;
    return true;
}

static int command_diff(Session *s) {
    PlanText a, b;
    if (!plan_text(s, s->command.file, &a) || !plan_text(s, s->command.other, &b))
        return EXIT_ERRORS;
    Text out = text_new(s->pool);
    bool more = diff_plans(s->pool, a, b, s->command.format == REPORT_JSON, &out);
    print_report(s, &out);
    return more ? EXIT_ERRORS : EXIT_DONE;
}

static int run_command(Session *s) {
    Command *c = &s->command;
    if (c->kind == COMMAND_EXPLAIN)
        return command_explain(s, c->file);
    if (c->kind == COMMAND_WORDS) {
        Text out = text_new(s->pool);
        print_words(&out);
        print(&out);
        return EXIT_DONE;
    }
    if (c->kind == COMMAND_RUNTIME) {
        puts(runtime_folder(s->pool));
        return EXIT_DONE;
    }
    if (c->diff)
        return command_diff(s);
    if (!open_file(s, c->file))
        return EXIT_ERRORS;
    if (c->stage != EMIT_ALL)
        return emit_stage(s);
    if (c->kind == COMMAND_CHECK)
        return command_check(s);
    if (c->kind == COMMAND_FIT)
        return command_fit(s);
    if (c->kind == COMMAND_ONNX)
        return command_onnx(s);
    return c->kind == COMMAND_MEM ? command_mem(s) : command_compile(s);
}

int main(int argc, char **argv) {
    if (atexit(check_output) != 0)
        out_of_memory();
    Session session = {.pool = pool_new()};
    session.command = command_read(session.pool, argc, argv);
    int result = run_command(&session);
    if (session.command.options.device != NULL)
        session.command.options.target->close(session.command.options.device);
    pool_free(session.pool);
    return result;
}
