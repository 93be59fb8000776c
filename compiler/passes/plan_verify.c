/* plan_verify.c - an independent judge of the plan.
 *
 * The judge shares no code with the passes that made the plan, knows no lifetimes and searches nothing.  It
 * plays each program through, step by step.  For each buffer it keeps whether the bytes at its offset still
 * hold the last values written to it.  In a loop over bands it keeps the rows that have been computed and
 * not overwritten since: a ring loses a row when another takes its place.  Every plan is judged before
 * anything is emitted.
 *
 * - A write makes every other buffer that overlaps it worthless.
 * - A read of a worthless buffer, or of rows that are not there, breaks the plan.
 * - A persistent buffer is updated, and never computed or summed anew.  Weights that are not persistent are
 *   there for the steps that run once, and for no other.
 * - Steps of a chain run point by point.  So where one writes bytes that another one touches, these are
 *   the same bytes of tensors of one shape.
 * - Steps of different branches of a section may run at once.  So no step writes a byte that a step of
 *   another branch touches.
 * - A bucket of gradients has room of its own.  From its sending to the end of all sums nobody touches it.
 *
 * Requires: a complete plan.  Provides: nothing; calls BUG() naming the broken law.
 */
#include "base/diag.h"
#include "ir/ops.h"
#include "passes/passes.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const Plan *plan;
    const Program *program;
    bool *holds; /* per buffer: its bytes are what was written to it */
    int *held;   /* buffers of the program that hold something; no two of them overlap, so they are few */
    int nheld;
    int *beside;   /* in a loop over bands: buffers that hold some rows beside the buffer that took their
                    */
    int nbeside;   /*   place row by row and was written last */
    int *sharer;   /* per buffer: the next buffer that shares its bytes, around and around */
    int64_t *rows; /* per buffer: the rows that a loop over bands has computed; outside of one: INT64_MAX */
    int64_t *gone; /* per buffer: so many of them, from the first on, were overwritten */
    int64_t units; /* of the image; 0: it has the size that the program was lowered at */
} Judge;

static bool overlap(const Buffer *a, const Buffer *b) {
    return a->space == b->space && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static void law_of_bounds(const Plan *plan) {
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        int64_t end = b->space == SPACE_HOST ? plan->loader_ring
                      : b->program < 0       ? plan->persistent
                                             : plan->program[b->program].extent;
        if (b->offset < 0 || b->bytes < 0 || b->offset > end - b->bytes)
            BUG("plan: `%s` lies outside the arena", b->name);
        if (b->space == SPACE_DEVICE &&
            b->offset % (b->slice < 0 ? plan->target->align : plan->target->slice_align) != 0)
            BUG("plan: `%s` is not aligned", b->name);
        if (b->program >= 0 && b->bytes > 0 && b->offset < plan->persistent)
            BUG("plan: `%s` lies on what must survive", b->name);
    }
}

static int by_offset(const void *a, const void *b) {
    const Buffer *x = *(const Buffer *const *)a, *y = *(const Buffer *const *)b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Persistent buffers of a space lie apart, slices of a region from each other, too. */
static void law_of_regions(const Plan *plan) {
    const Buffer **list = NEW_ARRAY(plan->pool, const Buffer *, plan->nbuffer);
    for (int round = 0; round < 2 * SPACES; round++) {
        const int slices = round % 2;
        size_t n = 0;
        for (int i = 0; i < plan->nbuffer; i++) {
            const Buffer *b = &plan->buffer[i];
            if (b->program < 0 && (int)b->space == round / 2 && b->bytes > 0 &&
                (b->slice >= 0) == (slices == 1))
                list[n++] = b;
        }
        qsort(list, n, sizeof *list, by_offset);
        for (size_t i = 1; i < n; i++)
            if (overlap(list[i - 1], list[i]))
                BUG("plan: `%s` and `%s` both persist and overlap", list[i - 1]->name, list[i]->name);
    }
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i], *region = b->slice < 0 ? b : &plan->buffer[b->slice];
        if (b->offset < region->offset || b->offset + b->bytes > region->offset + region->bytes)
            BUG("plan: `%s` lies outside of its region `%s`", b->name, region->name);
    }
}

