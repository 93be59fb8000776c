/* remat_sweep.c - shares out the effort of a search for schedules.
 *
 * Some orders come from dropping tensors one after the other, without chance (remat_greedy.c).  They are
 * better than what a run meets where little is computed again or the net is large.  A part of the effort
 * goes to runs that begin anew, the rest makes better what has been found (remat_search.c).
 *
 * Two threads share a long search over all capacities, or a search for the least bytes.
 * Each has random numbers and a front of its own, and now and then each learns what the other has found.
 * They meet after a given effort, not after a given time, so what they find does not depend on the clock or
 * on the number of processors.
 */
#include "base/threads.h"
#include "solve/remat_search.h"

/* The share of the effort that starts from the front. */
static const double share_from_front = 0.6;

/* How many of the runs a brief search has, and how often two searches tell each other what they have found
 * while they make it better, once for each half of the runs. */
enum { RUNS_IN_BRIEF = REMAT_RUNS / 2, MEETINGS = 8 };

enum { MOST_SEARCHES = 2 };

/* One of the searches, and its task until they meet. */
typedef struct {
    RematSearch *search;
    RematFront *front;
    int run, end, step; /* runs: from the first on, */
    int64_t each;       /*   with so much effort a round; */
    int64_t improve;    /* then so much effort that starts from the front */
} Part;

static void *work(void *item) {
    const Part *part = item;
    for (int r = part->run; r < part->end; r += part->step)
        remat_search_run(part->search, r, part->each);
    if (part->improve > 0)
        remat_search_improve(part->search, part->improve, false);
    return NULL;
}

typedef struct {
    Part part[MOST_SEARCHES];
    int count;
} Team;

static void meet(Team *team) {
    for (int k = 1; k < team->count; k++)
        remat_front_learn(team->part[0].front, team->part[k].front);
    for (int k = 1; k < team->count; k++)
        remat_front_learn(team->part[k].front, team->part[0].front);
}

static void work_and_meet(Team *team) {
    in_threads(work, team->part, sizeof *team->part, team->count, team->count);
    meet(team);
}

/* Runs BEGIN to END, the first for the first of the team and so on, and then a part of the effort that
 * starts from the front. */
static void work_on(Team *team, int begin, int end, int64_t each, int64_t improve) {
    for (int k = 0; k < team->count; k++)
        team->part[k] = (Part){.search = team->part[k].search,
                               .front = team->part[k].front,
                               .run = begin + k,
                               .end = end,
                               .step = team->count,
                               .each = each};
    work_and_meet(team);
    const int meetings = team->count > 1 ? MEETINGS : 1;
    for (int i = 0; i < meetings; i++) {
        for (int k = 0; k < team->count; k++)
            team->part[k].run = end, team->part[k].improve = improve / meetings / team->count;
        work_and_meet(team);
    }
}

/* Adds orders that compute the forward pass again segment by segment.  Returns the effort. */
static int64_t cut_into_segments(Pool *pool, const RematGraph *graph, const RematAim *aim,
                                 RematFront *front) {
    enum { SHARE = 8 };
    return aim->cheaply ? 0 : remat_segments(pool, graph, aim->effort / SHARE, front);
}

/* Returns whether the search starts from segments.  In a small net chance finds orders that are better, and
 * segments would only draw the first half of the runs away from them: they come behind it. */
static bool begins_with_segments(const RematGraph *graph, const RematAim *aim) {
    enum { SMALL = 512 };
    return aim->descends || aim->brief || aim->least || graph->noperation > SMALL;
}

/* Does half of the runs; a brief search ends there.  Else the front is kept as an early one, because one of
 * its orders may pack where a better one does not, and the other half follows.  Returns the effort of
 * segments. */
static int64_t sweep(Pool *pool, const RematGraph *graph, Team *team, const RematAim *aim,
                     int64_t improve) {
    const int64_t each = (aim->effort - improve) / remat_search_rounds(team->part[0].search, 0, REMAT_RUNS);
    RematFront *front = team->part[0].front;
    int64_t effort = 0;
    work_on(team, 0, RUNS_IN_BRIEF, each, improve / 2);
    if (aim->brief)
        return 0;
    front->early = remat_front_copy(front);
    if (!begins_with_segments(graph, aim)) {
        effort = cut_into_segments(pool, graph, aim, front);
        meet(team);
    }
    work_on(team, RUNS_IN_BRIEF, REMAT_RUNS, each, improve / 2);
    return effort;
}

/* Has one run in each search, and then starts from the front near what needs least.  That is soon found: it
 * takes a quarter of the effort. */
static void look_for_least(Team *team, const RematAim *aim) {
    static const double of_runs = 0.1, from_front = 0.15;
    enum { END = RUNS_IN_BRIEF, BEGIN = END - MOST_SEARCHES };
    const double effort = (double)aim->effort;
    const int64_t rounds = remat_search_rounds(team->part[0].search, BEGIN, END);
    work_on(team, BEGIN, END, (int64_t)(of_runs * effort) / rounds, (int64_t)(from_front * effort));
}

/* How much of the effort starts from the front: nothing where one capacity is wanted, where a longer search
 * follows, or where it is too little for some starts. */
static int64_t for_front(const RematGraph *graph, const RematAim *aim) {
    enum { LEAST_STARTS = 8 };
    const int64_t part = (int64_t)(share_from_front * (double)aim->effort);
    const bool much = part >= LEAST_STARTS * remat_search_start(graph->noperation);
    return aim->near == 0 && aim->descends == aim->cheaply && much ? part : 0;
}

/* A search over all capacities begins with orders that are met without chance. */
static int64_t drop_greedily(Pool *pool, const RematGraph *graph, const RematAim *aim, RematFront *front) {
    enum { SHARE = 8, PART = 20 };
    const int64_t most = aim->cheaply ? graph->base_cost / PART : INT64_MAX;
    return aim->near > 0 ? 0 : remat_greedy(pool, graph, most, aim->effort / SHARE, front);
}

/* Each search and its front take memory from a pool of their own. */
static Team gather(Pool *pool, const RematGraph *graph, const RematAim *aim, RematFront *front) {
    Team team = {.count =
                     aim->descends || aim->brief || aim->near > 0 || aim->enough > 0 ? 1 : MOST_SEARCHES};
    for (int k = 0; k < team.count; k++) {
        Pool *own = k == 0 ? pool : pool_part(pool);
        RematFront *learnt =
            k == 0 ? front
                   : remat_front(own, front->limit[0], front->limit[front->count - 1], front->per_mille);
        team.part[k].front = learnt;
        team.part[k].search = remat_search_new(own, graph, aim, learnt, k);
    }
    meet(&team);
    return team;
}

int64_t remat_search(Pool *pool, const RematGraph *graph, const RematAim *aim, RematFront *front) {
    const int64_t improve = for_front(graph, aim);
    int64_t effort = drop_greedily(pool, graph, aim, front);
    if (begins_with_segments(graph, aim))
        effort += cut_into_segments(pool, graph, aim, front);
    Team team = gather(pool, graph, aim, front);
    if (aim->descends) {
        remat_search_descend(team.part[0].search, aim->effort - improve);
        remat_search_improve(team.part[0].search, improve, aim->cheaply);
    } else if (aim->least) {
        look_for_least(&team, aim);
    } else {
        effort += sweep(pool, graph, &team, aim, improve);
    }
    for (int k = 0; k < team.count; k++)
        effort += remat_search_effort(team.part[k].search);
    return effort;
}
