/* arena.c - offsets for every buffer, the extent of every program, the size of the arena.
 *
 *     0           persistent                        extent of a program
 *     | parameters | optimiser state | gradients, activations, ... of train  |
 *                                    | activations of eval       |
 *                                    | of predict |
 *
 * What is persistent lies in front, so it survives whatever program runs; behind it, programs take turns.
 *
 * Requires: live.  Provides: offsets; extents; lower bounds; the step at which each program's peak is.
 */
#include "placement.h"
#include "plan.h"

#include <string.h>

static void place_slices(Plan *plan) {
    int64_t *used = NEW_ARRAY(plan->pool, int64_t, plan->nbuffer);
    for (int b = 0; b < plan->nbuffer; b++) {
        Buffer *slice = &plan->buffer[b];
        if (slice->slice < 0)
            continue;
        slice->offset = plan->buffer[slice->slice].offset + used[slice->slice];
        used[slice->slice] += slice->bytes;
    }
}

static void place_persistent(Plan *plan) {
    for (int b = 0; b < plan->nbuffer; b++) {
        Buffer *buffer = &plan->buffer[b];
        if (buffer->lifetime != LIFETIME_PERSISTENT || buffer->slice >= 0)
            continue;
        buffer->offset = plan->persistent;
        if (__builtin_add_overflow(plan->persistent, buffer->bytes, &plan->persistent))
            environment_error("the parameters do not fit into 2^63 bytes");
    }
}

/* The buffers of a program that need a place of their own. */
static int movable(const Plan *plan, const Program *program, int *id) {
    int n = 0;
    for (int b = 0; b < plan->nbuffer; b++) {
        const Buffer *buffer = &plan->buffer[b];
        if (buffer->program == (int)program->kind && buffer->same < 0 && buffer->slice < 0)
            id[n++] = b;
    }
    return n;
}

/* The most bytes alive at one step, and which step that is. */
static int64_t most_alive(const PlaceBuffer *item, int n, int steps, int *peak) {
    int64_t most = -1;
    for (int t = 0; t < steps; t++) {
        int64_t alive = 0;
        for (int i = 0; i < n; i++)
            if (item[i].first <= t && t < item[i].last)
                alive += item[i].size;
        if (alive > most)
            most = alive, *peak = t;
    }
    return most;
}

static void place_program(Plan *plan, Program *program) {
    int *id = NEW_ARRAY(plan->pool, int, plan->nbuffer);
    int n = movable(plan, program, id), steps = step_count(program->step, program->nstep);
    PlaceBuffer *item = NEW_ARRAY(plan->pool, PlaceBuffer, n);
    for (int i = 0; i < n; i++) {
        const Buffer *b = &plan->buffer[id[i]];
        item[i] = (PlaceBuffer){.size = b->bytes, .first = b->first, .last = b->last + 1};
    }
    program->lower_bound = plan->persistent + most_alive(item, n, steps, &program->peak);
    for (int i = 0; plan->options->no_reuse && i < n; i++)
        item[i].first = 0, item[i].last = steps;
    PlaceResult result;
    place_buffers(plan->pool, item, n, plan->target->align, 0, &result);
    for (int i = 0; i < n; i++)
        plan->buffer[id[i]].offset = plan->persistent + item[i].offset;
    if (__builtin_add_overflow(plan->persistent, result.arena, &program->extent))
        environment_error("the arena does not fit into 2^63 bytes");
}

void arena(Plan *plan) {
    place_persistent(plan);
    for (int k = 0; k < PROGRAMS; k++) {
        Program *program = &plan->program[k];
        if (program->model == NULL)
            continue;
        place_program(plan, program);
        if (program->extent > plan->arena)
            plan->arena = program->extent;
        if (program->lower_bound > plan->lower_bound)
            plan->lower_bound = program->lower_bound;
    }
    place_slices(plan);
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].same >= 0)
            plan->buffer[b].offset = plan->buffer[plan->buffer[b].same].offset;
}
