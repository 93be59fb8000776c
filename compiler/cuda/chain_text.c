/* chain_text.c - one kernel for the steps of a chain (passes/chains.c).
 *
 * A template whose kernel works point by point has a function for one vector, and one that normalises has a
 * function that calls another for each vector that it has stored:
 *
 *     DEVICE void KERNEL_vector(unsigned i, const UnetControl *control, OPERANDS)
 *     DEVICE void KERNEL_each(Range range, const UnetControl *control, OPERANDS, Then then)
 *
 * The kernel of a chain has the operands of all its steps, each with the number of its step behind its
 * name, and calls these functions one after the other.
 *
 * Requires: the instances of the steps.  Provides: kernels, launchers and their declarations.
 */
#include "cuda/chain_text.h"
#include "base/diag.h"
#include "emit/template.h"

#include <ctype.h>
#include <string.h>

/* The parameters of the function of TEMPLATE that begins with HEAD, behind the first two, up to END; NULL:
 * it has no such function. */
static char *operands_of(const Emitter *e, const char *template, const char *head, const char *end) {
    const char *begin = strstr(template_body(e, template), head);
    if (begin == NULL)
        return NULL;
    begin = strchr(begin + strlen(head), ',');
    CHECK(begin != NULL && strstr(begin, end) != NULL);
    return pool_copy(e->pool, begin + 1, (size_t)(strstr(begin, end) - begin - 1));
}

/* Appends these OPERANDS to the parameters of the chain; returns their names, each behind a comma. */
static const char *add_parameters(const Emitter *e, Chain *chain, char *operands) {
    const char *names = "";
    char *rest = NULL;
    for (char *one = strtok_r(operands, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        const char *name = one + strlen(one);
        while (isalnum((unsigned char)name[-1]) || name[-1] == '_')
            name--;
        chain->parameters =
            pool_text(e->pool, "%s,%s%s_%d", chain->parameters, *names == '\0' ? "\n    " : " ",
                      one + strspn(one, " \n"), chain->count);
        names = pool_text(e->pool, "%s, %s_%d", names, name, chain->count);
    }
    chain->arguments = pool_text(e->pool, "%s%s", chain->arguments, names);
    return names;
}

void chain_add(const Emitter *e, Chain *chain, const char *template, const Instance *instance) {
    char *each = operands_of(e, template, "void KERNEL_each(Range range,", ", Then then)"),
         *vector = operands_of(e, template, "void KERNEL_vector(unsigned i,", ") {");
    CHECK(vector != NULL || (each != NULL && chain->count == 0));
    const char *names = add_parameters(e, chain, vector != NULL ? vector : each);
    if (vector == NULL)
        chain->normalises = instance->function;
    chain->first = chain->count == 0 ? names : chain->first;
    if (vector != NULL)
        chain->calls =
            pool_text(e->pool, "%s%s%s_vector(i, control%s);\n", chain->calls,
                      chain->normalises != NULL ? "        " : "    ", instance->function, names);
    chain->key = pool_text(e->pool, "%s %s", chain->key, instance->function);
    chain->count++;
}

/* The statements of a thread. */
static const char *body_of(const Emitter *e, const Chain *chain) {
    return chain->normalises != NULL
               ? pool_text(e->pool, "    %s_each(range, control%s, [&](unsigned i) {\n%s    });\n",
                           chain->normalises, chain->first, chain->calls)
               : pool_text(e->pool,
                           "    const unsigned i = vector_index(range);\n"
                           "    if (i == NO_VECTOR)\n"
                           "        return;\n%s",
                           chain->calls);
}

/* The kernel of CHAIN, and what launches it. */
static void add_kernel(const Emitter *e, const Chain *chain, const char *name, Text *out) {
    const char *launch = chain->normalises != NULL
                             ? pool_text(e->pool, "LAUNCH_NORMALISED(at, %s_vectors, %lld, ", name,
                                         (long long)chain->columns)
                             : pool_text(e->pool, "LAUNCH_RANGE(at, %s_vectors, ", name);
    text_blank(out);
    text_comment(out, pool_text(e->pool, "One launch:%s", chain->key));
    text_add(out, "static __global__ void %s_vectors(Range range, const UnetControl *control%s) {\n%s}\n\n",
             name, chain->parameters, body_of(e, chain));
    text_add(out, "LAUNCHER void %s(UnetLaunch at, Rows rows%s) {\n", name, chain->parameters);
    out->depth++;
    text_wrapped(out, pool_text(e->pool, "%srange_of(%s, rows), at.control%s);", launch, chain->grid,
                                chain->arguments));
    out->depth--;
    text_add(out, "}\n");
}

const char *chain_function(const Emitter *e, ChainTexts *texts, const Chain *chain) {
    const char *key = pool_text(e->pool, "%s %s", chain->key, chain->grid);
    int number = table_find(&texts->known, key);
    const bool is_new = number < 0;
    if (is_new) {
        number = texts->count++;
        table_set(e->keeps, &texts->known, pool_copy(e->keeps, key, strlen(key)), number);
    }
    const char *name = pool_text(e->pool, "%s_chain_%d", e->plan->model->name, number);
    if (is_new) {
        add_kernel(e, chain, name, &texts->kernels);
        text_add(&texts->declarations, "\nvoid %s(UnetLaunch at, Rows rows%s);\n", name, chain->parameters);
    }
    return name;
}
