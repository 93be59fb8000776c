/* bands.c - loops over bands of rows.
 *
 * Operators that work point by point or through a window can compute a few rows of their output from a few
 * rows of their inputs.  A run of such steps becomes a loop: each iteration computes a band of each tensor
 * while the band before is still in the cache.  Behind a window of stride s, a band has 1/s of the rows.  A
 * step lags behind its inputs by so many rows that all rows of its window have been computed:
 *
 *     relu        rows   0..15   16..31   32..47             4 bands of 16
 *     max_pool 3  rows   0..6     7..14   15..22  23..31     8 rows an iteration, 1 behind
 *
 * If prediction is one such loop, it takes images of any height.  The lag of a step then follows from the
 * middle of a high image, far from both ends, and the heights of all tensors are in proportion.  The
 * runtime copies the rows of the input in as the first step, and the rows of the output out as the last.
 *
 * A row is computed once and in one way, so the bits are the same as without a loop.  A sum over rows, such
 * as a loss, grows band by band, in their order.  Steps that pack weights stand in front of the loop that
 * uses the weights.  If these take too much memory, each iteration packs them just before their use.
 *
 * If nobody asks for bands, only heads (heads.c) are loops, for that costs nothing.
 *
 * Requires: the steps of one iteration over samples, in their order.  Provides: Step.rows and lag,
 * Program.units.
 */
#include "passes/bands.h"
#include "base/diag.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"

/* An input of a step that reads a few rows of it in each iteration, and the step that makes the input. */
typedef struct {
    int number, maker;
} Read;

/* A run sets these marks and clears them when it ends, for the next run. */
typedef struct {
    int *maker; /* per value: one more than the number of the step of the run that writes it, or 0 */
    bool *sums; /* per node: it is in the run, and sums over rows */
} Marks;

typedef struct {
    const Program *program;
    Step *step;
    int count;  /* steps of the run */
    int *place; /* of each among the rows that were given */
    Marks marks;
    int64_t *rows; /* per step: rows of an iteration, while one of the tallest tensor has SCALE rows */
    bool endless;  /* images may have any height */
    Read *read;    /* of all steps in their order: once a loop is made of them */
    int *read_end; /*   per step */
    int64_t *end;  /*   and the end of its rows */
} Run;

enum { SCALE = 64 }; /* strides divide it, as long as their product does */

static Marks marks_new(const Graph *g) {
    return (Marks){NEW_ARRAY(g->pool, int, g->nvalue), NEW_ARRAY(g->pool, bool, g->nnode)};
}

static const Node *node_of(const Run *r, int i) {
    return &r->program->graph->node[r->step[i].node];
}

/* The step of the run that writes V, or -1. */
static int maker_of(const Run *r, ValueId v) {
    return r->marks.maker[v] - 1;
}

/* Step I of the run writes what it does. */
static void mark_outputs(Run *r, int i) {
    const Node *node = node_of(r, i);
    for (int k = 0; k < node->nout; k++)
        if (node->out[k] >= 0)
            r->marks.maker[node->out[k]] = i + 1;
}

static void run_end(Run *r) {
    for (int i = 0; i < r->count; i++) {
        const Node *node = node_of(r, i);
        r->marks.sums[r->step[i].node] = false;
        for (int k = 0; k < node->nout; k++)
            if (node->out[k] >= 0)
                r->marks.maker[node->out[k]] = 0;
    }
}

static int64_t height_of(const Run *r, int i) {
    return step_height(r->program, &r->step[i], 0);
}

/* The ranges of step I begin at multiples of so many rows. */
static int64_t tile_rows(const Run *r, int i) {
    return node_of(r, i)->tile_rows > 0 ? node_of(r, i)->tile_rows : 1;
}

/* Gradients of weights are summed through the rows of a sample, then through the samples: a loop over bands
 * has all rows of one sample before it comes to the next. */
