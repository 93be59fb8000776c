/* main.c - unetc: options, then the pipeline as a list of calls. */
#include "files.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Pool *pool;
    Command command;
    Diag *diag;
    Ast *file;
} Session;

/* ---- lowering, once per program
 * ------------------------------------------------------------------------------- */

/* Options for a program at a size of its own: the file's, unless the command line gave one. */
static LowerOptions sized(const Session *s, const int64_t size[AXES]) {
    LowerOptions options = s->command.lower;
    bool given = options.size[AXES - 1] != 0;
    for (int k = 0; k < AXES && !given; k++)
        options.size[k] = size[k];
    return options;
}

static bool lower_programs(const Session *s, Model *model[PROGRAMS]) {
    const bool *wanted = s->command.plan.wanted;
    Model *first = lower(s->pool, s->diag, s->file, &s->command.lower);
    if (first == NULL || diag_errors(s->diag) > 0)
        return false;
    bool trains = first->train.present,
         measures = trains && (first->eval.present || first->eval_data.present || first->data.holdout > 0);
    bool taken = false; /* `first` serves one program, as passes rewrite its graph */
    Diag *quiet = s->diag;
    if (wanted[PROGRAM_TRAIN] && trains)
        model[PROGRAM_TRAIN] = first, taken = true;
    if (wanted[PROGRAM_EVAL] && measures) {
        LowerOptions options = sized(s, first->eval.size);
        model[PROGRAM_EVAL] =
            taken || first->eval.size[AXES - 1] != 0 ? lower(s->pool, quiet, s->file, &options) : first;
        taken = taken || model[PROGRAM_EVAL] == first;
    }
    if (wanted[PROGRAM_PREDICT]) {
        LowerOptions options = sized(s, first->predict.size);
        model[PROGRAM_PREDICT] =
            taken || first->predict.size[AXES - 1] != 0 ? lower(s->pool, quiet, s->file, &options) : first;
    }
    return diag_errors(s->diag) == 0;
}

static uint64_t hash_of(const char *text, uint64_t hash) {
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

static const char *compile_flags(const PlanOptions *options) {
    if (options->poison)
        return "-std=gnu11 -O1 -g1 -march=native -ffp-contract=fast -fno-math-errno -fopenmp "
               "-fsanitize=address,undefined -fno-sanitize=pointer-overflow,alignment,object-size,null "
               "-fno-sanitize-recover=all";
    if (options->reference)
        return "-std=gnu11 -O2 -ffp-contract=off -fopenmp";
    return "-std=gnu11 -O2 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp";
}

static Plan *make_plan(Session *s) {
    Model *model[PROGRAMS] = {NULL};
    PlanOptions *options = &s->command.plan;
    if (!lower_programs(s, model))
        return NULL;
    for (int k = 0; k < PROGRAMS; k++)
        if (options->budget == 0 && model[k] != NULL && model[k]->train.present)
            options->budget = model[k]->train.memory;
    Plan *plan = plan_programs(s->pool, options, &target_cpu, model);
    uint64_t hash = hash_of(options->command, hash_of(s->command.lower.text, UINT64_C(0xcbf29ce484222325)));
    plan->source_hash = pool_text(s->pool, "%016llx", (unsigned long long)hash);
    plan->c_flags = compile_flags(options);
    return plan;
}

/* ---- commands
 * ---------------------------------------------------------------------------------------------------- */

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
        Plan *plan = make_plan(s);
        if (plan == NULL)
            return EXIT_ERRORS;
        report_json(plan, &out);
    }
    print(&out);
    return EXIT_DONE;
}

static int command_check(Session *s) {
    Model *model = lower(s->pool, s->diag, s->file, &s->command.lower);
    if (model == NULL || diag_errors(s->diag) > 0)
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
    else
        report_text(plan, &out);
    print(&out);
    return report_over_budget(plan, s->diag) ? EXIT_NO_FIT : EXIT_DONE;
}

static int command_compile(Session *s) {
    Plan *plan = make_plan(s);
    if (plan == NULL)
        return EXIT_ERRORS;
    if (report_over_budget(plan, s->diag))
        return EXIT_NO_FIT;
    Sources sources;
    emit(plan, &sources);
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

static int run_command(Session *s) {
    Command *c = &s->command;
    if (c->kind == COMMAND_EXPLAIN)
        return command_explain(c->file);
    if (c->kind == COMMAND_RUNTIME) {
        puts(runtime_folder(s->pool));
        return EXIT_DONE;
    }
    c->lower.text = read_source(s->pool, c->file);
    s->diag = diag_new(s->pool, c->file, c->lower.text, c->error_format, c->color);
    s->file = parse(s->pool, s->diag, c->lower.text);
    if (s->file == NULL || diag_errors(s->diag) > 0)
        return EXIT_ERRORS;
    if (c->stage != EMIT_ALL)
        return emit_stage(s);
    if (c->kind == COMMAND_CHECK)
        return command_check(s);
    return c->kind == COMMAND_MEM ? command_mem(s) : command_compile(s);
}

int main(int argc, char **argv) {
    Session session = {.pool = pool_new()};
    session.command = command_read(session.pool, argc, argv);
    int result = run_command(&session);
    pool_free(session.pool);
    return result;
}