/* ---- one step ---- */

/* A ring has rows of the halo above the first row and below the last; beside them, no others are read. */
static void read_rows(const Judge *j, const Node *node, const Touch *t, int b, RowRange out) {
    const int64_t height = rows_at(j->program, t->value, j->units);
    const int64_t above = j->plan->buffer[b].ring > 0 ? j->program->layout[t->value].before[1] : 0;
    const RowRange rows = op_table[node->op].rows(j->program->graph, node, t->number, 1, out);
    if ((rows.end < height ? rows.end : height) > j->rows[b])
        BUG("plan: %s: `%s` reads rows of `%s` that are not computed yet", j->program->name, node->name,
            j->plan->buffer[b].name);
    if ((rows.begin > -above ? rows.begin : -above) < j->gone[b])
        BUG("plan: %s: `%s` reads rows of `%s` that were overwritten", j->program->name, node->name,
            j->plan->buffer[b].name);
}

/* Returns whether the rows OUT of the output need no row of the input; OUT NULL: all rows.  Rows above and
 * below a padded input need none. */
static bool reads_no_rows(const Judge *j, const Node *node, const Touch *t, const RowRange *out) {
    if (out == NULL || t->is_output)
        return false;
    const RowRange rows = op_table[node->op].rows(j->program->graph, node, t->number, 1, *out);
    const Layout *s = &j->program->layout[t->value];
    return rows.end <= -s->before[1] ||
           (rows.begin >= rows_at(j->program, t->value, j->units) + s->after[1] && rows.begin < rows.end);
}

/* A sum that has begun goes on from where it lies. */
static void continue_sum(const Judge *j, const Node *node, RowRange rows) {
    const Graph *g = j->program->graph;
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const bool goes_on = t.is_output && t.stays;
        const int b = goes_on ? j->program->buffer_of[t.value] : -1;
        if (b >= 0 && rows.begin != j->rows[b])
            BUG("plan: %s: `%s` leaves out rows, or sums some twice", j->program->name, node->name);
        if (b >= 0 && rows.begin > 0 && !j->holds[b])
            BUG("plan: %s: `%s` was overwritten while `%s` sums", j->program->name, j->plan->buffer[b].name,
                node->name);
    }
}

static int root_of(const Plan *plan, int b) {
    return plan->buffer[b].same >= 0 ? plan->buffer[b].same : b;
}

/* Removes the rows of OTHER that are lost when ROWS of buffer B are written in a loop over bands.  A buffer
 * that is no alias of B loses all rows that it has so far. */
static void lose_rows(Judge *j, int b, int other, RowRange rows) {
    const bool by_rows = root_of(j->plan, b) == root_of(j->plan, other);
    if (!by_rows)
        j->gone[other] = j->rows[other];
    else if (rows.begin < j->rows[other] && j->gone[other] < rows.end)
        j->gone[other] = rows.end;
}

/* Rows up to END are written to ring B: those are lost that lay there, of whatever shares its bytes. */
static void turn_ring(Judge *j, int b, int64_t end) {
    const int64_t lost = end - j->plan->buffer[b].ring;
    int other = b;
    do {
        if (j->gone[other] < lost)
            j->gone[other] = lost;
        other = j->sharer[other];
    } while (other != b);
}

