/* remat_memo.c - what was found for problems that were searched already.
 *
 * A search takes a second, and who looks for the largest batch asks for hundreds of plans of the same
 * proportions.  Each problem has one searcher; others who ask for it wait for what it finds.
 *
 * Requires: problems whose arrays are complete.  Provides: their schedules, the same whoever asks first.
 */
#include "solve/remat_memo.h"
#include "base/diag.h"

#include <pthread.h>
#include <string.h>

typedef struct Entry Entry;
struct Entry {
    Entry *next;
    RematProblem problem;
    bool brief;
    const RematSchedule *schedules; /* NULL: it is being searched */
    Pool *pool;
};

struct RematMemo {
    Pool *pool; /* of the entries */
    pthread_mutex_t lock;
    pthread_cond_t found;
    Entry *first;
};

RematMemo *remat_memo_new(void) {
    Pool *pool = pool_new();
    RematMemo *memo = NEW(pool, RematMemo);
    memo->pool = pool;
    CHECK(pthread_mutex_init(&memo->lock, NULL) == 0 && pthread_cond_init(&memo->found, NULL) == 0);
    return memo;
}

void remat_memo_free(RematMemo *memo) {
    for (Entry *entry = memo->first; entry != NULL; entry = entry->next)
        pool_free(entry->pool);
    (void)pthread_cond_destroy(&memo->found);
    (void)pthread_mutex_destroy(&memo->lock);
    pool_free(memo->pool);
}

static Entry *new_entry(RematMemo *memo, const RematProblem *problem, bool brief) {
    Entry *entry = NEW(memo->pool, Entry);
    Pool *pool = pool_new();
    *entry = (Entry){
        .next = memo->first, .problem = *remat_problem_copy(pool, problem), .brief = brief, .pool = pool};
    return memo->first = entry;
}

const RematSchedule *remat_memo_schedules(RematMemo *memo, const RematProblem *problem, bool brief,
                                          int64_t times) {
    (void)pthread_mutex_lock(&memo->lock);
    Entry *entry = memo->first;
    while (entry != NULL && (entry->brief != brief || !remat_alike(&entry->problem, problem, true)))
        entry = entry->next;
    const bool is_new = entry == NULL;
    if (is_new)
        entry = new_entry(memo, problem, brief);
    while (!is_new && entry->schedules == NULL)
        (void)pthread_cond_wait(&memo->found, &memo->lock);
    (void)pthread_mutex_unlock(&memo->lock);
    if (!is_new)
        return entry->schedules;
    const RematSchedule *schedules = remat_schedules(entry->pool, &entry->problem, brief, times);
    (void)pthread_mutex_lock(&memo->lock);
    entry->schedules = schedules;
    (void)pthread_cond_broadcast(&memo->found);
    (void)pthread_mutex_unlock(&memo->lock);
    return schedules;
}