static bool sums_samples(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    for (int k = 0; k < node->nout; k++)
        if (node->out[k] >= 0 && g->value[node->out[k]].class == CLASS_PARAMETER_GRADIENT)
            return program->micro_batch > 1;
    return false;
}

bool has_rows(const Value *value) {
    return value->per_sample && value->shape.rank == AXES;
}

bool works_in_rows(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const ValueId of = rows_value(g, node);
    if (!computes_rows(node) || of < 0 || !has_rows(&g->value[of]))
        return false;
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const Value *value = &g->value[t.value];
        const Access access = t.operand->access;
        const bool whole = !t.is_output && (!value->per_sample || has_trait(node, TRAIT_MEASURES)),
                   ends = t.is_output && sums_rows(g, node);
        if (!(has_rows(value) || whole || ends || access == ACCESS_SCRATCH) || access == ACCESS_UPDATE)
            return false;
    }
    return true;
}

/* The runtime passes rows where the whole program is one loop. */
bool computes_bands(const Program *program, const Node *node) {
    return works_in_rows(program, node) && !sums_samples(program, node) &&
           (!has_trait(node, TRAIT_OF_RUNTIME) || program->units > 0);
}

/* Reads parameters alone, or what was made of them, as what packs them does: it can stand in front of a
 * loop. */
static bool stands_aside(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const Class c = g->value[t.value].class;
        if (t.is_output ? g->value[t.value].per_sample
                        : c != CLASS_PARAMETER && c != CLASS_RUNNING_STATISTIC && c != CLASS_WORKSPACE)
            return false;
    }
    return node->nout > 0 && node->nin > 0;
}

/* Is it an image that the step reads a few rows of? */
static bool reads_rows(const Run *r, const Touch *t) {
    return !t->is_output && has_rows(&r->program->graph->value[t->value]);
}

/* Does NODE read what comes of all rows of a step that is in the run? */
static bool reads_sums(const Run *r, const Node *node) {
    const Graph *g = r->program->graph;
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const NodeId producer = g->value[t.value].producer;
        if (!t.is_output && !has_rows(&g->value[t.value]) && producer >= 0 && r->marks.sums[producer])
            return true;
    }
    return false;
}

/* ---- how many rows an iteration computes ---- */

/* How many more rows of input number INPUT NODE needs for SCALE more rows of its output, wherever these
 * lie.  0: that differs. */
static int64_t rows_for_scale(const Graph *g, const Node *node, int input) {
    RowsRule *rule = op_table[node->op].rows;
    int64_t each = 0;
    for (int64_t n = 1; n <= SCALE; n++) {
        const int64_t more = rule(g, node, input, 1, (RowRange){0, n + SCALE}).end -
                             rule(g, node, input, 1, (RowRange){0, n}).end;
        if (n > 1 && more != each)
            return 0;
        each = more;
    }
    return each;
}

/* Rows of step I in an iteration that computes the rows of MAKER, which makes input number INPUT.  0: no
 * whole number. */
static int64_t rows_after(const Run *r, int i, int input, int maker) {
    const int64_t each = rows_for_scale(r->program->graph, node_of(r, i), input), rows = r->rows[maker];
    return each > 0 && rows * SCALE % each == 0 ? rows * SCALE / each : 0;
}

/* Rows of input number INPUT that step I needs anew in each iteration.  0: no whole number. */
static int64_t input_rows(const Run *r, int i, int input) {
    const int64_t rows = r->rows[i] * rows_for_scale(r->program->graph, node_of(r, i), input);
    return rows % SCALE == 0 ? rows / SCALE : 0;
}

static bool has_whole_inputs(const Run *r, int i) {
    for (Touch t = node_touches(r->program->graph, node_of(r, i)); touch_next(&t);)
        if (reads_rows(r, &t) && input_rows(r, i, t.number) == 0)
            return false;
    return true;
}