/* The first of those held that ends behind OFFSET. */
static int first_behind(const Judge *j, int64_t offset) {
    int low = 0, high = j->nheld;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const Buffer *b = &j->plan->buffer[j->held[middle]];
        if (b->offset + b->bytes > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_beside(const Judge *j, int b) {
    for (int i = 0; i < j->nbeside; i++)
        if (j->beside[i] == b)
            return true;
    return false;
}

/* Removes the rows that are lost when B is written, of buffers that hold rows beside others. */
static void lose_beside(Judge *j, int b) {
    int kept = 0;
    for (int i = 0; i < j->nbeside; i++) {
        const int other = j->beside[i];
        const bool lost = other != b && root_of(j->plan, b) != root_of(j->plan, other) &&
                          overlap(&j->plan->buffer[b], &j->plan->buffer[other]);
        if (lost)
            j->holds[other] = false;
        else if (other != b)
            j->beside[kept++] = other;
    }
    j->nbeside = kept;
}

/* B overwrites OTHER: all of it, or in a loop over bands, ROWS of it. */
static void lose(Judge *j, int b, int other, const RowRange *rows) {
    const bool by_rows = rows != NULL && root_of(j->plan, b) == root_of(j->plan, other);
    if (rows != NULL)
        lose_rows(j, b, other, *rows);
    if (by_rows)
        j->beside[j->nbeside++] = other;
    j->holds[other] = by_rows;
}

/* Marks that B holds values from now on, and that no buffer that overlaps it does.  ROWS: only these are
 * written; NULL: all.  Persistent buffers need no mark: no buffer of a program overlaps them
 * (law_of_bounds), and no two of them overlap (law_of_regions). */
static void hold(Judge *j, const char *by, int b, const RowRange *rows) {
    const Buffer *buffer = &j->plan->buffer[b];
    if (buffer->bytes == 0 || (j->holds[b] && !is_beside(j, b))) {
        j->holds[b] = true;
        return;
    }
    lose_beside(j, b);
    const int at = first_behind(j, buffer->offset);
    int end = at;
    for (; end < j->nheld && overlap(buffer, &j->plan->buffer[j->held[end]]); end++) {
        const int other = j->held[end];
        if (j->plan->buffer[other].lifetime < LIFETIME_LOADED)
            BUG("plan: `%s` overwrites `%s`", by, j->plan->buffer[other].name);
        lose(j, b, other, rows);
    }
    memmove(&j->held[at + 1], &j->held[end], (size_t)(j->nheld - end) * sizeof *j->held);
    j->held[at] = b;
    j->nheld += 1 - (end - at);
    j->holds[b] = true;
}

static void write_buffer(Judge *j, const Node *node, const Touch *t, int b, const RowRange *rows) {
    const Buffer *buffer = &j->plan->buffer[b];
    const bool updates = t->operand->access == ACCESS_UPDATE;
    if (updates && buffer->program >= 0)
        BUG("plan: `%s` updates `%s`, which does not persist", node->name, buffer->name);
    if (!updates && buffer->program < 0)
        BUG("plan: `%s` writes `%s`, which persists, and does not update it", node->name, buffer->name);
    if (!updates)
        hold(j, node->name, b, rows);
}

/* Returns whether output O may have the place of input T.  It may if the row of the operator names T, or if
 * T is the same tensor as the operand that the row names, and the operator works point by point: x + x. */
static bool may_replace(const Node *node, const Touch *o, const Touch *t) {
    const int k = o->operand->in_place;
    if (t->is_output || k < 0 || k >= node->nin)
        return false;
    return t->number == k || (node->in[k] == t->value && op_table[node->op].rows == rows_same);
}

/* Two outputs of one node, or an output and an input whose place it may not take, must lie apart. */
static void law_of_operands(const Judge *j, const Node *node) {
    const Graph *g = j->program->graph;
    for (Touch o = node_touches(g, node); touch_next(&o);) {
        const int out = j->program->buffer_of[o.value];
        if (!o.is_output || out < 0)
            continue;
        for (Touch t = node_touches(g, node); touch_next(&t);) {
            const int other = j->program->buffer_of[t.value];
            if (other < 0 || (t.is_output && t.number >= o.number))
                continue;
            const Buffer *a = &j->plan->buffer[out], *b = &j->plan->buffer[other];
            const bool replaces = may_replace(node, &o, &t) && a->same >= 0 && a->offset == b->offset;
            if (!replaces && overlap(a, b))
                BUG("plan: `%s` writes over its own operand `%s`", node->name, b->name);
        }
    }
}

static void play_node(Judge *j, const Step *step, const RowRange *rows) {
    const Graph *g = j->program->graph;
    const Node *node = &g->node[step->node];
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const int b = j->program->buffer_of[t.value];
        if (b < 0 || !t.reads || reads_no_rows(j, node, &t, rows))
            continue;
        if (!j->holds[b])
            BUG("plan: %s: `%s` reads `%s` after its bytes were overwritten, or before they were written",
                j->program->name, node->name, j->plan->buffer[b].name);
        if (rows == NULL && j->gone[b] > 0)
            BUG("plan: %s: `%s` reads `%s`, of which rows were overwritten", j->program->name, node->name,
                j->plan->buffer[b].name);
        if (rows != NULL && !t.is_output)
            read_rows(j, node, &t, b, *rows);
    }
    if (rows != NULL && sums_rows(g, node))
        continue_sum(j, node, *rows);
    law_of_operands(j, node);
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const int b = j->program->buffer_of[t.value];
        if (b < 0 || !t.writes)
            continue;
        write_buffer(j, node, &t, b, rows);
        if (rows == NULL) {
            j->gone[b] = INT64_MIN;
            continue;
        }
        if (rows->begin > j->rows[b])
            BUG("plan: %s: `%s` leaves out rows of `%s`", j->program->name, node->name,
                j->plan->buffer[b].name);
        j->rows[b] = rows->end;
        if (j->plan->buffer[b].ring > 0)
            turn_ring(j, b,
                      rows->end + (rows->end == step_height(j->program, step, j->units)
                                       ? j->program->layout[t.value].after[1]
                                       : 0));
    }
}

