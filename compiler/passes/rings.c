/* rings.c - a loop over bands holds a few rows of a tensor.
 *
 * A tensor that is made and read in one loop over bands, and nowhere else, needs the rows alone that some
 * step is still to read.  It becomes a ring: row h lies in the place of row h mod `ring`, so that a new row
 * takes the place of a row that nobody needs:
 *
 *     bands of 4 rows; y reads x through a window of 3x3 and is one row behind
 *     iteration 2    x: writes rows 8..11    y: writes rows 7..10 and reads 6..11    a ring of 6 rows
 *
 * How many rows that takes does not depend on the height of the image, so neither does the memory of the
 * loop.  Rows of the halo above and below count like others.  Tensors that take each other's place are one
 * ring.  If each row is read in the iteration that makes it, and in no later one, nothing stays in the
 * ring: then others may have its bytes between the last step of an iteration that reads it and the first of
 * the next one.
 *
 * If images may have any height, an iteration in the middle of a high one tells how many rows that are,
 * and how many more where it ends: the last row of an image may be the last of a band, or a few rows before
 * that, as heights in whole units allow.
 *
 * Requires: buffers.  Provides: Layout.ring; the bytes of such buffers, and whether they are fleeting.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

/* The rows of a buffer; if buffers share bytes, the first stands for all. */
typedef struct {
    bool rolls;       /* images that one loop makes and nothing else touches: */
    const Step *loop; /*   this one, NULL: none was met yet */
    bool stays;       /* a row is read in a later iteration than the one that makes it */
    int64_t written;  /* the row behind the last that was written so far, */
    int64_t begun;    /*   and when the iteration began */
    int64_t rows;     /* the most from one that is read to the last that is written by then */
} Rolled;

typedef struct {
    Plan *plan;
    Pool *scratch;
    Program *program;
    Rolled *rolled;    /* per buffer */
    const int *makers; /* per value: how many steps make it */
} Rings;

/* The rings that a step of the loop touches: the rings it writes, then the rings it reads. */
typedef struct {
    ValueId value;
    int number;
    bool is_output;
    Rolled *rolled;
} RolledTouch;

typedef struct {
    const Step *step;
    int64_t height;
    RolledTouch *touch;
    int ntouch;
} Played;

/* The ring of the buffer of V and of all that share its bytes, or NULL: V has no buffer. */
static Rolled *rolled_of(const Rings *r, ValueId v) {
    const int b = r->program->buffer_of[v];
    if (b < 0)
        return NULL;
    return &r->rolled[r->plan->buffer[b].same >= 0 ? r->plan->buffer[b].same : b];
}

static bool is_image(const Value *value) {
    return value->per_sample && value->shape.rank == AXES && value->producer >= 0;
}

/* ---- which ---- */

static void count_makers(const Graph *g, const Step *step, int nstep, int *makers) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            count_makers(g, step[i].body, step[i].nbody, makers);
            continue;
        }
        for (Touch t = node_touches(g, &g->node[step[i].node]); touch_next(&t);)
            makers[t.value] += t.is_output;
    }
}

/* A step in LOOP, or (NULL) in no loop over bands, touches V. */
static void meet(const Rings *r, ValueId v, const Step *loop) {
    Rolled *rolled = rolled_of(r, v);
    if (rolled == NULL)
        return;
    const bool elsewhere = loop == NULL || (rolled->loop != NULL && rolled->loop != loop);
    if (elsewhere || !is_image(&r->program->graph->value[v]) || r->makers[v] != 1)
        rolled->rolls = false;
    rolled->loop = loop;
}

/* The steps stand in LOOP, or (NULL) in none over bands. */
static void meet_steps(const Rings *r, const Step *step, int nstep, const Step *loop) {
    const Graph *g = r->program->graph;
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            meet_steps(r, step[i].body, step[i].nbody, step[i].axis == AXIS_BANDS ? &step[i] : NULL);
            continue;
        }
        for (Touch t = node_touches(g, &g->node[step[i].node]); touch_next(&t);)
            meet(r, t.value, loop);
    }
}

static void find_rolling(const Rings *r) {
    for (int b = 0; b < r->plan->nbuffer; b++) {
        const Buffer *buffer = &r->plan->buffer[b];
        r->rolled[b] = (Rolled){.rolls = buffer->program == (int)r->program->kind && buffer->slice < 0 &&
                                         buffer->lifetime == LIFETIME_STEP};
    }
    meet_steps(r, r->program->step, r->program->nstep, NULL);
}

/* ---- how many rows ---- */

/* For images of any height, if V ends with the rows that STEP writes in some iteration: the number of rows
 * of the halo beyond the last row that such an iteration can write. */
static int64_t rows_beyond(const Program *program, const Step *step, ValueId v) {
    const int64_t period = size_common_divisor(rows_at(program, v, 1), step->rows);
    const int64_t beyond = program->layout[v].after[1] - size_rounded(step->lag, period) + step->lag;
    return beyond > 0 ? beyond : 0;
}

/* The rows of the halo above and below are written with the first row and with the last. */
static RowRange with_halo(const Program *program, const Step *step, ValueId v, RowRange rows) {
    const Layout *s = &program->layout[v];
    if (program->units > 0)
        return (RowRange){rows.begin, rows.end + rows_beyond(program, step, v)};
    return (RowRange){rows.begin == 0 ? -s->before[1] : rows.begin,
                      rows.end == rows_at(program, v, 0) ? rows.end + s->after[1] : rows.end};
}

