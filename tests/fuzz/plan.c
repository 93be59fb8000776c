/* plan.c - fuzzes the reading of plans in JSON, as `unetc mem --diff` does it. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "report/diff.h"

/* A text that is no plan ends the compiler, and nothing is freed before. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

typedef struct {
    Pool *pool;
    PlanText plan;
} Case;

static void compare(void *context) {
    const Case *c = context;
    Text text = text_new(c->pool), json = text_new(c->pool);
    if (diff_plans(c->pool, c->plan, c->plan, false, &text) ||
        diff_plans(c->pool, c->plan, c->plan, true, &json))
        abort(); /* no plan needs more than itself */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = as_text(data, size);
    Case c = {pool_new(), {"plan.json", text}};
    run_caught(compare, &c);
    pool_free(c.pool);
    free(text);
    return 0;
}
