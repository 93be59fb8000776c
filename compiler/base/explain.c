/* explain.c - what `unetc explain CODE` prints. */
#include "base/diag.h"

#include <string.h>

typedef struct {
    const char *code, *text;
} Explanation;

static const Explanation explanations[] = {
#define EXPLAIN(code, text) {code, text},
#include "base/explain.def"
#undef EXPLAIN
};

const char *diag_explain(const char *code) {
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (strcmp(explanations[i].code, code) == 0)
            return explanations[i].text;
    return NULL;
}