/* Fills r->rows; returns how many steps agree, from the first on. */
static int scale_rows(Run *r, int64_t tallest) {
    const Graph *g = r->program->graph;
    for (int i = 0; i < r->count; i++) {
        int64_t rows = 0;
        for (Touch t = node_touches(g, node_of(r, i)); touch_next(&t);) {
            const int maker = reads_rows(r, &t) ? maker_of(r, t.value) : -1;
            if (maker < 0)
                continue;
            const int64_t wanted = rows_after(r, i, t.number, maker);
            if (wanted == 0 || (rows != 0 && rows != wanted))
                return i;
            rows = wanted;
        }
        if (rows == 0) /* reads nothing of this run */
            rows = SCALE * height_of(r, i) % tallest == 0 ? SCALE * height_of(r, i) / tallest : 0;
        r->rows[i] = rows;
        if (rows == 0 || !has_whole_inputs(r, i))
            return i;
        mark_outputs(r, i);
    }
    return r->count;
}

/* ---- how far a step lags behind ---- */

/* Lists what the first COUNT steps read of each other, and where their rows end. */
static void list_reads(Run *r, int count) {
    const Graph *g = r->program->graph;
    int nread = 0;
    r->read = NULL;
    r->read_end = NEW_ARRAY(g->pool, int, count);
    r->end = NEW_ARRAY(g->pool, int64_t, count);
    for (int i = 0; i < count; i++) {
        r->end[i] = r->endless ? NO_END : height_of(r, i);
        for (Touch t = node_touches(g, node_of(r, i)); touch_next(&t);)
            if (reads_rows(r, &t) && maker_of(r, t.value) >= 0)
                PUSH(g->pool, r->read, nread, ((Read){t.number, maker_of(r, t.value)}));
        r->read_end[i] = nread;
    }
}

static int reads_begin(const Run *r, int i) {
    return i == 0 ? 0 : r->read_end[i - 1];
}

/* Has the run, in iteration N, computed the rows that step I reads in it? */
static bool has_rows_in(const Run *r, const Step *step, int i, int64_t n) {
    const Node *node = node_of(r, i);
    const RowRange out = step_rows(&step[i], r->end[i], n);
    for (int k = reads_begin(r, i); k < r->read_end[i] && out.begin < out.end; k++) {
        const int maker = r->read[k].maker;
        const int64_t needed =
                          op_table[node->op].rows(r->program->graph, node, r->read[k].number, 1, out).end,
                      all = r->end[maker];
        if ((needed < all ? needed : all) > step_rows(&step[maker], all, n).end)
            return false;
    }
    return true;
}

/* The same in each iteration.  Between the first ones, in which rows are not there yet, and the last ones,
 * in which they end, each is like that SCALE before: their rows lie further down. */
static bool has_its_rows(const Run *r, const Step *step, int i) {
    const int64_t times = iterations(height_of(r, i) + step[i].lag, step[i].rows),
                  border = iterations(step[i].lag, step[i].rows) + 2 * SCALE;
    if (r->endless)
        return has_rows_in(r, step, i, MIDDLE);
    for (int64_t n = 0; n < times; n++) {
        if (n == border && n < times - border)
            n = times - border;
        if (!has_rows_in(r, step, i, n))
            return false;
    }
    return true;
}

/* Returns whether the readers of step MAKER among the first COUNT steps have all their rows. */
static bool readers_have_rows(const Run *r, const Step *step, int count, int maker) {
    bool read = false;
    for (int i = maker + 1; i < count; i++)
        for (int k = reads_begin(r, i); k < r->read_end[i]; k++)
            if (r->read[k].maker == maker) { // NOLINT(clang-analyzer-core.NullDereference): k < read_end
                read = true;
                if (!has_its_rows(r, step, i))
                    return false;
            }
    return read;
}

/* readers_have_rows() if step MAKER comes so many tiles later. */
static bool may_come_later(const Run *r, Step *step, int count, int maker, int64_t tiles) {
    const int64_t before = step[maker].lag;
    step[maker].lag += tiles * tile_rows(r, maker);
    const bool may = readers_have_rows(r, step, count, maker);
    step[maker].lag = before;
    return may;
}

