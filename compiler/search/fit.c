/* fit.c - searches for the largest batch, size or width that fits.
 *
 * Candidates stand in a row.  Each needs at least as much memory as the one before, and some sizes may not
 * be legal; nothing else is assumed.  From a candidate that fits, the search goes up in strides until one
 * does not fit.  Then it closes the gap between the two, so the answer and its successor were both tried.
 *
 * Attempts near the limit are slow, but their bytes predict the limit.  The search probes the predicted
 * limit; every third probe, or a prediction outside the bracket, bisects instead.  Two attempts that failed
 * tell how memory grows.
 *
 * Any plan that fits answers the question.  A good plan is made at the end, unless any will do.
 */
#include "base/size_math.h"
#include "search/fit.h"
#include "front/lower_state.h"
#include "ir/ops.h"
#include "base/threads.h"
#include "solve/remat_memo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one attempt ---- */

static bool fits_card(const FitQuestion *q, const Plan *plan) {
    return plan_fits(plan) && plan->beside <= q->card && plan->arena <= q->card - plan->beside;
}

static Plan *plan_within(Pool *pool, const FitQuestion *q, int64_t budget, bool only_bands) {
    Options *options = NEW(pool, Options);
    Choices choices = q->fixed;
    *options = q->options;
    options->budget = budget;
    choices.only_bands = only_bands;
    return plan_file(pool, diag_quiet(pool), q->file, &q->lower, options, &choices);
}

/* The better of two: that which fits, or needs less. */
static Plan *better_on_card(const FitQuestion *q, Plan *a, Plan *b) {
    const int64_t bytes_a = size_sum(a->arena, a->beside), bytes_b = size_sum(b->arena, b->beside);
    return fits_card(q, a) || (!fits_card(q, b) && bytes_a < bytes_b) ? a : b;
}

/* Plans for a card: the arena may take the bytes that the rest leaves.  The rest is smaller in bands of
 * rows, which are made if nothing else fits.  So a plan without bands whose rest is too large must not fit.
 */
static Plan *plan_for_card(Pool *pool, const FitQuestion *q) {
    const bool only_bands = q->fixed.any_plan; /* else they are compared with the others */
    Plan *plan = plan_within(pool, q, INT64_MAX - 1, false);
    if (plan == NULL || fits_card(q, plan))
        return plan;
    const int64_t beside = plan->beside, least_beside = plan->least_beside;
    if (q->card > beside) {
        pool_free(plan->pool);
        plan = plan_within(pool, q, q->card - beside, false);
    }
    if (fits_card(q, plan) || q->card <= least_beside || beside <= least_beside)
        return plan;
    Plan *more = plan_within(pool, q, q->card - least_beside, only_bands);
    if (!fits_card(q, more) && plan_fits(more) && more->beside > least_beside)
        more = plan_within(pool, q, more->arena - 1, only_bands);
    return better_on_card(q, more, plan);
}

static void read_size(const Model *model, int64_t size[AXES]) {
    Shape shape = model->graph->value[model->input[0].value].shape;
    for (int k = 0; k < AXES; k++)
        size[k] = shape.rank - AXES + k >= 1 ? shape_extent(shape, k) : 0;
}

int64_t asked_batch(const Program *program) {
    return program->kind == PROGRAM_TRAIN ? program->batch / program->model->train.accumulate
                                          : program->batch;
}

FitTrial fit_try(const FitQuestion *q) {
    FitTrial trial = {0};
    Pool *pool = pool_new();
    Plan *plan = q->card > 0
                     ? plan_for_card(pool, q)
                     : plan_file(pool, diag_quiet(pool), q->file, &q->lower, &q->options, &q->fixed);
    if (plan != NULL) {
        const Program *first = program_of(plan, 0);
        trial = (FitTrial){.legal = true,
                           .batch = asked_batch(first),
                           .arena = plan->arena,
                           .beside = plan->beside,
                           .flops = plan->flops,
                           .recompute_flops = plan->recompute_flops,
                           .micro_batches = iterations_of(first),
                           .in_bands = has_bands(first),
                           .large = plan_is_large(plan)};
        trial.brief = q->fixed.brief && trial.recompute_flops > 0 && !trial.in_bands;
        read_size(first->model, trial.size);
        trial.fits = q->card == 0 ? plan_fits(plan) : fits_card(q, plan);
    }
    pool_free(pool);
    return trial;
}

/* ---- candidates ---- */

