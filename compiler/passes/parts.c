/* parts.c - cuts the optimiser's step into parts, so that gradients take memory for a short while.
 *
 * Gradients that one step updates are one region, which is alive from the first write to any of them.  The
 * backward pass begins where most activations are alive, and has written hardly a gradient by then.  So the
 * update becomes a few nodes, each with the region of the gradients that are complete at about one time.
 * schedule.c puts each right behind the last reader of its parameters:
 *
 *     gradients of dec1     w--r
 *     gradients of enc4          w----r
 *     gradients of enc1                w--r
 *
 * If a step reads all gradients first (their norm, a scale of losses), each region is alive from its first
 * write to the update.
 *
 * The cuts are the ones with which the regions take the fewest bytes in all, over all nodes of the backward
 * pass.  A further part has to gain something, for each is a step.
 *
 * The update of an element reads nothing of another one, so parts change no bit.  The gradients stay one
 * region by ranks; where samples come in loops, for gradients are sums over all iterations then; where
 * gradients are few beside activations; with --keep-gradients; and on a GPU, where each part is a launch,
 * if the plan fits without and the launches are not nearly free (search/nearly_free.c).
 *
 * Requires: layouts.  Provides: the optimiser's nodes.
 */
#include <float.h>

#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

enum { MOST_PARTS = 16, MOST_UNITS = 1024 };

/* Gradients with a smaller share of the most bytes alive are not worth a step.  A further part has to gain
 * this share of what the gradients take as one region. */
static const double LEAST_SHARE = 0.01, LEAST_GAIN = 0.005;

/* The gradients of the update, in its order, as units that are not cut.  A unit is one gradient where they
 * are few.  The limit on units keeps the time of the cuts small for a net of any length. */
typedef struct {
    int count;
    int *born, *complete; /* per unit: the first and the last node that touches it */
    int *first;           /* per unit, and one more: its first gradient */
    int64_t *begin;       /* per unit, and one more: bytes of the units in front of it */
} Units;

/* The first and the last node that touches each value, among the nodes in front of END. */
typedef struct {
    int *first, *last;
} Touched;

static Touched touched_before(const Graph *g, NodeId end) {
    Touched touched = {NEW_ARRAY(g->pool, int, g->nvalue), NEW_ARRAY(g->pool, int, g->nvalue)};
    for (NodeId i = end - 1; i >= 0; i--)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);) {
            touched.first[t.value] = i;
            touched.last[t.value] = touched.last[t.value] > 0 ? touched.last[t.value] : i;
        }
    return touched;
}

/* Returns the most bytes of tensors that are alive at one node in front of END, if no tensor takes the
 * place of another. */
static int64_t most_alive(const Program *program, const Touched *touched, NodeId end) {
    const Graph *g = program->graph;
    int64_t *born = NEW_ARRAY(g->pool, int64_t, end + 1), *gone = NEW_ARRAY(g->pool, int64_t, end + 1);
    int64_t alive = 0, most = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].nsegments == 0) {
            born[touched->first[v]] = size_sum(born[touched->first[v]], program->layout[v].bytes);
            gone[touched->last[v] + 1] = size_sum(gone[touched->last[v] + 1], program->layout[v].bytes);
        }
    for (NodeId i = 0; i < end; i++) {
        alive = size_sum(alive - gone[i], born[i]);
        most = alive > most ? alive : most;
    }
    return most;
}

/* Do gradients take a share of the memory that is worth a step? */
static bool are_many(const Program *program, const Touched *touched, NodeId update, const ValueId *gradient,
                     int count) {
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes = size_sum(bytes, program->layout[gradient[i]].bytes);
    return (double)bytes >= LEAST_SHARE * (double)most_alive(program, touched, update);
}

/* Are parts worth their launches?  If a launch costs time, a program has parts if it has to fit, or if the
 * search says so. */
static bool is_worth_launches(const Program *program) {
    const Choices *choices = program->choices;
    return program->target->loops_are_free || choices->parts ||
           (choices->capacity > 0 && !choices->nearly_free);
}

/* May the update be several nodes? */
static bool is_divisible(const Program *program) {
    return !program->options->keep_gradients && is_worth_launches(program) &&
           program->micro_batch == program->batch && program->group == 0 &&
           merging_node(program->graph) == NULL && program->model->train.processes <= 1;
}

/* Adds gradient I, touched from node BORN to COMPLETE, to the last unit, or to a new one. */
static void add_gradient(Units *units, int i, bool begins, int born, int complete, int64_t bytes) {
    if (begins) {
        const int n = units->count++;
        units->born[n] = born;
        units->complete[n] = complete;
    }
    const int n = units->count - 1;
    units->born[n] = born < units->born[n] ? born : units->born[n];
    units->complete[n] = complete > units->complete[n] ? complete : units->complete[n];
    units->first[n + 1] = i + 1;
    units->begin[n + 1] = size_sum(begins ? units->begin[n] : units->begin[n + 1], bytes);
}