/* The most tiles by which step MAKER may come later: it may come by any fewer, too. */
static int64_t most_tiles(const Run *r, Step *step, int count, int maker) {
    int64_t fits = 0, fails = 1;
    for (; may_come_later(r, step, count, maker, fails); fails *= 2)
        fits = fails;
    while (fails - fits > 1) {
        const int64_t middle = fits + (fails - fits) / 2;
        *(may_come_later(r, step, count, maker, middle) ? &fits : &fails) = middle;
    }
    return fits;
}

/* Moves steps of recomputation behind, as far as their readers allow, so that their rows are kept for less
 * time. */
static void repeat_late(const Run *r, Step *step, int count) {
    for (int i = count - 1; i >= 0; i--)
        if (step[i].recompute)
            step[i].lag += most_tiles(r, step, count, i) * tile_rows(r, i);
}

/* Divides the rows of the first COUNT steps by the greatest common divisor of these and of the rows of
 * their inputs, so that a band may be as small as strides allow; returns it. */
static int64_t reduce_rows(Run *r, int count) {
    int64_t divisor = 0;
    for (int i = 0; i < count; i++) {
        divisor = size_common_divisor(divisor, r->rows[i]);
        for (Touch t = node_touches(r->program->graph, node_of(r, i)); touch_next(&t);)
            if (reads_rows(r, &t))
                divisor = size_common_divisor(divisor, input_rows(r, i, t.number));
    }
    CHECK(divisor > 0);
    for (int i = 0; i < count; i++)
        r->rows[i] /= divisor;
    return divisor;
}

/* UNIT, or the next number that gives each of the first COUNT steps whole rows of tiles. */
static int64_t whole_tiles(const Run *r, int count, int64_t unit) {
    for (int i = 0; i < count; i++) {
        const int64_t tile = tile_rows(r, i);
        const int64_t step = tile / size_common_divisor(tile, r->rows[i]);
        if (unit % step != 0)
            return whole_tiles(r, count, size_rounded(unit, step));
    }
    return unit;
}

/* The loop over the first COUNT steps of the run, in bands of about ROWS rows of the tallest tensor; no
 * loop if that is one iteration. */
static bool make_loop(Run *r, int count, int64_t rows, Step *loop) {
    Pool *pool = r->program->graph->pool;
    Step *step = NEW_ARRAY(pool, Step, count);
    const int64_t unit = whole_tiles(r, count, iterations(rows * reduce_rows(r, count), SCALE));
    list_reads(r, count);
    for (int i = 0; i < count; i++) {
        step[i] = r->step[i];
        step[i].rows = unit * r->rows[i];
        while (!has_its_rows(r, step, i))
            step[i].lag += tile_rows(r, i);
    }
    repeat_late(r, step, count);
    *loop = (Step){.node = -1, .axis = AXIS_BANDS, .body = step, .nbody = count};
    loop->times = bands_at(r->program, loop, 0);
    return loop->times > 1 || r->endless;
}

/* Puts the steps that pack weights back into LOOP.  RUN was made of STEP[FIRST..END).
 */
static void pack_in_bands(const Run *r, const Step *step, int first, int end, Step *loop) {
    Step *body = NULL;
    int count = 0;
    for (int k = first, i = 0; k < end; k++)
        PUSH(r->program->graph->pool, body, count, r->place[i] == k ? loop->body[i++] : step[k]);
    loop->body = body;
    loop->nbody = count;
}

/* The bytes of packed weights in front of the loop over RUN, which STEP[FIRST..END) were made of. */
static int64_t packed_bytes(const Run *r, const Step *step, int first, int end) {
    const Graph *g = r->program->graph;
    int64_t bytes = 0;
    for (int k = first; k < end; k++)
        if (step[k].node >= 0 && !computes_bands(r->program, &g->node[step[k].node]))
            for (Touch t = node_touches(g, &g->node[step[k].node]); touch_next(&t);)
                bytes = size_sum(bytes, t.is_output ? r->program->layout[t.value].bytes : 0);
    return bytes;
}