typedef struct Row Row;
struct Row {
    FitQuestion question;
    bool (*set)(
        Row *row,
        int64_t i); /* changes the question to candidate I; returns false if the candidate is not legal */
    int64_t first, last; /* candidates */
    int64_t unit;        /* of batches: how many samples more the next one has */
    int64_t declared[AXES], multiple[AXES];
    LowerOptions asked;
    Pool *pool;        /* of widths: for their definitions */
    const char *width; /*   the name, which ASKED does not define */
    int axis; /* the one that a step of the row makes larger by its multiple; others keep the ratio to it */
};

static bool set_batch(Row *row, int64_t i) {
    row->question.lower.batch = i * row->unit;
    return true;
}

static int64_t round_divide(int64_t a, int64_t b) {
    return (a >= 0 ? a + b / 2 : a - b / 2) / b;
}

/* Candidate 0 is the size in the file. */
static bool set_size(Row *row, int64_t i) {
    int64_t growth = i * row->multiple[row->axis], whole = row->declared[row->axis];
    for (int k = 0; k < AXES; k++) {
        if (row->declared[k] == 0)
            continue;
        int64_t steps = round_divide(growth * row->declared[k], whole * row->multiple[k]);
        int64_t size = row->declared[k] + steps * row->multiple[k];
        if (size < 1 || size > FIT_MAX_EXTENT)
            return false;
        row->question.lower.size[k] = size;
    }
    bool legal = true;
    for (int k = 0; k < AXES && legal; k++) {
        Pool *pool = pool_new();
        legal = lower_axis(pool, row->question.file, &row->question.lower, k);
        pool_free(pool);
    }
    return legal;
}

/* With `ranks` batches are cut into groups of one length. */
static Row batches(const FitQuestion *q) {
    Pool *pool = pool_new();
    const Model *model = lower(pool, diag_quiet(pool), q->file, &q->lower);
    const int64_t unit = model == NULL ? 1 : ranks_batch_unit(&model->train);
    pool_free(pool);
    return (Row){.question = *q,
                 .asked = q->lower,
                 .set = set_batch,
                 .first = 1,
                 .last = FIT_MAX_BATCH / unit,
                 .unit = unit};
}

static Row sizes(const FitQuestion *q) {
    Row row = {.question = *q, .asked = q->lower, .set = set_size};
    Pool *pool = pool_new();
    Model *model = lower(pool, diag_quiet(pool), q->file, &q->lower);
    if (model != NULL) {
        read_size(model, row.declared);
        (void)fit_multiples(model->graph, row.multiple);
        for (int k = 0; k < AXES; k++)
            if (row.declared[k] / row.multiple[k] > row.declared[row.axis] / row.multiple[row.axis])
                row.axis = k;
        row.first = -(row.declared[row.axis] / row.multiple[row.axis]);
        row.last = (FIT_MAX_EXTENT - row.declared[row.axis]) / row.multiple[row.axis];
    }
    pool_free(pool);
    return row;
}

/* The first legal candidate at I or beyond, in steps of 1 or -1; END if none comes before it. */
static int64_t legal_from(Row *row, int64_t i, int step, int64_t end) {
    while (i != end && !row->set(row, i))
        i += step;
    return i;
}

/* ---- the search ---- */

enum {
    MOST_GROWTH = 8,   /* of the distance from the first candidate, in one stride */
    FINE = 64,         /* of that distance, the stride behind a guess, which is less exact for sizes */
    MOST_SKIPPED = 256 /* candidates: where so many in a row are illegal, tensors have become too large */
};

typedef struct {
    int64_t i;
    FitTrial trial;
} Tried;

static Tried try_candidate(Row *row, int64_t i) {
    Tried tried = {.i = i};
    if (i <= row->last && row->set(row, i))
        tried.trial = fit_try(&row->question);
    tried.trial.candidate = i;
    return tried;
}

/* Returns the number with which memory grows: the extent of a size, or the candidate's number. */
static double extent(const Row *row, const Tried *tried) {
    const bool sizes = row->declared[row->axis] > 0;
    return sizes ? (double)tried->trial.size[row->axis] : (double)tried->i;
}

/* Returns the power of the extent with which memory grows.  If TRIED and LARGER both failed, their arenas
 * are the least there are, and give it; else it is 1 for a batch, 2 for an area, 3 for a volume. */
static double power_of_extent(const Row *row, const Tried *tried, const Tried *larger) {
    const double least = 0.25, most = 4;
    double axes = 0;
    for (int k = 0; k < AXES; k++)
        axes += row->declared[k] > 0;
    if (larger->trial.legal && !larger->trial.fits && larger->trial.arena > tried->trial.arena &&
        extent(row, larger) > extent(row, tried))
        return fmin(fmax(log((double)larger->trial.arena / (double)tried->trial.arena) /
                             log(extent(row, larger) / extent(row, tried)),
                         least),
                    most);
    return fmax(axes, 1);
}