/* The rows of V from BEGIN on are still there. */
static void count_rows(const Rings *r, const RolledTouch *touch, int64_t begin) {
    Rolled *rolled = touch->rolled;
    const int64_t above = r->program->layout[touch->value].before[1],
                  first = begin < -above ? -above : begin;
    if (rolled->written - first > rolled->rows)
        rolled->rows = rolled->written - first;
    rolled->stays |= rolled->begun > 0 && first < rolled->begun;
}

static void add_touches(const Rings *r, Played *played, bool outputs) {
    const Graph *g = r->program->graph;
    for (Touch t = node_touches(g, &g->node[played->step->node]); touch_next(&t);) {
        Rolled *rolled = t.is_output == outputs ? rolled_of(r, t.value) : NULL;
        if (rolled != NULL && rolled->rolls)
            PUSH(r->scratch, played->touch, played->ntouch,
                 ((RolledTouch){t.value, t.number, outputs, rolled}));
    }
}

static Played *steps_to_play(const Rings *r, const Step *loop) {
    Played *played = NEW_ARRAY(r->scratch, Played, loop->nbody);
    for (int i = 0; i < loop->nbody; i++) {
        const Step *step = &loop->body[i];
        played[i] = (Played){.step = step,
                             .height = r->program->units > 0 ? NO_END : step_height(r->program, step, 0)};
        add_touches(r, &played[i], true);
        add_touches(r, &played[i], false);
    }
    return played;
}

/* Plays one step, which writes the rows OUT. */
static void play_rows(const Rings *r, const Played *played, RowRange out) {
    const Graph *g = r->program->graph;
    const Node *node = &g->node[played->step->node];
    for (int k = 0; k < played->ntouch; k++) {
        const RolledTouch *t = &played->touch[k];
        const RowRange rows = t->is_output ? with_halo(r->program, played->step, t->value, out)
                                           : op_table[node->op].rows(g, node, t->number, 1, out);
        if (t->is_output && rows.end > t->rolled->written)
            t->rolled->written = rows.end;
        count_rows(r, t, rows.begin);
    }
}

static void play_iteration(const Rings *r, const Played *played, int count, int64_t n) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < played[i].ntouch; k++)
            played[i].touch[k].rolled->begun = played[i].touch[k].rolled->written;
    for (int i = 0; i < count; i++) {
        const RowRange out = step_rows(played[i].step, played[i].height, n);
        if (out.begin < out.end)
            play_rows(r, &played[i], out);
    }
}

static void play_loop(const Rings *r, const Step *loop) {
    const Played *played = steps_to_play(r, loop);
    const bool endless = r->program->units > 0;
    const int64_t end = endless ? MIDDLE + 1 : loop->times;
    for (int64_t n = endless ? MIDDLE - 1 : 0; n < end; n++)
        play_iteration(r, played, loop->nbody, n);
}

/* ---- layouts ---- */

/* As if the tensor had only the rows of the ring, and no halo above and below. */
static void lay_out_ring(const Program *program, ValueId v, int64_t rows) {
    Value band = program->graph->value[v];
    Layout *s = &program->layout[v], ring = *s;
    band.shape.dim[1] = rows;
    ring.before[1] = ring.after[1] = 0;
    program->target->lay_out(&band, program->micro_batch, &ring);
    ring.before[1] = s->before[1];
    ring.after[1] = s->after[1];
    ring.ring = rows;
    *s = ring;
}

static void lay_out_rings(const Rings *r) {
    const Graph *g = r->program->graph;
    for (ValueId v = 0; v < g->nvalue; v++) {
        const Rolled *rolled = rolled_of(r, v);
        const Layout *s = &r->program->layout[v];
        CHECK(r->program->units == 0 || rolled == NULL || rolled->rolls || !is_image(&g->value[v]));
        if (rolled == NULL || !rolled->rolls || rolled->loop == NULL || !is_image(&g->value[v]))
            continue;
        const int64_t all = rows_at(r->program, v, 0) + s->before[1] + s->after[1];
        if (rolled->rows >= all && r->program->units == 0)
            continue;
        lay_out_ring(r->program, v, rolled->rows);
        Buffer *buffer = &r->plan->buffer[r->program->buffer_of[v]];
        buffer->bytes = s->bytes;
        buffer->ring = s->ring;
        buffer->fleeting = !rolled->stays;
    }
}

static void play_loops(const Rings *r, const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0 && step[i].axis == AXIS_BANDS)
            play_loop(r, &step[i]);
        else if (step[i].node < 0)
            play_loops(r, step[i].body, step[i].nbody);
    }
}

static void roll(Plan *plan, Program *program) {
    Pool *scratch = pool_part(plan->pool);
    int *makers = NEW_ARRAY(scratch, int, program->graph->nvalue);
    const Rings r = {plan, scratch, program, NEW_ARRAY(scratch, Rolled, plan->nbuffer), makers};
    count_makers(program->graph, program->step, program->nstep, makers);
    find_rolling(&r);
    play_loops(&r, program->step, program->nstep);
    lay_out_rings(&r);
    pool_free(scratch);
}

void rings(Plan *plan) {
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1))
        if (plan->target->rings)
            roll(plan, p);
}