/* ---- chains ---- */

/* Both touch bytes that one of them writes: the same bytes, in tensors of one shape. */
static void law_of_points(const Judge *j, const Node *one, const Node *other) {
    const Graph *g = j->program->graph;
    for (Touch s = node_touches(g, one); touch_next(&s);)
        for (Touch t = node_touches(g, other); touch_next(&t);) {
            const int a = j->program->buffer_of[s.value], b = j->program->buffer_of[t.value];
            if (!(s.writes || t.writes) || a < 0 || b < 0 ||
                !overlap(&j->plan->buffer[a], &j->plan->buffer[b]))
                continue;
            if (j->plan->buffer[a].offset != j->plan->buffer[b].offset ||
                shape_elements(g->value[s.value].shape) != shape_elements(g->value[t.value].shape) ||
                shape_elements(g->value[s.value].shape) != shape_elements(g->value[one->out[0]].shape))
                BUG("plan: %s: `%s` and `%s` are one launch, and one writes other points of what the other "
                    "touches: `%s`",
                    j->program->name, one->name, other->name, j->plan->buffer[b].name);
        }
}

static void law_of_chains(const Judge *j, const Step *step, int nstep) {
    for (int i = 0, count; i < nstep; i += count) {
        count = chain_steps(step + i, nstep - i);
        if (step[i].node < 0)
            law_of_chains(j, step[i].body, step[i].nbody);
        for (int k = 1; k < count; k++)
            for (int other = 0; other < k; other++) {
                const Step *one = &step[i + other], *two = &step[i + k];
                if (one->node < 0 || two->node < 0 || one->section != two->section ||
                    one->branch != two->branch)
                    BUG("plan: %s: a chain leads from a branch to another", j->program->name);
                law_of_points(j, &j->program->graph->node[one->node], &j->program->graph->node[two->node]);
            }
    }
}

/* ---- sections ---- */

/* One writes bytes that the other touches. */
static void law_of_branches(const Judge *j, const Node *one, const Node *other) {
    const Graph *g = j->program->graph;
    for (Touch s = node_touches(g, one); touch_next(&s);)
        for (Touch t = node_touches(g, other); touch_next(&t);) {
            const int a = j->program->buffer_of[s.value], b = j->program->buffer_of[t.value];
            if ((s.writes || t.writes) && a >= 0 && b >= 0 &&
                overlap(&j->plan->buffer[a], &j->plan->buffer[b]))
                BUG("plan: %s: `%s` and `%s` may run at once, and one writes what the other touches: `%s`",
                    j->program->name, one->name, other->name, j->plan->buffer[b].name);
        }
}