/* The steps from FIRST on that can compute ranges of rows, up to one that cannot and does not stand aside.
 * Nothing is marked in MARKS before, and after run_end(). */
static Run run_from(const Program *program, const Step *step, int nstep, int first, Marks marks) {
    const Graph *g = program->graph;
    Run r = {.program = program, .marks = marks};
    for (int i = first; i < nstep && step[i].node >= 0; i++) {
        const Node *node = &g->node[step[i].node];
        int count = r.count;
        if (computes_bands(program, node) && !reads_sums(&r, node)) {
            PUSH(g->pool, r.place, count, i);
            PUSH(g->pool, r.step, r.count, step[i]);
            marks.sums[step[i].node] = sums_rows(g, node);
        } else if (!stands_aside(g, node)) {
            break;
        }
    }
    r.rows = NEW_ARRAY(g->pool, int64_t, r.count);
    return r;
}

static int64_t tallest_of(const Run *r) {
    int64_t tallest = 1;
    for (int i = 0; i < r->count; i++)
        if (height_of(r, i) > tallest)
            tallest = height_of(r, i);
    return tallest;
}

/* ---- images of any height ---- */

/* Are all heights in proportion, with all of the program in R, whose rows were scaled? */
static bool can_be_endless(const Run *r, const Step *step, int nstep, int64_t tallest) {
    const Graph *g = r->program->graph;
    for (int i = 0; i < r->count; i++)
        if (shape_extent(g->value[rows_value(g, node_of(r, i))].shape, 0) != 1 ||
            height_of(r, i) * SCALE != r->rows[i] * tallest)
            return false;
    for (int i = 0; i < nstep; i++)
        if (!computes_bands(r->program, &g->node[step[i].node]) && !stands_aside(g, &g->node[step[i].node]))
            return false;
    return r->count > 1;
}

/* How many there are of the smallest part of an image in which each tensor has whole rows; 0: images do not
 * have any height. */
static int64_t units_of(Program *program, Step *step, int nstep, Marks marks) {
    if (!passes_rows(program))
        return 0;
    program->units = 1; /* it is to be found out whether that holds */
    Run r = run_from(program, step, nstep, 0, marks);
    const int64_t tallest = tallest_of(&r);
    const bool endless = scale_rows(&r, tallest) == r.count && can_be_endless(&r, step, nstep, tallest);
    int64_t units = 0;
    for (int i = 0; i < r.count && endless; i++)
        units = size_common_divisor(units, height_of(&r, i));
    run_end(&r);
    return units;
}

/* ---- heads ---- */

/* Steps of one head, from step FIRST on, which is one of it. */
static int head_end(const Program *program, const Step *step, int nstep, int first) {
    const Node *node = program->graph->node;
    int end = first + 1;
    while (end < nstep && step[end].node >= 0 && node[step[end].node].head == node[step[first].node].head)
        end++;
    return end;
}

static int64_t head_rows(const Program *program) {
    return program->target->loops_are_free ? 16 : 128;
}

static bool loops_over_heads(const Program *program) {
    return !has_bands(program) && program->options->bands == 0 && program->target->rings;
}

bool head_loops(const Program *program, ValueId large) {
    return (has_bands(program) || loops_over_heads(program)) &&
           shape_rows(program->graph->value[large].shape) > head_rows(program);
}

/* Per value: do nodes of its producer's head alone touch it? */
static bool *stays_in_head(Pool *pool, const Graph *g) {
    bool *stays = NEW_ARRAY(pool, bool, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++)
        stays[v] = g->value[v].producer >= 0 && g->node[g->value[v].producer].head > 0;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            stays[t.value] = stays[t.value] && g->node[i].head == g->node[g->value[t.value].producer].head;
    return stays;
}

