/* remat_graph.h - a problem of recomputation as the search and the bounds see it.
 *
 * Tensors from outside are left out, no tensor is read twice by one operation, and every list of tensors
 * lies in one array: the search looks at them some hundred million times a second.
 */
#ifndef REMAT_GRAPH_H
#define REMAT_GRAPH_H

#include "solve/remat.h"

enum { REMAT_MAX_REPEATS = 8 }; /* the longest schedule, in times the operations of the problem */

typedef struct {
    int64_t cost, scratch;
    int64_t own;        /* bytes of what it writes, and scratch */
    int read_end;       /* one behind the last in `read`; the first is the previous operation's end */
    int write_end;      /* likewise */
    int in_place;       /* a tensor no smaller than the first output, or -1 */
    int64_t saved;      /* by writing in place */
    bool repeatable;    /* and worth it: something it writes is read */
    bool writes_a_kept; /* tensor */
} RematNode;

typedef struct {
    int noperation, ntensor, nkept;
    int nforward;    /* operations in front of the first that computes a gradient */
    RematNode *node; /* node[-1] ends at 0 */
    int *read, *write;
    int *maker;     /* per tensor: the operation that writes it */
    int64_t *bytes; /* per tensor */
    int *kept;      /* the tensors that live to the end */
    bool *is_kept;  /* per tensor */
    int *reader; /* the operations that read tensor t: reader[reader_end[t - 1]] to reader[reader_end[t]] */
    int *reader_end; /* per tensor; reader_end[-1] is 0 */
    uint64_t *key; /* per tensor: a random number.  The key of a set is the exclusive or of its tensors' */
    int64_t base_cost, kept_bytes;
} RematGraph;

RematGraph *remat_graph(Pool *pool, const RematProblem *problem);

/* Returns the next random number of 64 bits: splitmix64. */
uint64_t remat_random_bits(uint64_t *state);

/* No schedule within CAPACITY costs less; no schedule has a lower peak.  See remat_bound.c. */
int64_t remat_cost_bound(Pool *pool, const RematGraph *graph, int64_t capacity);
int64_t remat_peak_bound(Pool *pool, const RematGraph *graph);

/* The aim of a search. */
typedef struct {
    int64_t effort;
    int64_t enough; /* it ends when an order is within so much; 0: when it has run */
    int64_t near;   /* it looks for what needs about so much; 0: for all from the least to the most */
    bool brief;     /* half of its runs */
    bool least;     /* it looks for what needs least, whatever that costs */
    bool descends;  /* one run, from where the given order fits to the least that it comes to */
    bool cheaply; /* no other search follows: this one also looks for orders that cost next to nothing more
                   */
} RematAim;

struct RematFront; /* remat_front.h */

/* Drops one tensor after the other from the given order, until MOST is added to the cost; cheap orders go
 * to FRONT. Returns the effort. */
int64_t remat_greedy(Pool *pool, const RematGraph *graph, int64_t most, int64_t effort,
                     struct RematFront *front);

/* Computes the forward pass again segment by segment; orders go to FRONT.  Returns the effort, which goes
 * little beyond EFFORT. */
int64_t remat_segments(Pool *pool, const RematGraph *graph, int64_t effort, struct RematFront *front);

/* Finds orders that are cheap or need little, and hands all of them to FRONT.  Returns the effort. */
int64_t remat_search(Pool *pool, const RematGraph *graph, const RematAim *aim, struct RematFront *front);

#endif
