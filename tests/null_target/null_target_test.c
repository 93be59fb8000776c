/* null_target_test.c FILE... - each file is planned for the null target and emitted; the text names every
 * step of the plan once, in its order, in whole batches and in a loop over samples. */
#include "ast.h"
#include "base/diag.h"
#include "emit/sources.h"
#include "ir/ops.h"
#include "null_target.h"
#include "search/budget_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (file == NULL || text == NULL || fread(text, 1, (1 << 16) - 1, file) == 0) {
        printf("FAILED: cannot read %s\n", path);
        exit(1);
    }
    (void)fclose(file);
    return text;
}

/* The text behind the line of each step in turn; NULL: a step is missing. */
static const char *find_steps(Pool *pool, const Program *program, const char *text) {
    NodeId *node;
    const Step **loop;
    const int count = schedule_nodes(program->graph->pool, program, &node, &loop);
    for (int i = 0; i < count; i++) {
        const Node *step = &program->graph->node[node[i]];
        const char *line = pool_text(pool, "%s %s\n", op_table[step->op].name, step->name);
        text += strspn(text, " ");
        while (strstr(text, ":\n") != NULL && strstr(text, ":\n") < strstr(text, "\n"))
            text = strstr(text, ":\n") + 2, text += strspn(text, " ");
        if (strncmp(text, line, strlen(line)) != 0) {
            printf("FAILED: %s: no `%s` at `%.40s`\n", program->name, line, text);
            return NULL;
        }
        text += strlen(line);
    }
    return text;
}

static void test_file(const char *path, int micro_batches, const char *must_have) {
    Pool *pool = pool_new();
    char *text = read_text(path);
    const Options options = {.wanted = {[PROGRAM_TRAIN] = true, [PROGRAM_PREDICT] = true},
                             .target = &target_null,
                             .max_threads = 4,
                             .micro_batches = micro_batches,
                             .command = "",
                             .training = ""};
    const LowerOptions lower_options = {.path = path, .text = text, .batch = 4};
    Diag *diag = diag_new(pool, path, text, FORMAT_HUMAN, COLOR_NEVER);
    const Ast *file = parse(pool, diag, text);
    const Plan *plan =
        file == NULL ? NULL : plan_file(pool, diag, file, &lower_options, &options, &(Choices){0});
    if (plan == NULL)
        exit(1);
    Sources sources = {0};
    plan->target->emit(plan, &sources);
    const char *at = sources.count == 1 ? sources.file[0].text->bytes : "";
    if (strstr(at, must_have) == NULL) {
        printf("FAILED: %s: no `%s` in:\n%s\n", path, must_have, at);
        failures++;
    }
    for (const Program *p = program_of(plan, 0); p != NULL && at != NULL;
         p = program_of(plan, (int)p->kind + 1))
        at = find_steps(pool, p, at);
    failures += at == NULL || *at != '\0';
    free(text);
    pool_free(pool);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        test_file(argv[i], 1, "adam adam\n");
        test_file(argv[i], 2, "2 samples:\n");
    }
    if (failures == 0)
        printf("%d files planned and emitted for the null target\n", argc - 1);
    return failures > 0;
}
