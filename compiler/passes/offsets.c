/* offsets.c - offsets for every buffer, the extent of every program, the size of the arena.
 *
 *     0           persistent                        extent of a program
 *     | parameters | optimiser state | gradients, activations, ... of train  |
 *                                    | activations of eval       |
 *                                    | of predict |
 *
 * Persistent buffers lie in front, so they survive whatever program runs; behind it, programs take turns.
 * Each address space is laid out by itself; the host's holds nothing but the loader ring.
 *
 * A region of gradients is packed as one block, so a program's lower bound counts it as one.  The plan's
 * lower bound, which is printed, counts each gradient by itself.
 *
 * Requires: live.  Provides: offsets; extents; lower bounds; the step at which each program's peak is.
 * If the buffers of a plan add up to more than any machine has, these are INT64_MAX and nothing has an
 * offset.
 */
#include "base/size_math.h"
#include "passes/passes.h"
#include "solve/pack.h"

/* More than any machine has; solve/pack.c places buffers that add up to less. */
static const int64_t TOO_LARGE = INT64_C(1) << 62;

static void offset_slices(Plan *plan) {
    int64_t *used = NEW_ARRAY(plan->pool, int64_t, plan->nbuffer);
    for (int b = 0; b < plan->nbuffer; b++) {
        Buffer *slice = &plan->buffer[b];
        if (slice->slice < 0)
            continue;
        slice->offset = plan->buffer[slice->slice].offset + used[slice->slice];
        used[slice->slice] += slice->bytes;
    }
}

/* Persistent buffers of a space one behind the other; returns the bytes they take. */
static int64_t offset_persistent(Plan *plan, Space space) {
    int64_t end = 0;
    for (int b = 0; b < plan->nbuffer; b++) {
        Buffer *buffer = &plan->buffer[b];
        if (buffer->space != space || buffer->lifetime != LIFETIME_PERSISTENT || buffer->slice >= 0)
            continue;
        buffer->offset = end;
        end += buffer->bytes;
    }
    return end;
}

/* The buffers of a program that need a place of their own. */
static int movable(const Plan *plan, const Program *program, int *id) {
    int n = 0;
    for (int b = 0; b < plan->nbuffer; b++) {
        const Buffer *buffer = &plan->buffer[b];
        if (buffer->program == (int)program->kind && buffer->same < 0 && buffer->slice < 0)
            id[n++] = b;
    }
    return n;
}

/* The most bytes alive at one step, and which step that is. */
static int64_t max_alive(Pool *pool, const PackBuffer *item, int n, int steps, int *peak) {
    int64_t *change = NEW_ARRAY(pool, int64_t, steps + 1), alive = 0, max = -1;
    for (int i = 0; i < n; i++) {
        change[item[i].first] += item[i].size;
        change[item[i].last] -= item[i].size;
    }
    for (int t = 0; t < steps; t++) {
        alive += change[t];
        if (alive > max)
            max = alive, *peak = t;
    }
    return max;
}

/* The most bytes alive at one step of PROGRAM if each slice of a region lived by itself: a gradient from
 * its first write to the optimiser's step. */
static int64_t most_of_slices(const Plan *plan, const Program *program) {
    PackBuffer *item = NEW_ARRAY(plan->pool, PackBuffer, plan->nbuffer);
    bool *is_region = NEW_ARRAY(plan->pool, bool, plan->nbuffer);
    int n = 0, peak;
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].slice >= 0)
            is_region[plan->buffer[b].slice] = true;
    for (int b = 0; b < plan->nbuffer; b++) {
        const Buffer *buffer = &plan->buffer[b];
        if (buffer->program == (int)program->kind && buffer->same < 0 && !is_region[b])
            item[n++] =
                (PackBuffer){.size = buffer->bytes, .first = buffer->first, .last = buffer->last + 1};
    }
    return plan->persistent +
           max_alive(plan->pool, item, n, step_count(program->step, program->nstep), &peak);
}