int64_t *bytes_in_loops(Pool *pool, const Program *program) {
    enum { BANDS_AT_A_TIME = 3 }; /* the band that is made, and two that a window of its gradient reaches */
    const Graph *g = program->graph;
    const int64_t rows = BANDS_AT_A_TIME * head_rows(program);
    const bool loops = loops_over_heads(program), *stays = stays_in_head(pool, g);
    int64_t *bytes = NEW_ARRAY(pool, int64_t, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++) {
        const Shape shape = g->value[v].shape;
        bytes[v] = program->layout[v].bytes;
        if (loops && stays[v] && shape.rank == AXES && shape_rows(shape) > rows)
            bytes[v] = bytes[v] / shape_rows(shape) * rows;
    }
    return bytes;
}

/* Rows of step I in an iteration of ROWS rows of the tallest tensor: about as many as its height is of
 * TALLEST. */
static int64_t rows_in_proportion(const Run *r, int i, int64_t rows, int64_t tallest) {
    const int64_t nearest = (size_product(2 * rows, height_of(r, i)) + tallest) / (2 * tallest);
    return nearest > 0 ? nearest : 1;
}

/* Fills r->rows if steps do not agree on the rows of a band, as with a resize that aligns corners or by a
 * ratio that gives no whole rows.  Such a step runs ahead or falls behind from one iteration to the next,
 * by less than a row if heights are in proportion. */
static void scale_rows_in_proportion(Run *r, int64_t rows, int64_t tallest) {
    CHECK(SCALE % rows == 0);
    for (int i = 0; i < r->count; i++) {
        r->rows[i] = SCALE / rows * rows_in_proportion(r, i, rows, tallest);
        mark_outputs(r, i);
    }
}

/* The loop over the steps [FIRST, END) of a head, if they can be one. */
static bool loop_over_head(const Program *program, Step *step, int first, int end, Marks marks,
                           Step *loop) {
    Run r = run_from(program, step, end, first, marks);
    const int64_t tallest = tallest_of(&r);
    const bool all = r.count == end - first;
    int64_t rows = head_rows(program);
    if (all && scale_rows(&r, tallest) < r.count) {
        rows = rows < SCALE ? rows : SCALE;
        scale_rows_in_proportion(&r, rows, tallest);
    }
    const bool loops = all && make_loop(&r, r.count, rows, loop);
    run_end(&r);
    return loops;
}

/* A loop for each head, unless there are to be none: their time is the same, and a band is still in the
 * cache when it is read. */
static int loop_over_heads(const Program *program, Step *step, int nstep, Step **new) {
    const Graph *g = program->graph;
    int count = 0, end;
    *new = step;
    if (!loops_over_heads(program))
        return nstep;
    const Marks marks = marks_new(g);
    *new = NULL;
    for (int i = 0; i < nstep; i = end) {
        const bool head = step[i].node >= 0 && g->node[step[i].node].head > 0;
        end = head ? head_end(program, step, nstep, i) : i + 1;
        Step loop;
        if (head && loop_over_head(program, step, i, end, marks, &loop)) {
            PUSH(g->pool, *new, count, loop);
            continue;
        }
        for (int k = i; k < end; k++)
            PUSH(g->pool, *new, count, step[k]);
    }
    return count;
}

/* ---- what may be computed again ---- */

/* Positions of a row of step I, where the tallest tensor of the run has rows of PITCH. */
static int64_t pitch_of(const Run *r, int i, int64_t pitch) {
    const int64_t positions = size_product(pitch, SCALE) / r->rows[i] * tile_rows(r, i);
    return positions > 0 ? positions : 1;
}

