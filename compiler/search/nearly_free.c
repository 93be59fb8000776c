/* nearly_free.c - takes what saves memory for at most a hundredth of the work.
 *
 * One search in brief finds schedules of every capacity.  Of those that cost little enough, the one of
 * least memory becomes a plan; under a budget, the cheapest that fits.  A plan may need more than its
 * schedule says, and its work is known when it is made: so the plan is judged, and if it is not worth its
 * work, a cheaper schedule has its turn.
 *
 * Requires: a plan that keeps everything, whole batches where loops cost time.  Provides: a plan of fewer
 * bytes, or the one that was best.
 */
#include "search/nearly_free.h"
#include "base/size_math.h"

enum {
    PART = 100, /* of the work: so much may be added */
    TRIES = 3
};

/* Does PLAN save a larger part of what KEPT takes than it costs of its work, and cost little of that? */
static bool is_nearly_free(const Plan *plan, const Plan *kept) {
    const int64_t extra = plan->cost - kept->cost, saved = kept->arena - plan->arena;
    return extra <= kept->cost / PART && saved > 0 &&
           (double)saved / (double)kept->arena > (double)extra / (double)kept->cost;
}

/* Of the schedules from FOUND on, the one of least memory that costs at most MOST more than none, or NULL.
 */
static const RematSchedule *least_for(const RematSchedule *found, int64_t most) {
    const RematSchedule *least = NULL;
    for (const RematSchedule *s = found; s != NULL; s = s->next)
        if (s->cost - s->base_cost <= most && (least == NULL || s->peak < least->peak))
            least = s;
    return least;
}

/* Where any plan will do, or time matters, there is no choice.  Ranks send gradients while the backward
 * pass goes on (buckets.c), and a schedule of less memory completes them late.  A budget of less than half
 * of what KEPT takes leaves none either, as far as anybody has seen, and is not waited for. */
static bool may_choose(const Request *r, const Plan *kept) {
    const Program *train = &kept->program[PROGRAM_TRAIN];
    const Choices *choices = &kept->choices;
    return train->model != NULL && kept->arena < INT64_MAX && kept->refusal == NULL &&
           train->extent == kept->arena && !r->options->no_recompute && !choices->any_plan &&
           !choices->brief && !choices->rough && !has_bands(train) && train->group == 0 &&
           (kept->budget == 0 || (!plan_fits(kept) && kept->budget >= kept->arena / 2));
}

/* The next of the schedules from FOUND on that seems to need at most ROOM, for at most MOST, or NULL. */
static const RematSchedule *next_within(const RematSchedule *found, int64_t most, int64_t room) {
    while (found != NULL && (found->peak > room || found->cost - found->base_cost > most))
        found = found->next;
    return found;
}

/* What try K is about, behind LAST, of the schedules of FIRST: under a budget the cheapest come first, and
 * in the end the one that needs least, which is surest to fit. */
static const RematSchedule *choice(const Plan *kept, int k, const Program *first,
                                   const RematSchedule *last) {
    const int64_t most = kept->cost / PART / iterations_of(&kept->program[PROGRAM_TRAIN]),
                  room = size_sum(kept->budget, overestimate(first)) - first->remat_outside;
    if (kept->budget == 0)
        return least_for(first->found, last == NULL ? most : last->cost - last->base_cost - 1);
    const RematSchedule *next = next_within(last == NULL ? first->found : last->next, most, room);
    return k < TRIES - 1 && next != NULL ? next : least_for(first->found, most);
}

Plan *nearly_free(const Request *r, Plan *kept, Plan *best) {
    if (!may_choose(r, kept))
        return best;
    Choices choices = kept->choices;
    choices.nearly_free = true;
    choices.capacity = kept->program[PROGRAM_TRAIN].lower_bound - 1; /* the given order does not fit */
    const int made = r->made->count;
    const Program *first = &attempt(r, choices)->program[PROGRAM_TRAIN];
    for (int k = 0; k < TRIES; k++) {
        choices.found = choice(kept, k, first, choices.found);
        if (choices.found == NULL)
            break;
        Plan *plan = attempt(r, choices);
        if (plan_fits(plan) && is_nearly_free(plan, kept) &&
            (best == kept || !plan_fits(best) || plan->cost < best->cost))
            return only(r, made, plan);
    }
    return only(r, made, best);
}
