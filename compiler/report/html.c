/* html.c - the plan as one HTML page that needs nothing from outside: a map of the arena, offset by
 * time.
 *
 * The page is templates/report/memory_map.html.in; here its two holes are filled: the title, and the plan
 * as JSON, which, other than unetc-plan/1, has lives and the text of the file.
 */
#include "ir/target.h"
#include "ir/ops.h"
#include "report/report.h"
#include "emit/template.h"

#include <string.h>

static void source_json(const char *text, Text *out) {
    text_add(out, " \"text\": [");
    for (const char *line = text, *comma = ""; *line != '\0'; comma = ", ") {
        size_t length = strcspn(line, "\r\n");
        text_add(out, "%s%s", comma, quoted(out->pool, pool_copy(out->pool, line, length)));
        line += length;
        line += line[0] == '\r' && line[1] == '\n' ? 2 : *line != '\0';
    }
    text_add(out, "],\n");
}

static void buffers_json(const Plan *plan, Text *out) {
    text_add(out, " \"buffers\": [");
    for (int i = 0; i < plan->nbuffer; i++) { /* buffers of the host come last, and are not on the map */
        const Buffer *b = &plan->buffer[i];
        if (b->space != SPACE_DEVICE)
            continue;
        text_add(out, "%s\n  {\"name\": %s, \"class\": \"%s\", \"type\": \"%s\", \"shape\": [",
                 i > 0 ? "," : "", quoted(out->pool, b->name), class_text(b->class), type_text(b->type));
        if (b->batch > 0)
            text_add(out, "%lld, ", (long long)b->batch);
        for (int k = 0; k < b->shape.rank; k++)
            text_add(out, "%s%lld", k > 0 ? ", " : "", (long long)b->shape.dim[k]);
        text_add(out,
                 "], \"bytes\": %lld, \"offset\": %lld, \"line\": %d, \"program\": %d, \"first\": %d, ",
                 (long long)b->bytes, (long long)b->offset, b->span.line, b->program, b->first);
        text_add(out, "\"last\": %d, \"same\": %d, \"slice\": %d}", b->last, b->same, b->slice);
    }
    text_add(out, "],\n");
}

/* Steps in pre-order; a loop is a step of its own. */
static void steps_json(const Program *program, const Step *step, int nstep, const char *comma, Text *out) {
    for (int i = 0; i < nstep; i++, comma = ",") {
        if (step[i].node < 0) {
            text_add(out, "%s\n   {\"op\": \"loop\", \"name\": \"%s\", \"again\": false}", comma,
                     loop_text(step[i].axis));
            steps_json(program, step[i].body, step[i].nbody, ",", out);
            continue;
        }
        const Node *node = &program->graph->node[step[i].node];
        text_add(out, "%s\n   {\"op\": \"%s\", \"name\": %s, \"again\": %s}", comma,
                 node_operator(out->pool, node), quoted(out->pool, node->name),
                 step[i].recompute ? "true" : "false");
    }
}

static void loops_json(const Step *step, int nstep, int *position, const char **comma, Text *out) {
    for (int i = 0; i < nstep; i++) {
        int first = (*position)++;
        if (step[i].node >= 0)
            continue;
        text_add(out, "%s{\"over\": \"%s\", \"times\": %lld, \"first\": %d, \"last\": %d}", *comma,
                 loop_text(step[i].axis), (long long)step[i].times, first,
                 first + step_count(step[i].body, step[i].nbody));
        *comma = ", ";
        loops_json(step[i].body, step[i].nbody, position, comma, out);
    }
}

static void programs_json(const Plan *plan, Text *out) {
    const char *between = "";
    text_add(out, " \"programs\": [");
    for (int k = 0; k < PROGRAMS; k++) {
        const Program *p = &plan->program[k];
        const char *comma = "";
        int position = 0;
        if (p->model == NULL)
            continue;
        text_add(out,
                 "%s\n  {\"index\": %d, \"name\": \"%s\", \"extent\": %lld, \"peak\": %d, \"loops\": [",
                 between, k, p->name, (long long)p->extent, p->peak);
        loops_json(p->step, p->nstep, &position, &comma, out);
        text_add(out, "], \"steps\": [");
        steps_json(p, p->step, p->nstep, "", out);
        text_add(out, "]}");
        between = ",";
    }
    text_add(out, "]}\n");
}

static void plan_json(const Plan *plan, Text *out) {
    const Program *first = program_of(plan, 0);
    text_add(out,
             "{\"source\": %s, \"target\": \"%s\", \"precision\": \"%s\", \"batch\": %lld, "
             "\"micro_batches\": %lld,\n",
             quoted(out->pool, plan->model->source), plan->target->name, precision_text(plan->options),
             (long long)first->batch, (long long)iterations_of(first));
    text_add(out,
             " \"arena\": %lld, \"lower_bound\": %lld, \"without_reuse\": %lld, \"budget\": %lld, "
             "\"largest\": %d,\n",
             (long long)plan->arena, (long long)plan->lower_bound, (long long)bytes_without_reuse(plan),
             (long long)plan->budget, (int)largest_program(plan)->kind);
    text_add(out, " \"size\": \"%s\",\n",
             shape_text(out->pool, first->graph->value[first->model->input[0].value].shape));
    text_add(out, " \"flops\": %lld, \"recompute_flops\": %lld,\n", (long long)plan->flops,
             (long long)plan->recompute_flops);
    source_json(plan->model->text, out);
    buffers_json(plan, out);
    programs_json(plan, out);
}

/* Adds TEXT with each `<` as an ESCAPE of JSON or HTML, so that it ends no element of the page. */
static void add_escaped(const char *text, const char *escape, Text *out) {
    for (size_t n; *text != '\0'; text += n + (text[n] == '<')) {
        n = strcspn(text, "<");
        text_bytes(out, text, n);
        if (text[n] == '<')
            text_add(out, "%s", escape);
    }
}

void report_html(const Plan *plan, Text *out) {
    const char *page = template_text("report/memory_map.html.in");
    const char *title = strstr(page, "@TITLE@"), *data = strstr(page, "@PLAN@");
    CHECK(title != NULL && data != NULL && title < data);
    Text json = text_new(out->pool);
    plan_json(plan, &json);
    text_bytes(out, page, (size_t)(title - page));
    add_escaped(plan->model->source, "&lt;", out);
    title += strlen("@TITLE@");
    text_bytes(out, title, (size_t)(data - title));
    add_escaped(json.bytes, "\\u003c", out);
    text_add(out, "%s", data + strlen("@PLAN@"));
}
