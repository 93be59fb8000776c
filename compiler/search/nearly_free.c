/* nearly_free.c - saves memory for at most a hundredth of the work.
 *
 * One search in brief finds schedules of every capacity.  The schedule of least memory that costs little
 * enough becomes a plan; under a budget, the cheapest schedule that fits.  A plan may need more than its
 * schedule says, and its work is known only when it is made.  So the plan is judged: if it is not worth its
 * work, a cheaper schedule has its turn.
 *
 * On a target where a launch costs time, the parts of the optimiser's step (passes/parts.c) come first, and
 * their launches are part of that hundredth.
 *
 * Requires: a plan that keeps everything, whole batches where loops cost time.  Provides: a plan of fewer
 * bytes, or the one that was best.
 */
#include "search/nearly_free.h"
#include "base/size_math.h"
#include "ir/target.h"

enum {
    PART = 100, /* of the work: so much may be added */
    TRIES = 3
};

/* Does PLAN save a larger part of what KEPT takes than it costs of its work, and cost at most MOST more? */
static bool is_nearly_free(const Plan *plan, const Plan *kept, int64_t most) {
    const int64_t extra = plan->cost - kept->cost, saved = kept->arena - plan->arena;
    return extra <= most && saved > 0 &&
           (double)saved / (double)kept->arena > (double)extra / (double)kept->cost;
}

/* Does S seem to need fewer bytes than KEPT?  If the estimate of FIRST was too large, all estimates are
 * taken to be too large by as many bytes. */
static bool seems_to_save(const RematSchedule *s, const Plan *kept, const Program *first) {
    const int64_t over = overestimate(first) > 0 ? overestimate(first) : 0;
    return size_sum(s->peak, first->remat_outside) - over < kept->program[PROGRAM_TRAIN].lower_bound;
}

/* The schedule of least memory, from FOUND on, that adds at most MOST to the cost; NULL: there is none. */
static const RematSchedule *least_for(const RematSchedule *found, int64_t most) {
    const RematSchedule *least = NULL;
    for (const RematSchedule *s = found; s != NULL; s = s->next)
        if (s->cost - s->base_cost <= most && (least == NULL || s->peak < least->peak))
            least = s;
    return least;
}

/* May a schedule be chosen in place of KEPT?  Not if any plan will do, or time matters.  Not for ranks:
 * they send gradients while the backward pass goes on (buckets.c), and a schedule of less memory completes
 * gradients late.  Not under a budget of less than half of KEPT's arena: no net is known that saves so much
 * for so little, so nobody waits for the search. */
static bool may_choose(const Plan *kept) {
    const Program *train = &kept->program[PROGRAM_TRAIN];
    const Choices *choices = &kept->choices;
    return train->model != NULL && kept->arena < INT64_MAX && kept->refusal == NULL &&
           train->extent == kept->arena && !choices->any_plan && !choices->brief && !choices->rough &&
           !has_bands(train) && train->group == 0 &&
           (kept->budget == 0 || (!plan_fits(kept) && kept->budget >= kept->arena / 2));
}

/* The next schedule, from FOUND on, that seems to need at most ROOM bytes and adds at most MOST to the
 * cost; NULL: there is none. */
static const RematSchedule *next_within(const RematSchedule *found, int64_t most, int64_t room) {
    while (found != NULL && (found->peak > room || found->cost - found->base_cost > most))
        found = found->next;
    return found;
}

/* Returns the schedule for try number K, among the schedules of FIRST that add at most MOST to the cost;
 * LAST is the schedule of the try before.  Without a budget the first try has least memory, and cheaper
 * schedules follow.  Under a budget the cheapest schedules come first.  The last try is the schedule of
 * least memory, which is surest to fit, unless it is far too large. */
static const RematSchedule *choice(const Plan *kept, int k, const Program *first, int64_t most,
                                   const RematSchedule *last) {
    const int64_t room = size_sum(kept->budget, overestimate(first)) - first->remat_outside;
    if (kept->budget == 0)
        return least_for(first->found, last == NULL ? most : last->cost - last->base_cost - 1);
    const RematSchedule *next = next_within(last == NULL ? first->found : last->next, most, room);
    if (k < TRIES - 1 && next != NULL)
        return next;
    next = least_for(first->found, most);
    return next != NULL && is_far_over(next->peak, room) ? NULL : next;
}

/* Returns KEPT, or the same plan with the optimiser's step in parts, if the plan takes fewer bytes and the
 * launches add at most MOST to its cost. */
static Plan *with_parts(const Request *r, Plan *kept, int64_t most) {
    if (kept->program[PROGRAM_TRAIN].target->loops_are_free)
        return kept;
    Choices choices = kept->choices;
    choices.parts = true;
    const int made = r->made->count;
    Plan *plan = attempt(r, choices);
    return only(r, made, is_nearly_free(plan, kept, most) ? plan : kept);
}

/* BEST, or a plan that adds at most MOST to the cost of KEPT: see nearly_free(). */
static Plan *with_little_again(const Request *r, Plan *kept, Plan *best, int64_t most) {
    Choices choices = kept->choices;
    choices.nearly_free = true;
    choices.parts = choices.parts || kept->budget > 0; /* a plan that has to fit has parts */
    choices.capacity = kept->program[PROGRAM_TRAIN].lower_bound - 1;
    const int made = r->made->count;
    const Program *first = &attempt(r, choices)->program[PROGRAM_TRAIN];
    const int64_t most_again = most / iterations_of(&kept->program[PROGRAM_TRAIN]);
    for (int k = 0; k < TRIES; k++) {
        choices.found = choice(kept, k, first, most_again, choices.found);
        if (choices.found == NULL || !seems_to_save(choices.found, kept, first))
            break;
        Plan *plan = attempt(r, choices);
        if (plan_fits(plan) && is_nearly_free(plan, kept, most) &&
            (best == kept || !plan_fits(best) || plan->cost < best->cost))
            return only(r, made, plan);
    }
    return only(r, made, best);
}

Plan *nearly_free(const Request *r, Plan *kept, Plan *best) {
    if (!may_choose(kept))
        return best;
    const int64_t cost = kept->cost, most = cost / PART;
    if (kept->budget == 0)
        best = kept = with_parts(r, kept, most);
    return r->options->no_recompute ? best : with_little_again(r, kept, best, most - (kept->cost - cost));
}