static Units units_of(const Program *program, const Touched *touched, const ValueId *gradient, int count) {
    const Graph *g = program->graph;
    Units units = {.born = NEW_ARRAY(g->pool, int, count),
                   .complete = NEW_ARRAY(g->pool, int, count),
                   .first = NEW_ARRAY(g->pool, int, count + 1),
                   .begin = NEW_ARRAY(g->pool, int64_t, count + 1)};
    const int share = (count - 1) / MOST_UNITS + 1; /* gradients in a unit */
    for (int i = 0; i < count; i++)
        add_gradient(&units, i, i % share == 0, touched->first[gradient[i]], touched->last[gradient[i]],
                     program->layout[gradient[i]].bytes);
    return units;
}

/* The best cuts of the first I units into K parts, by dynamic programming over K. */
typedef struct {
    double held[MOST_PARTS + 1];
    int last[MOST_PARTS + 1]; /* where the last part begins */
} Best;

/* Cuts the first I units, if the cuts of fewer units are known. */
static void cut_first(const Units *units, int i, Best *best) {
    for (int k = 0; k <= MOST_PARTS; k++)
        best[i].held[k] = DBL_MAX;
    int born = units->born[i - 1], complete = units->complete[i - 1];
    for (int from = i - 1; from >= 0; from--) {
        born = units->born[from] < born ? units->born[from] : born;
        complete = units->complete[from] > complete ? units->complete[from] : complete;
        const double alone = (double)(units->begin[i] - units->begin[from]) * (complete + 1 - born);
        for (int k = 1; k <= MOST_PARTS; k++)
            if (best[from].held[k - 1] + alone < best[i].held[k]) {
                best[i].held[k] = best[from].held[k - 1] + alone;
                best[i].last[k] = from;
            }
    }
}

/* Writes the first gradient of each part, and behind that the count of gradients; returns how many parts
 * there are. */
static int cut(Pool *pool, const Units *units, int *first) {
    Best *best = NEW_ARRAY(pool, Best, units->count + 1);
    for (int i = 1; i <= units->count; i++)
        cut_first(units, i, best);
    const double *held_by = best[units->count].held, least = held_by[1] * LEAST_GAIN;
    int parts = 1;
    while (parts < MOST_PARTS && held_by[parts] - held_by[parts + 1] > least)
        parts++;
    for (int k = parts, end = units->count; k >= 0; k--) {
        first[k] = units->first[end];
        end = best[end].last[k];
    }
    return parts;
}

/* The operand V of the update, as the part has it that updates the parameters [FROM, TO). */
static ValueId part_of(Program *program, ValueId v, int from, int to) {
    Graph *g = program->graph;
    const ValueId *segment;
    const int count = v < 0 ? 0 : value_segments(g, &v, &segment);
    if (count == 0)
        return v;
    CHECK(to <= count);
    PUSH(g->pool, program->layout, program->nlayout, program->layout[v]);
    return value_concat_like(g, segment + from, to - from, g->value[v]);
}

/* Puts the nodes from FIRST on right behind node AFTER. */
static void move_behind(Graph *g, NodeId after, NodeId first) {
    NodeId *order = NEW_ARRAY(g->pool, NodeId, g->nnode);
    int n = 0;
    for (NodeId i = 0; i < first; i++) {
        order[n++] = i;
        for (NodeId k = first; i == after && k < g->nnode; k++)
            order[n++] = k;
    }
    graph_order(g, order);
}

void part_updates(Program *program) {
    Graph *g = program->graph;
    int updates;
    const NodeId update = first_update(g, &updates), behind = g->nnode;
    if (updates != 1 || !is_divisible(program))
        return;
    const Node whole = g->node[update];
    const ValueId *gradient;
    const int count = value_segments(g, &whole.in[input_named(&g->operands[whole.op], "g")], &gradient);
    const Touched touched = touched_before(g, update);
    if (!are_many(program, &touched, update, gradient, count))
        return;
    const Units units = units_of(program, &touched, gradient, count);
    int first[MOST_PARTS + 1];
    const int parts = cut(g->pool, &units, first);
    for (int k = 0; k < parts && parts > 1; k++) {
        ValueId *in = NEW_ARRAY(g->pool, ValueId, whole.nin);
        for (int i = 0; i < whole.nin; i++)
            in[i] = g->operands[whole.op].in[i].region
                        ? part_of(program, whole.in[i], first[k], first[k + 1])
                        : whole.in[i];
        if (k == 0)
            g->node[update].in = in;
        else
            node_new(g, whole, in, NULL);
    }
    move_behind(g, update, behind);
}
