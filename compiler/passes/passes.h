/* passes.h - the passes over a program and over a plan, in their order (pipeline.c calls them). */
#ifndef PASSES_H
#define PASSES_H

#include "ir/plan.h"
#include "ir/target.h"

/* ---- over one program ---- */

/* windows.c, for prune.c: outputs are what windows blend. */
void blend_windows(Program *program);
/* diffuse.c: what a diffusion model is trained on is drawn in the arena. */
void diffuse_inputs(Program *program);
/* prune.c: keeps what the program's results need, and what updates storage that outlives it. */
void prune(Program *program);
/* autodiff.c: training: the backward pass; fills program->gradient. */
void autodiff(Program *program);
/* update.c: training: appends the optimiser's step. */
void update(Program *program);
/* prune.c: appends the `return` node, which reads the results. */
void close_graph(Program *program);
/* compress.c: training: activations wait for the backward pass in codes. */
void compress(Program *program);
/* fuse.c: conv + relu, gradients + mask, gradients + sum, the last conv + loss + gradients. */
void fuse(Program *program);
void renormalise(Program *program);
/* types.c: the type in which each value is stored. */
void choose_types(Program *program);
/* micro_batch.c: how many samples to train at a time. */
void choose_micro_batch(Program *program);
/* heads.c: what reads enlarged logits stands right behind what enlarges them. */
void bring_heads_together(Program *program);
/* cast.c: inputs in the type of activations, or copied out of the way of the next ones. */
void cast_inputs(Program *program);
/* groups.c: training by ranks: the sums of groups of samples are added as a tree. */
void sum_groups(Program *program);
/* Numbers of all segments of V, as they will lie in their region. */
int64_t region_numbers(const Program *program, ValueId v);
/* prepare.c: what the target's kernels need beside the operands. */
void prepare(Program *program);
/* reach.c: prediction: how much of an image a point of a result sees. */
void find_reach(Program *program);
/* layout.c: how all segments lie. */
void choose_layouts(Program *program);
/* parts.c: training: the optimiser's step in parts, each with gradients of its own. */
void part_updates(Program *program);
/* schedule.c: the tree of steps and loops. */
void schedule(Program *program);
/* Moves step I of STEP up, to right behind the last step that touches one of its values. */
void move_step_up(const Graph *g, Step *step, int i);
/* A loop over all samples, of so many of them at a time. */
Step loop_over_samples(const Program *program, Step *body, int count);
/* merges.c, for schedule.c: STEP[0..NSTEP), an iteration over samples, becomes loops between which all
 * samples are merged; the nodes END stand at the end of them.  Returns how many steps that are. */
int cut_at_merges(Program *program, const NodeId *end, int nend, const Step *step, int nstep, Step **cut);
/* buckets.c: training by ranks: gradients are sent while the backward pass goes on. */
void cut_buckets(Program *program);
/* Numbers beside the gradients that the sums of gradients need room for, on each level. */
int64_t bucket_room(const Program *program);
/* recompute.c, for schedule.c: an order of these nodes, some of them repeatedly, that needs at most
 * CAPACITY bytes for what they compute, or the least that was found; returns its length. */
int recompute(Program *program, const NodeId *node, int count, int64_t capacity, Step **step);
/* Does recompute() count the gradients of parameters in, from their first write on? */
bool places_gradients(const Program *program);

/* sweep.c: the first operator that needs all rows of an image before it has one of its own, or (UNEVEN) has
 * no whole number of rows in a band of those before it; NULL: bands of rows go through all of the program.
 */
const Node *ends_sweep(const Program *program, bool *uneven);

/* ---- over the plan ---- */

/* buffer_assign.c: one buffer per segment, the regions, in place where legal; the loader ring. */
void buffers(Plan *plan);
/* windows.c, for buffer_assign.c: slices and sums, where windows go through a volume. */
void window_buffers(Plan *plan, Program *program);
/* rings.c: the tensors that a loop over bands holds a few rows of, and how many. */
void rings(Plan *plan);
/* live.c: first and last of every buffer. */
void live(Plan *plan);
/* Buffers that live in PROGRAM alone, per position: the bytes of buffers that are born there, all bytes
 * alive, and the most of these. */
typedef struct {
    int64_t *born, *bytes, most;
} Alive;
Alive alive_in(const Plan *plan, const Program *program);
/* sections.c: steps that one launch does stand side by side, in a section. */
void sections(Plan *plan);
/* chains.c: neighbours that work point by point are one launch. */
void chains(Plan *plan);
/* branches.c: gradients by weights run beside what others wait for. */
void branches(Plan *plan);
/* join.c: two steps become one where one kernel does both and no more bytes are alive. */
void join(Plan *plan);
/* offsets.c: offsets, extents, the size of the arena. */
void offsets(Plan *plan);
/* plan_verify.c: an independent judge; calls BUG() naming the broken law. */
void verify_plan(const Plan *plan);

#endif