/* Returns the candidate at which memory would just do, if it grows on as from TRIED to LARGER. */
static int64_t guess(const Row *row, const Tried *tried, const Tried *larger) {
    const FitQuestion *q = &row->question;
    const FitTrial *t = &tried->trial;
    const double has = (double)(q->card > 0 ? q->card : q->options.budget);
    const double needs = (double)t->arena + (q->card > 0 ? (double)t->beside : 0);
    if (!t->legal)
        return tried->i;
    const double size = fmin(extent(row, tried) * pow(has / needs, 1 / power_of_extent(row, tried, larger)),
                             FIT_MAX_EXTENT);
    if (row->declared[row->axis] == 0)
        return (int64_t)fmin(size, (double)row->last);
    return (int64_t)floor((size - (double)row->declared[row->axis]) / (double)row->multiple[row->axis]);
}

/* By memory; else by nothing but what the target can run. */
static bool is_bounded(const Row *row) {
    return row->question.card > 0 || row->question.options.budget > 0;
}

static int64_t clamp(int64_t i, int64_t min, int64_t max) {
    return i < min ? min : i > max ? max : i;
}

/* Is there nothing between them, or, if ABOUT will do, little? */
static bool are_close(const Row *row, const Tried *fits, const Tried *fails, bool about) {
    enum { LITTLE = 30 };
    const int64_t gap = fails->i - fits->i, unit = row->multiple[row->axis];
    return gap <= 1 || (about && (double)(gap * (unit > 0 ? unit : 1)) * LITTLE <= extent(row, fits));
}

/* Nothing legal is left between them in the end, or, if ABOUT will do, little. */
static void close_in(Row *row, Tried *fits, Tried *fails, bool about) {
    Tried larger = *fails;
    for (int iteration = 0; !are_close(row, fits, fails, about); iteration++) {
        int64_t middle = fits->i + (fails->i - fits->i) / 2;
        const int64_t guessed = iteration % 3 < 2 && is_bounded(row) ? guess(row, fails, &larger) : fits->i;
        if (guessed > fits->i)
            middle = clamp(guessed, fits->i + 1, fails->i - 1);
        int64_t least = middle - fits->i > MOST_SKIPPED ? middle - MOST_SKIPPED : fits->i;
        int64_t i = legal_from(row, middle, -1, least);
        if (i == least && least > fits->i) {
            *fails = (Tried){.i = middle};
            continue;
        }
        if (i == fits->i)
            i = legal_from(row, middle + 1, 1, fails->i);
        if (i == fails->i)
            return;
        Tried tried = try_candidate(row, i);
        if (!tried.trial.fits)
            larger = *fails;
        *(tried.trial.fits ? fits : fails) = tried;
    }
}

/* From what fits to something that does not, or to the end of the row: first to where that is expected,
 * then in longer and longer strides. */
static void go_up(Row *row, Tried *fits, Tried *fails) {
    int64_t stride =
        clamp(guess(row, fits, fits) - fits->i, 1, (MOST_GROWTH - 1) * (fits->i - row->first + 1));
    for (bool first = true; fits->i < row->last; first = false) {
        int64_t start = clamp(fits->i + stride, fits->i + 1, row->last);
        int64_t end = clamp(start + MOST_SKIPPED, start, row->last + 1);
        int64_t i = legal_from(row, start, 1, end);
        if (i == end) {
            *fails = (Tried){.i = start};
            return;
        }
        Tried tried = try_candidate(row, i);
        if (!tried.trial.fits) {
            *fails = tried;
            return;
        }
        *fits = tried;
        stride = !first ? 2 * stride : row->declared[row->axis] > 0 ? 1 + (fits->i - row->first) / FINE : 1;
    }
}

/* A good plan in place of any, or, if the search for one finds nothing, FITS as it is. */
static FitTrial good_trial(Row *row, const Tried *fits) {
    row->question.fixed.any_plan = false;
    const Tried good = try_candidate(row, fits->i);
    return good.trial.fits ? good.trial : fits->trial;
}

typedef struct {
    FitQuestion question;
    int64_t candidate;
    FitTrial trial;
} Attempt;

static void *make_attempt(void *item) {
    Attempt *a = item;
    a->trial = fit_try(&a->question);
    a->trial.candidate = a->candidate;
    return NULL;
}

static FitTrial first_that_fits(const Attempt *attempt, int count, FitTrial otherwise) {
    for (int k = 0; k < count; k++)
        if (attempt[k].trial.fits)
            return attempt[k].trial;
    return otherwise;
}

