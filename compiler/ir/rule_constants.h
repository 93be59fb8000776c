/* rule_constants.h - between the constants rules of the operators and the emitter. */
#ifndef RULE_CONSTANTS_H
#define RULE_CONSTANTS_H

#include "ir/graph.h"
#include "ir/model.h"

typedef struct Constants Constants;

/* Constants of the kernel instance that a node becomes; see templates/README.md for the names. */
void constant(Constants *c, const char *name, int64_t value);
void constant_real(Constants *c, const char *name, double value);
/* An array of them; without any, of a single 0. */
void constant_reals(Constants *c, const char *name, const double *value, int count);
void constant_integers(Constants *c, const char *name, const int64_t *value, int count);
/* D, H, W and the like: PREFIX before the letters, the extents of V behind them. */
void constant_extents(Constants *c, const char *prefix, ValueId v);
/* The channels of a feature map, or all numbers of anything else. */
void constant_channels(Constants *c, const char *name, ValueId v);
/* A number of channels with blocks like the blocks of V, for a kernel that takes them two at a time: one,
 * all in pairs, or all but the last. */
void constant_like(Constants *c, const char *name, ValueId v);
void constant_layout(Constants *c, const char *name, ValueId v);
/* NAME[SEGMENTS], SEGMENTS, and SINGLE, if that is 1; if V is an input of the node, it is handed over as an
 * array of pointers. */
void constant_segments(Constants *c, const char *name, ValueId v);
/* The type of an operand that may be an input: 0, it is none; 1, as the loader leaves it; 2, bytes
 * that stand for value / 255. */
void constant_staged(Constants *c, const char *name, ValueId v);
/* The arguments before the outputs ("n", unless said otherwise) and after the inputs. */
void call_arguments(Constants *c, const char *before, const char *after);
/* A number that is handed over behind the inputs, on every target. */
void call_number(Constants *c, int64_t number);

/* Samples of a group (Program.group). */
int64_t constant_group(const Constants *c);
const TrainSection *constant_training(const Constants *c);
/* The number of the bucket (passes/buckets.c) with so many GRADIENTS, -1: that is none; and where its
 * levels begin. */
int constant_bucket(const Constants *c, ValueId gradients, int64_t *place);
/* Does the program check its accesses to the arena (--poison)? */
bool constant_checks(const Constants *c);
/* The operator computes rows of V. A kernel that takes a range of them is told which, behind what comes
 * before the outputs. */
void call_rows(Constants *c, ValueId v);

/* Elements of the region of trained parameters, padding between them included. */
int64_t constant_region_elements(const Constants *c);
/* RUN[2 * RUNS]: where the numbers of each segment of a region begin and end; between them is padding.
 * AT[RUNS]: number I of a segment is element AT + I behind the first segment.  The segments of several
 * regions count as if they lay side by side. */
void constant_runs(Constants *c, ValueId region);
/* TENSORS: so many of the PARAMETERS, the first ones, have a STATE in codes (unet/codes.h); -1: none is
 * kept. TENSOR[4 * TENSORS + 4] has four numbers for each: blocks in front of it; its first element in the
 * region; its elements; the place of its state, in bytes behind the first.  The last four are for what
 * follows. */
void constant_coded(Constants *c, ValueId parameters, ValueId state);
/* The same of V[0..COUNT). */
int64_t constant_stored_elements(const Constants *c, const ValueId *v, int count);

const Graph *constants_graph(const Constants *c);

#endif
