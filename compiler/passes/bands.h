/* bands.h - between schedule.c and bands.c. */
#ifndef BANDS_H
#define BANDS_H

#include "ir/plan.h"
#include "solve/repeat.h"

/* Puts each run of steps that can compute ranges of rows into a loop over bands of rows, if that was asked
 * for or chosen. STEP[0..NSTEP) is replaced by NEW; returns how many steps that has. Sets program->units.
 */
int loop_over_bands(Program *program, Step *step, int nstep, Step **new);
/* Which of NODE[0..COUNT), in this order, come into which loop, and how they go over rows there: all but
 * the windows. ROWS receives one for each; returns the height of the tallest tensor in loops. */
int64_t find_loops(const Program *program, const NodeId *node, int count, RepeatRows *rows);
/* The first of NODE[0..COUNT), in this order, that has no whole number of rows in a band of those before
 * it; -1: each has. */
int find_uneven(const Program *program, const NodeId *node, int count);
/* The rows of input number INPUT that NODE reads, which goes on by PITCH positions. */
RepeatWindow window_of(const Graph *g, const Node *node, int input, int64_t pitch);
/* Is VALUE an image of each sample, so that a few of its rows may be there at a time? */
bool has_rows(const Value *value);
/* Does NODE make an image row by row, or a sum over rows, out of images? It reads operands without
 * samples whole. */
bool works_in_rows(const Program *program, const Node *node);
/* And may it be part of a loop over bands of PROGRAM? */
bool computes_bands(const Program *program, const Node *node);
/* Is there a loop for a head that makes LARGE? */
bool head_loops(const Program *program, ValueId large);
/* Per value, in an array of POOL: its bytes, or, in the loop of a head, about the bytes of the rows that
 * are there at a time. */
int64_t *bytes_in_loops(Pool *pool, const Program *program);

#endif