int64_t find_loops(const Program *program, const NodeId *node, int count, RepeatRows *rows) {
    const Graph *g = program->graph;
    const Marks marks = marks_new(g);
    Step *step = NEW_ARRAY(g->pool, Step, count);
    int64_t tallest = 1;
    for (int i = 0; i < count; i++) {
        step[i] = (Step){.node = node[i]};
        rows[i] = (RepeatRows){.loop = -1};
        if (computes_bands(program, &g->node[node[i]]) && step_height(program, &step[i], 0) > tallest)
            tallest = step_height(program, &step[i], 0);
    }
    for (int i = 0, end, loop = 0; i < count; i = end, loop++) {
        Run r = run_from(program, step, count, i, marks);
        const int n = scale_rows(&r, tallest_of(&r));
        for (int k = 0; n > 1 && k < n; k++)
            rows[r.place[k]] = (RepeatRows){
                .loop = loop, .pitch = pitch_of(&r, k, REPEAT_POSITIONS * tallest / tallest_of(&r))};
        end = n > 0 ? r.place[n - 1] + 1 : i + 1;
        run_end(&r);
    }
    return tallest;
}

int find_uneven(const Program *program, const NodeId *node, int count) {
    const Marks marks = marks_new(program->graph);
    Step *step = NEW_ARRAY(program->graph->pool, Step, count);
    for (int i = 0; i < count; i++)
        step[i] = (Step){.node = node[i]};
    for (int i = 0, end; i < count; i = end) {
        end = i + 1;
        if (!computes_bands(program, &program->graph->node[node[i]])) /* no run begins here */
            continue;
        Run r = run_from(program, step, count, i, marks);
        const int n = scale_rows(&r, tallest_of(&r));
        if (n < r.count)
            return r.place[n];
        end = n > 0 ? r.place[n - 1] + 1 : end;
        run_end(&r);
    }
    return -1;
}

RepeatWindow window_of(const Graph *g, const Node *node, int input, int64_t pitch) {
    const int64_t rows = rows_for_scale(g, node, input), middle = MIDDLE / SCALE;
    const int64_t row = node->tile_rows > 0 ? pitch / node->tile_rows : pitch;
    if (rows == 0)
        return (RepeatWindow){0};
    const RowRange range = op_table[node->op].rows(g, node, input, 1, (RowRange){MIDDLE, MIDDLE + SCALE});
    return (RepeatWindow){.above = (middle * rows - range.begin) * row * SCALE / rows,
                          .below = (range.end - (middle + 1) * rows) * row * SCALE / rows};
}

/* ---- the pass ---- */

int loop_over_bands(Program *program, Step *step, int nstep, Step **new) {
    const Graph *g = program->graph;
    const int64_t bands = program->options->bands;
    const bool asked = bands > 1 || program->choices->band_rows > 0;
    int count = 0, end;
    if (!has_bands(program))
        return loop_over_heads(program, step, nstep, new);
    const Marks marks = marks_new(g);
    *new = NULL;
    program->units = units_of(program, step, nstep, marks);
    for (int i = 0; i < nstep; i = end) {
        Run r = run_from(program, step, nstep, i, marks);
        const int64_t tallest = tallest_of(&r);
        const int64_t rows = bands > 1 ? iterations(tallest, bands) : band_rows(program);
        const int n = scale_rows(&r, tallest);
        r.endless = program->units > 0;
        Step loop;
        const bool loops = n > 1 && (asked || r.endless) && make_loop(&r, n, rows, &loop);
        const bool packs = loops && program->choices->packs_in_bands;
        end = n > 0 ? r.place[n - 1] + 1 : i + 1;
        if (packs)
            pack_in_bands(&r, step, i, end, &loop);
        else if (loops)
            program->packed = size_sum(program->packed, packed_bytes(&r, step, i, end));
        for (int k = i; k < end && !packs; k++)
            if (!loops || step[k].node < 0 || !computes_bands(program, &g->node[step[k].node]))
                PUSH(g->pool, *new, count, step[k]);
        if (loops)
            PUSH(g->pool, *new, count, loop);
        run_end(&r);
    }
    return count;
}