static void law_of_sections(const Judge *j, const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            law_of_sections(j, step[i].body, step[i].nbody);
            continue;
        }
        const int count = section_steps(step + i, nstep - i);
        if (count > 0 && has_trait(&j->program->graph->node[step[i].node], TRAIT_OF_RANKS))
            BUG("plan: %s: `%s` may run beside others, and needs what stands before it to be through",
                j->program->name, j->program->graph->node[step[i].node].name);
        for (int k = 1; k < count; k++)
            if (step[i + k].branch != step[i].branch)
                law_of_branches(j, &j->program->graph->node[step[i].node],
                                &j->program->graph->node[step[i + k].node]);
    }
}

/* ---- buckets of gradients ---- */

static bool sends(const Node *node, const Bucket *bucket) {
    return has_trait(node, TRAIT_OF_RANKS) && node->nout == 0 && node->in[0] == bucket->gradients;
}

/* Does NODE wait for all buckets? */
static bool ends_buckets(const Node *node) {
    return has_trait(node, TRAIT_OF_RANKS) && node->nout > 0 && !node->ends_group;
}

static void law_of_bucket(const Program *p, const NodeId *node, int count, const Bucket *bucket) {
    const Graph *g = p->graph;
    const ValueId *segment;
    const int n = value_segments(g, &bucket->gradients, &segment);
    bool *sent = NEW_ARRAY(g->pool, bool, g->nvalue);
    int i = 0;
    while (i < count && !sends(&g->node[node[i]], bucket))
        i++;
    for (int k = 0; k < n; k++)
        sent[segment[k]] = true;
    for (i++; i < count && !ends_buckets(&g->node[node[i]]); i++)
        for (Touch t = node_touches(g, &g->node[node[i]]); touch_next(&t);)
            if (sent[t.value])
                BUG("plan: %s: `%s` touches `%s`, which is on its way to other processes", p->name,
                    g->node[node[i]].name, g->value[t.value].name);
    if (i >= count)
        BUG("plan: %s: a bucket of gradients is not sent, or not waited for", p->name);
}

/* A bucket ends before the next bucket begins, both in its numbers and in its room. */
static void law_of_buckets(const Plan *plan, const Program *p) {
    NodeId *node;
    const Step **loop;
    const int count = p->nbucket == 0 ? 0 : schedule_nodes(p->graph->pool, p, &node, &loop);
    for (int b = 0; b < p->nbucket; b++) {
        const Bucket *bucket = &p->bucket[b], *next = b + 1 < p->nbucket ? bucket + 1 : NULL;
        law_of_bucket(p, node, count, bucket);
        if (bucket->first + bucket->numbers != (next != NULL ? next->first : plan->region_elements))
            BUG("plan: %s: bucket %d of the gradients does not end where the next one begins", p->name, b);
        if (next != NULL && bucket->place + bucket->numbers + p->model->train.ranks > next->place)
            BUG("plan: %s: bucket %d of the gradients has the room of the next one", p->name, b);
    }
}

/* ---- loops ---- */

/* The rows that the steps of a loop over bands write: none yet, or, in the end, all. */
static void set_rows(Judge *j, const Step *step, int nstep, bool done) {
    const Graph *g = j->program->graph;
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            set_rows(j, step[i].body, step[i].nbody, done);
            continue;
        }
        const Node *node = &g->node[step[i].node];
        for (Touch t = node_touches(g, node); step[i].rows > 0 && touch_next(&t);) {
            const int b = t.is_output ? j->program->buffer_of[t.value] : -1;
            if (b >= 0 && done && j->rows[b] != step_height(j->program, &step[i], j->units))
                BUG("plan: %s: `%s` does not compute all rows of `%s`", j->program->name, node->name,
                    j->plan->buffer[b].name);
            if (b >= 0)
                j->rows[b] = done ? INT64_MAX : 0;
            if (b >= 0 && !done) /* a lost buffer stays lost behind the loop */
                j->gone[b] = INT64_MIN;
        }
    }
}

/* One iteration of a loop over bands; a loop over samples in it does the same rows of each of them. */
static void play_band(Judge *j, const Step *step, int nstep, int64_t iteration) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            if (step[i].axis == AXIS_BANDS)
                BUG("plan: %s: a loop over bands within another", j->program->name);
            play_band(j, step[i].body, step[i].nbody, iteration);
            continue;
        }
        const RowRange rows = step_rows(&step[i], step_height(j->program, &step[i], j->units), iteration);
        if (step[i].rows == 0 || rows.begin < rows.end)
            play_node(j, &step[i], step[i].rows == 0 ? NULL : &rows);
    }
}

