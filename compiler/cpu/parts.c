/* parts.c - the steps of a long program in functions of their own, each in a file.
 *
 * A compiler takes more than twice as long for a function of twice the length, and one processor for a
 * file.  So a list of more steps than STEPS_PER_FILE (`--steps-per-file`) becomes functions, which the
 * program calls in its parallel region:
 *
 *     NAME_calls.h     declares them
 *     NAME_steps_0.c   one of them
 *
 * A loop stays where it is, and its body is split likewise.  A function gets what has a name where its
 * steps stand.
 *
 * Requires: an emitter of the cpu target.  Provides: the same calls in the same order.
 */
#include "cpu/parts.h"
#include "emit/template.h"

Parts parts_new(const Plan *plan) {
    const int64_t asked = plan->options->steps_per_file;
    return (Parts){.plan = plan, .limit = asked > 0 ? (int)asked : STEPS_PER_FILE};
}

bool parts_split(const Parts *parts, const Step *step, int nstep) {
    return !parts->plan->options->reference && step_count(step, nstep) > parts->limit;
}

void part_begin(Parts *parts, Emitter *e, const Program *program) {
    const Scope *scope = &parts->scope;
    Pool *pool = parts->plan->pool;
    const char *name =
        pool_text(pool, "%s_%s_steps_%d", plan_name(parts->plan), program->name, parts->count);
    text_line(e->out, "%s(step, %s, %s, %s, %s);", name, scope->samples ? "n, start, valid" : "0, 0, NULL",
              scope->last ? "last" : "0", scope->bands ? "band" : "0", scope->labels ? "labelled" : "NULL");
    const int before = parts->count;
    int texts = parts->count;
    PUSH(pool, parts->text, texts, text_new(pool));
    PUSH(pool, parts->name, parts->count, name);
    parts->out = e->out;
    e->out = &parts->text[before];
    text_line(e->out, "void %s(PART_PARAMETERS) {", name);
    e->out->depth++;
    text_line(e->out, "char *const arena = step->arena;");
    text_line(e->out,
              "(void)arena, (void)n, (void)start, (void)valid, (void)last, (void)band, (void)labelled;");
}

void part_end(Parts *parts, Emitter *e) {
    e->out->depth--;
    text_line(e->out, "}");
    e->out = parts->out;
}

const char *parts_declared(const Parts *parts) {
    Text out = text_new(parts->plan->pool);
    for (int i = 0; i < parts->count; i++)
        text_line(&out, "void %s(PART_PARAMETERS);", parts->name[i]);
    return out.length > 0 ? out.bytes : "";
}

void emit_parts(const Parts *parts, Sources *sources) {
    for (int i = 0; i < parts->count; i++) {
        const Hole hole[] = {{"steps", parts->text[i].bytes}, {NULL, NULL}};
        emit_file(parts->plan, sources, "program/steps.c.in",
                  pool_text(parts->plan->pool, "%s_steps_%d.c", plan_name(parts->plan), i), hole);
    }
}
