/* pack_gaps.h - which parts of an arena are taken, and when. */
#ifndef PACK_GAPS_H
#define PACK_GAPS_H

#include "solve/pack_search.h"

typedef struct PackGaps PackGaps;

/* An empty arena for boxes with the lifetimes of BOX[0..COUNT). */
PackGaps *gaps_new(Pool *pool, const PackBox *box, int count);
void gaps_clear(PackGaps *gaps);
/* Takes the place where BOX lies. */
void gaps_take(PackGaps *gaps, const PackBox *box);
/* The lowest offset at which BOX meets nothing that is taken while it is alive. */
int64_t gaps_lowest(PackGaps *gaps, const PackBox *box);

#endif