/* The same by a brief search.  At the largest candidate that may find nothing: then at the one before,
 * where there is more room.  Both are tried at once, which costs no time where there are two processors,
 * but for large plans. */
static FitTrial good_trial_in_brief(Row *row, const Tried *fits) {
    Attempt attempt[2];
    int count = 0;
    row->question.fixed.any_plan = false;
    row->question.fixed.brief = true;
    for (int64_t i = fits->i; i >= row->first && count < 2; i = legal_from(row, i - 1, -1, row->first - 1))
        if (row->set(row, i))
            attempt[count++] = (Attempt){row->question, i, {0}};
    if (!fits->trial.large) {
        in_threads(make_attempt, attempt, sizeof *attempt, count, count);
        return first_that_fits(attempt, count, fits->trial);
    }
    for (int k = 0; k < count && (k == 0 || !attempt[k - 1].trial.fits); k++)
        (void)make_attempt(&attempt[k]);
    return first_that_fits(attempt, count, fits->trial);
}

/* From candidate I, whose trial under less memory is FROM, or, where that is NULL, from the first. */
static bool largest(Row *row, int64_t i, const FitTrial *from, FitTrial *best, FitTrial *next) {
    const int64_t end = row->last + 1;
    const bool any = row->question.fixed.any_plan;
    Tried fails = {.i = end};
    row->question.fixed.any_plan = true;
    Tried fits = from != NULL ? (Tried){i, *from} : try_candidate(row, legal_from(row, row->first, 1, end));
    *best = fits.trial;
    if (!fits.trial.fits)
        return false;
    go_up(row, &fits, &fails);
    close_in(row, &fits, &fails, false);
    *best = any ? fits.trial : good_trial(row, &fits);
    if (next != NULL)
        *next = fails.trial;
    return true;
}

bool fit_largest_batch(const FitQuestion *q, const FitTrial *from, FitTrial *best, FitTrial *next) {
    Row row = batches(q);
    return largest(&row, from == NULL ? row.first : from->batch / row.unit, from, best, next);
}

bool fit_largest_size(const FitQuestion *q, const FitTrial *from, FitTrial *best, FitTrial *next) {
    Row row = sizes(q);
    int64_t first = row.first;
    if (row.declared[row.axis] == 0) { /* the file has errors, which planning it has told */
        *best = (FitTrial){0};
        return false;
    }
    if (from != NULL)
        first = (from->size[row.axis] - row.declared[row.axis]) / row.multiple[row.axis];
    return largest(&row, first, from, best, next);
}

/* ---- less than what does not fit ---- */

/* Changes FIXED to ask for any plan, as a proposal does. */
static void ask_for_any_plan(Choices *fixed) {
    fixed->any_plan = fixed->sketch = true;
}

/* About the largest candidate below the one behind the last, which is known to fail as REFUSED does; the
 * first, if not even that fits. */
static Tried about_largest(Row *row, const FitTrial *refused) {
    Tried fails = {row->last + 1, *refused};
    Tried fits = try_candidate(row, legal_from(row, row->first, 1, row->last + 1));
    if (fits.trial.fits)
        close_in(row, &fits, &fails, true);
    return fits;
}

/* The same, and a plan of it that is sought for in brief. */
static bool largest_below(Row *row, const FitTrial *refused, FitTrial *best) {
    Choices *fixed = &row->question.fixed;
    ask_for_any_plan(fixed);
    fixed->memo = remat_memo_new();
    fixed->typical_file = &row->asked;
    const Tried found = about_largest(row, refused);
    remat_memo_free(fixed->memo);
    fixed->memo = NULL;
    fixed->typical_file = NULL;
    *best = found.trial.fits ? good_trial_in_brief(row, &found) : found.trial;
    return found.trial.fits;
}

bool fit_smaller_batch(const FitQuestion *q, const FitTrial *refused, FitTrial *best) {
    Row row = batches(q);
    row.last = (refused->batch - 1) / row.unit;
    return row.last >= row.first && largest_below(&row, refused, best);
}

/* Returns the sizes below the question's size, down to a quarter of its extents; none if the file has
 * errors. */
static Row smaller_sizes(const FitQuestion *q) {
    Row row = sizes(q);
    if (row.multiple[row.axis] > 0)
        row.first = -(row.declared[row.axis] / 4 * 3 / row.multiple[row.axis]);
    row.last = -1;
    return row;
}

bool fit_smaller_size(const FitQuestion *q, const FitTrial *refused, FitTrial *best) {
    Row row = smaller_sizes(q);
    FitTrial declared = *refused;
    memcpy(declared.size, row.declared, sizeof declared.size);
    *best = (FitTrial){0};
    return row.first <= row.last && largest_below(&row, &declared, best);
}

