/* remat_memo.h - what was found for problems that were searched already. */
#ifndef REMAT_MEMO_H
#define REMAT_MEMO_H

#include "solve/remat.h"

RematMemo *remat_memo_new(void);
/* Schedules that it returned are gone then. */
void remat_memo_free(RematMemo *memo);

/* remat_schedules(), which the first one to ask works out; all have the same TIMES.  For several threads at
 * a time. */
const RematSchedule *remat_memo_schedules(RematMemo *memo, const RematProblem *problem, bool brief,
                                          int64_t times);

#endif
