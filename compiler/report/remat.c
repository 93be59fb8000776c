/* remat.c - --emit=remat: the problem of recomputation, as a graph of operations in a text.
 *
 *     # a comment
 *     T E F                                   operations, edges, operations of the forward pass
 *     bytes cost [scratch once kept]          T lines
 *     u v [1]                                 E lines: v reads what u writes; 1: and may write in its place
 *
 * tests/bench/remat.c and tests/bench/remat_ilp.py read it.  Bytes and costs are the planner's own.  The
 * capacity in the comment is the part of the budget that is left to these tensors.  An operation that
 * writes several tensors appears as one that writes them in one piece.
 */
#include "report/report.h"

typedef struct {
    const RematProblem *problem;
    int *maker; /* per tensor: the operation that writes it, or -1 */
} Writers;

static Writers writers_of(const Plan *plan, const RematProblem *problem) {
    Writers w = {problem, NEW_ARRAY(plan->pool, int, problem->ntensor)};
    for (int t = 0; t < problem->ntensor; t++)
        w.maker[t] = -1;
    for (int o = 0; o < problem->noperation; o++)
        for (int i = 0; i < problem->operation[o].nwrite; i++)
            w.maker[problem->operation[o].write[i]] = o;
    return w;
}

/* Prints the edges into operation O, unless OUT is NULL; returns how many there are. */
static int edges(const Writers *w, int o, Text *out) {
    const RematOperation *operation = &w->problem->operation[o];
    int count = 0, span = operation->in_place < 0 ? -1 : w->maker[operation->read[operation->in_place]];
    for (int i = 0; i < operation->nread; i++) {
        int maker = w->maker[operation->read[i]];
        bool again = maker < 0;
        for (int k = 0; k < i; k++)
            again |= w->maker[operation->read[k]] == maker;
        if (again)
            continue;
        count++;
        if (out != NULL)
            text_add(out, "%d %d%s\n", maker, o, maker == span ? " 1" : "");
    }
    return count;
}

static void operation_line(const RematProblem *problem, int o, Text *out) {
    const RematOperation *operation = &problem->operation[o];
    int64_t bytes = 0;
    bool kept = false;
    for (int i = 0; i < operation->nwrite; i++) {
        bytes += problem->bytes[operation->write[i]];
        kept |= problem->kept[operation->write[i]];
    }
    text_add(out, "%lld %lld %lld %d %d # %s\n", (long long)bytes, (long long)operation->cost,
             (long long)operation->scratch, !operation->repeatable, kept, operation->name);
}

void report_remat(const Plan *plan, Text *out) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const RematProblem *problem = train->remat;
    if (problem == NULL)
        return;
    const Writers writers = writers_of(plan, problem);
    int nedge = 0;
    for (int o = 0; o < problem->noperation; o++)
        nedge += edges(&writers, o, NULL);
    text_add(out, "# training of %s, batch %lld, %lld at a time\n", plan->model->source,
             (long long)train->batch, (long long)train->micro_batch);
    if (plan->budget > 0)
        text_add(out, "# capacity %lld\n", (long long)(plan->budget - train->remat_outside));
    text_add(out, "%d %d %d\n", problem->noperation, nedge, problem->nforward);
    for (int o = 0; o < problem->noperation; o++)
        operation_line(problem, o, out);
    for (int o = 0; o < problem->noperation; o++)
        edges(&writers, o, out);
}