double fit_extra_work(const FitTrial *trial) {
    return 100.0 * (double)trial->recompute_flops / (double)(trial->flops + !trial->flops);
}

/* Returns the candidate whose work would be MOST, if the size grows with this POWER of work from LOW to
 * HIGH. */
static int64_t between(const Tried *low, const Tried *high, double most, double power) {
    const double a = fit_extra_work(&low->trial), b = fit_extra_work(&high->trial);
    return low->i + (int64_t)((double)(high->i - low->i) * pow((most - a) / (b - a), power));
}

/* Between the largest that computes nothing again and DEAR.  As a rule work grows faster and faster. */
bool fit_cheaper_size(const FitQuestion *q, const FitTrial *dear, double most, FitTrial *best) {
    Row row = smaller_sizes(q), keeping = row;
    keeping.question.options.no_recompute = true;
    keeping.last = dear->candidate - 1;
    FitTrial kept;
    if (keeping.first > keeping.last || !largest_below(&keeping, dear, &kept))
        return false;
    row.question.fixed.brief = true;
    const Tried low = {kept.candidate, kept}, high = {dear->candidate, *dear};
    *best = kept;
    for (double power = 0.5; power <= 2 && best->candidate == low.i; power *= 2) {
        const int64_t i = legal_from(&row, between(&low, &high, most, power), -1, low.i);
        const Tried tried = i == low.i ? low : try_candidate(&row, i);
        if (tried.trial.fits && fit_extra_work(&tried.trial) <= most)
            *best = tried.trial;
    }
    return true;
}

bool fit_as_asked(const FitQuestion *asked, FitTrial *best) {
    FitQuestion q = *asked;
    q.fixed.sketch = q.fixed.brief = true;
    *best = fit_try(&q);
    return best->fits;
}

/* ---- widths ---- */

/* -D NAME=VALUE */
static void define(Pool *pool, FitQuestion *q, const char *name, int64_t value) {
    Define *all = NEW_ARRAY(pool, Define, q->lower.ndefine + 1);
    for (int k = 0; k < q->lower.ndefine; k++)
        all[k] = q->lower.define[k];
    all[q->lower.ndefine++] = (Define){name, pool_text(pool, "%lld", (long long)value)};
    q->lower.define = all;
}

static bool set_width(Row *row, int64_t i) {
    enum { FEW = 8, MULTIPLE = 4 };
    if (row->last >= FEW && i % MULTIPLE != 0)
        return false;
    row->question.lower = row->asked;
    define(row->pool, &row->question, row->width, i);
    return true;
}

static int64_t parameter_elements(const Graph *g) {
    int64_t count = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].class == CLASS_PARAMETER)
            count = work_sum(count, 1, shape_elements(g->value[v].shape));
    return count;
}

static bool is_width(Pool *pool, const FitQuestion *asked, const char *name, int64_t value) {
    FitQuestion q = *asked;
    define(pool, &q, name, value / 2);
    const Model *wide = lower(pool, diag_quiet(pool), asked->file, &asked->lower);
    const Model *narrow = lower(pool, diag_quiet(pool), q.file, &q.lower);
    return wide != NULL && narrow != NULL && wide->graph->nnode == narrow->graph->nnode &&
           parameter_elements(narrow->graph) < parameter_elements(wide->graph);
}

static bool is_defined(const LowerOptions *options, const char *name) {
    for (int k = 0; k < options->ndefine; k++)
        if (strcmp(options->define[k].name, name) == 0)
            return true;
    return false;
}

const char *fit_width(Pool *pool, const FitQuestion *asked, int64_t *value) {
    for (int k = 0; k < asked->file->body.count; k++) {
        const Stmt *stmt = asked->file->body.item[k];
        if (stmt->kind != STMT_LET || stmt->value->kind != EXPR_INTEGER || stmt->value->integer < 2 ||
            is_defined(&asked->lower, stmt->name) ||
            !is_width(pool, asked, stmt->name, stmt->value->integer))
            continue;
        *value = stmt->value->integer;
        return stmt->name;
    }
    return NULL;
}

bool fit_smaller_width(Pool *pool, const FitQuestion *asked, const char *name, int64_t value,
                       const FitTrial *refused, FitTrial *best) {
    Row row = {.question = *asked,
               .set = set_width,
               .first = 1,
               .last = value - 1,
               .pool = pool,
               .asked = asked->lower,
               .width = name};
    return largest_below(&row, refused, best);
}
