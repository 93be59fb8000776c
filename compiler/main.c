/* main.c - unetc: options, then the pipeline as a list of calls. */
#include "diff.h"
#include "files.h"
#include "planner.h"
#include "report.h"
#include "report_fit.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Pool *pool;
    Command command;
    Diag *diag;
    Ast *file;
} Session;

/* The file on its own; options that the command line leaves open become the file's.  NULL after reporting
 * errors. */
static Model *read_model(Session *s) {
    Model *model = lower(s->pool, s->diag, s->file, &s->command.lower);
    if (model == NULL || diag_errors(s->diag) > 0)
        return NULL;
    if (!s->command.plan.has_precision)
        s->command.plan.stored = model->train.precision;
    return model;
}

static Plan *make_plan(Session *s) {
    if (read_model(s) == NULL)
        return NULL;
    return plan_file(s->pool, s->diag, s->file, &s->command.lower, &s->command.plan);
}

static FitQuestion question(const Session *s) {
    return (FitQuestion){.file = s->file, .lower = s->command.lower, .plan = s->command.plan};
}

static bool over_budget(Session *s, const Plan *plan) {
    const FitQuestion asked = question(s);
    return report_over_budget(plan, &asked, s->diag);
}

/* ---- commands ---- */

static void print(const Text *text) {
    if (text->length > 0 &&
        (fwrite(text->bytes, 1, text->length, stdout) != text->length || fflush(stdout) != 0))
        environment_error("standard output: cannot be written");
}

static int emit_stage(Session *s) {
    Text out = text_new(s->pool);
    if (s->command.stage == EMIT_AST) {
        ast_print(s->file, stdout);
        return EXIT_DONE;
    }
    if (s->command.stage == EMIT_GRAPH) {
        Model *model = lower(s->pool, s->diag, s->file, &s->command.lower);
        if (model == NULL)
            return EXIT_ERRORS;
        report_graph(model->graph, &out);
    } else {
        if (s->command.stage == EMIT_REMAT)
            s->command.plan.capacity =
                INT64_MAX; /* so that the question is asked, even if all can be kept */
        Plan *plan = make_plan(s);
        if (plan == NULL)
            return EXIT_ERRORS;
        (s->command.stage == EMIT_REMAT ? report_remat : report_json)(plan, &out);
        print(&out);
        return over_budget(s, plan) ? EXIT_NO_FIT : EXIT_DONE;
    }
    print(&out);
    return EXIT_DONE;
}

static int command_check(Session *s) {
    Model *model = read_model(s);
    if (model == NULL)
        return EXIT_ERRORS;
    Text out = text_new(s->pool);
    report_check(model, &out);
    print(&out);
    return EXIT_DONE;
}

static int command_mem(Session *s) {
    Plan *plan = make_plan(s);
    if (plan == NULL)
        return EXIT_ERRORS;
    Text out = text_new(s->pool);
    if (s->command.format == REPORT_JSON)
        report_json(plan, &out);
    else if (s->command.format == REPORT_CSV)
        report_csv(plan, &out);
    else if (s->command.format == REPORT_HTML)
        report_html(plan, &out);
    else {
        const FitQuestion asked = question(s);
        report_text(plan, &asked, &out);
    }
    print(&out);
    return over_budget(s, plan) ? EXIT_NO_FIT : EXIT_DONE;
}

static int command_fit(Session *s) {
    Model *model = read_model(s);
    const FitQuestion asked = question(s);
    const FitMax max = s->command.max;
    if (model == NULL)
        return EXIT_ERRORS;
    if (max == FIT_BATCH && (!model->train.present || !asked.plan.wanted[PROGRAM_TRAIN])) {
        fputs("unetc: --max=batch: nothing is trained here, so there is no batch to choose\n", stderr);
        return EXIT_USAGE;
    }
    Text out = text_new(s->pool);
    bool fits = report_fit(&asked, model, max, s->command.format == REPORT_JSON, &out);
    print(&out);
    return fits ? EXIT_DONE : EXIT_NO_FIT;
}

static int command_compile(Session *s) {
    Plan *plan = make_plan(s);
    if (plan == NULL)
        return EXIT_ERRORS;
    if (over_budget(s, plan))
        return EXIT_NO_FIT;
    Sources sources = {0};
    plan->target->emit(plan, &sources);
    if (s->command.folder != NULL) {
        write_sources(plan, &sources, s->command.folder);
        return EXIT_DONE;
    }
    return build_program(plan, &sources, s->command.output != NULL ? s->command.output : plan->model->name);
}

static int command_explain(const char *code) {
    const char *text = diag_explain(code);
    if (text == NULL) {
        fprintf(stderr, "unetc: there is no diagnostic %s\n", code);
        return EXIT_USAGE;
    }
    fputs(text, stdout);
    return EXIT_DONE;
}

/* Reads and parses the file; false after reporting errors. */
static bool open_file(Session *s, const char *path) {
    Command *c = &s->command;
    c->lower.path = path;
    c->lower.text = read_source(s->pool, path);
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
    print(&out);
    return more ? EXIT_ERRORS : EXIT_DONE;
}

static int run_command(Session *s) {
    Command *c = &s->command;
    if (c->kind == COMMAND_EXPLAIN)
        return command_explain(c->file);
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
    return c->kind == COMMAND_MEM ? command_mem(s) : command_compile(s);
}

int main(int argc, char **argv) {
    Session session = {.pool = pool_new()};
    session.command = command_read(session.pool, argc, argv);
    int result = run_command(&session);
    pool_free(session.pool);
    return result;
}