/* Does it only matter whether PLAN fits? */
static bool must_only_fit(const Plan *plan) {
    return plan->budget > 0 && (plan->choices.any_plan || plan->choices.brief);
}

/* Does PROGRAM exceed the budget however it is packed?  Its arena is then only named, and compared. */
static bool is_too_large(const Plan *plan, const Program *program) {
    return plan->budget > 0 && program->lower_bound > plan->budget;
}

/* The arena that will do, 0: the smallest.  If it only matters whether a plan fits, and this plan does not,
 * none is looked for. */
static int64_t arena_wanted(const Plan *plan, const Program *program) {
    return must_only_fit(plan) && is_too_large(plan, program) ? INT64_MAX : 0;
}

/* The arena that ends the search for a smaller one, 0: nothing but the smallest.  A plan that does not fit
 * is there to say how much it needs, and to be compared with others that do not.  So if an earlier program
 * does not fit, it is enough that this program does. */
static int64_t arena_enough(const Plan *plan, const Program *program) {
    enum { PART = 64 };
    const int64_t movable_bound = program->lower_bound - plan->persistent,
                  rough = movable_bound + movable_bound / PART, within = plan->budget - plan->persistent;
    if (plan->choices.rough || is_too_large(plan, program))
        return rough;
    if (plan->budget > 0 && plan->arena > plan->budget)
        return rough < within ? rough : within;
    return must_only_fit(plan) ? within : 0;
}

static void pack_program(Plan *plan, Program *program) {
    int *id = NEW_ARRAY(plan->pool, int, plan->nbuffer);
    int n = movable(plan, program, id), steps = step_count(program->step, program->nstep);
    PackBuffer *item = NEW_ARRAY(plan->pool, PackBuffer, n);
    for (int i = 0; i < n; i++) {
        const Buffer *b = &plan->buffer[id[i]];
        item[i] = (PackBuffer){.size = b->bytes, .first = b->first, .last = b->last + 1};
    }
    program->lower_bound = plan->persistent + max_alive(plan->pool, item, n, steps, &program->peak);
    for (int i = 0; plan->options->no_reuse && i < n; i++)
        item[i].first = 0, item[i].last = steps;
    PackResult result;
    Pool *scratch = pool_part(plan->pool);
    const int64_t known = plan->choices.extent[program->kind];
    const PackAim aim = {.capacity = arena_wanted(plan, program),
                         .enough = arena_enough(plan, program),
                         .brief = is_too_large(plan, program),
                         .known = known > 0 ? known - plan->persistent : 0};
    pack_buffers(scratch, item, n, plan->target->align, aim, &result);
    for (int i = 0; i < n; i++)
        plan->buffer[id[i]].offset = plan->persistent + item[i].offset;
    pool_free(scratch);
    program->extent = plan->persistent + result.arena;
}

static bool exceeds_all_machines(const Plan *plan) {
    int64_t sum = 0;
    for (int b = 0; b < plan->nbuffer; b++)
        sum = size_sum(sum, plan->buffer[b].bytes);
    return sum >= TOO_LARGE;
}

void offsets(Plan *plan) {
    if (exceeds_all_machines(plan)) {
        plan->arena = plan->lower_bound = INT64_MAX;
        for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1))
            p->extent = p->lower_bound = INT64_MAX;
        return;
    }
    plan->persistent = offset_persistent(plan, SPACE_DEVICE);
    plan->loader_ring = offset_persistent(plan, SPACE_HOST);
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        pack_program(plan, p);
        plan->arena = p->extent > plan->arena ? p->extent : plan->arena;
        const int64_t bound = most_of_slices(plan, p);
        plan->lower_bound = bound > plan->lower_bound ? bound : plan->lower_bound;
    }
    offset_slices(plan);
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].same >= 0)
            plan->buffer[b].offset = plan->buffer[plan->buffer[b].same].offset;
}