static void play_bands(Judge *j, const Step *loop) {
    set_rows(j, loop->body, loop->nbody, false);
    const int64_t times = j->units == 0 ? loop->times : bands_at(j->program, loop, j->units);
    for (int64_t n = 0; n < times; n++)
        play_band(j, loop->body, loop->nbody, n);
    for (int i = 0; i < j->nbeside; i++)
        j->holds[j->beside[i]] = false;
    j->nbeside = 0;
    set_rows(j, loop->body, loop->nbody, true);
}

/* A loop over samples is played twice: its second iteration must find what the first one found. */
static void play(Judge *j, const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node >= 0) {
            play_node(j, &step[i], NULL);
        } else if (step[i].axis == AXIS_BANDS) {
            play_bands(j, &step[i]);
        } else {
            play(j, step[i].body, step[i].nbody);
            play(j, step[i].body, step[i].nbody);
        }
    }
}

static void find_sharers(Judge *j) {
    for (int b = 0; b < j->plan->nbuffer; b++) {
        const int root = root_of(j->plan, b);
        j->sharer[b] = b;
        if (root != b) {
            j->sharer[b] = j->sharer[root];
            j->sharer[root] = b;
        }
    }
}

/* Marks the buffers that hold values before the first step. */
static void hold_given(Judge *j) {
    for (int b = 0; b < j->plan->nbuffer; b++) {
        const Buffer *buffer = &j->plan->buffer[b];
        const bool of_program =
            buffer->program == (int)j->program->kind && buffer->lifetime != LIFETIME_STEP;
        j->holds[b] = buffer->program < 0;
        j->rows[b] = INT64_MAX;
        if (of_program && (buffer->lifetime != LIFETIME_LOADED || buffer->slice >= 0))
            hold(j, j->program->name, b, NULL);
    }
}

/* The next run of the program finds weights only where they persist. */
static void lose_weights(Judge *j) {
    for (int b = 0; b < j->plan->nbuffer; b++)
        if (j->plan->buffer[b].lifetime == LIFETIME_LOADED)
            j->holds[b] = false;
}

/* An image of UNITS units goes through P. */
static void judge_program(const Plan *plan, const Program *p, int64_t units) {
    Judge j = {.plan = plan,
               .program = p,
               .holds = NEW_ARRAY(plan->pool, bool, plan->nbuffer),
               .held = NEW_ARRAY(plan->pool, int, plan->nbuffer + 1),
               .beside = NEW_ARRAY(plan->pool, int, plan->nbuffer + 1),
               .sharer = NEW_ARRAY(plan->pool, int, plan->nbuffer),
               .rows = NEW_ARRAY(plan->pool, int64_t, plan->nbuffer),
               .gone = NEW_ARRAY(plan->pool, int64_t, plan->nbuffer),
               .units = units};
    law_of_sections(&j, p->step, p->nstep);
    law_of_chains(&j, p->step, p->nstep);
    law_of_buckets(plan, p);
    find_sharers(&j);
    hold_given(&j);
    play(&j, p->step, p->nonce);
    lose_weights(&j);
    play(&j, p->step + p->nonce, p->nstep - p->nonce);
}

/* So many units that a loop over bands has iterations in which all steps compute whole bands. */
static int64_t many_units(const Program *p) {
    const Step *loop = &p->step[p->nstep - 1];
    const int64_t bands = loop->nbody == 0 ? 1 : 2 * bands_at(p, loop, 1) + 2;
    return iterations(bands * loop->body[0].rows, step_height(p, &loop->body[0], 1));
}

void verify_plan(const Plan *plan) {
    if (plan->arena == INT64_MAX)
        return;
    law_of_bounds(plan);
    law_of_regions(plan);
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1)) {
        judge_program(plan, p, 0);
        for (int64_t some = 0; p->units > 0 && some < 3; some++)
            judge_program(plan, p, some == 0 ? 1 : many_units(p) + some);
    }
}
