/* steps.c - how long each step of the plan takes where the host runs it (steps.h). */
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 15 }; /* the longest; the others are one line */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *value, int n) {
    qsort(value, (size_t)n, sizeof *value, ascending);
    return value[n / 2];
}

/* ---- the clock ---- */

/* Seconds of a step, one number for each round. */
static double *seconds_of(const StepClock *clock, int32_t position) {
    return clock->seconds + (int64_t)position * clock->most_rounds;
}

static void stop(StepClock *clock, double now) {
    if (clock->running >= 0)
        seconds_of(clock, clock->running)[clock->rounds] += now - clock->since;
    clock->running = -1;
}

/* A step in a loop begins several times. */
static void begins(UnetWatch *watch, const UnetPlanStep *step) {
    StepClock *clock = (StepClock *)watch;
    const double now = machine_seconds();
    stop(clock, now);
    clock->at[step->position] = *step;
    clock->running = step->position;
    clock->since = now;
}

UnetStatus step_clock_new(StepClock *clock, const UnetProgram *program, int most_rounds, UnetError *error) {
    const size_t positions = (size_t)program->steps + 1;
    *clock = (StepClock){.watch = {begins}, .positions = program->steps, .most_rounds = most_rounds};
    clock->running = -1;
    clock->at = calloc(positions, sizeof *clock->at);
    clock->seconds = calloc(positions, (size_t)most_rounds * sizeof *clock->seconds);
    clock->time = calloc(positions, sizeof *clock->time);
    return clock->at != NULL && clock->seconds != NULL && clock->time != NULL
               ? UNET_OK
               : unet_fail(error, UNET_TOO_SMALL, "no memory for the times of steps");
}

void step_clock_free(StepClock *clock) {
    free(clock->at);
    free(clock->seconds);
    free(clock->time);
}

void step_clock_round(StepClock *clock, bool counts) {
    stop(clock, machine_seconds());
    if (counts) {
        clock->rounds++;
        return;
    }
    for (int32_t i = 0; i < clock->positions; i++) {
        clock->at[i].name = NULL;
        seconds_of(clock, i)[clock->rounds] = 0;
    }
}

void step_clock_read(StepClock *clock) {
    for (int32_t i = 0; i < clock->positions; i++)
        if (clock->at[i].name != NULL)
            clock->time[clock->count++] =
                (StepTime){clock->at[i], median(seconds_of(clock, i), clock->rounds)};
}

/* ---- telling ---- */

static int longest_first(const void *a, const void *b) {
    const StepTime *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* RATE in units of 1e9, and what that is of the PEAK; nothing where there is no work, or no peak. */
static void print_rate(double rate, double peak) {
    if (rate > 0 && peak > 0)
        (void)printf(" %9.1f %6.1f %%", 1e-9 * rate, 100 * rate / peak);
    else
        (void)printf(" %9s %8s", "", "");
}

static void print_row(const StepTime *time, double all, const Peak *peak) {
    const double seconds = time->seconds > 0 ? time->seconds : 1e-9; /* what a clock can tell */
    const double flops = (double)time->step.flops, bytes = (double)time->step.bytes;
    (void)printf("  %10.3f %7.1f %%", 1e3 * time->seconds, all > 0 ? 100 * time->seconds / all : 0);
    print_rate(flops / seconds, peak->flops);
    (void)printf(" %9.2f", 1e-6 * bytes);
    print_rate(bytes / seconds, peak->bytes);
}

/* COUNT of them, as one. */
static StepTime sum(const StepTime *time, int32_t count) {
    StepTime all = {.seconds = 0};
    for (int32_t i = 0; i < count; i++) {
        all.seconds += time[i].seconds;
        all.step.flops += time[i].step.flops;
        all.step.bytes += time[i].step.bytes;
    }
    return all;
}

void step_times_print(StepClock *clock, const Peak *peak) {
    const int32_t shown = clock->count < SHOWN ? clock->count : SHOWN, others = clock->count - shown;
    const double all = sum(clock->time, clock->count).seconds;
    if (clock->count == 0)
        return;
    qsort(clock->time, (size_t)clock->count, sizeof *clock->time, longest_first);
    (void)printf("  %10s %9s %9s %8s %9s %9s %8s  step (line)\n", "ms", "of all", "GFLOP/s", "of peak",
                 "MB", "GB/s", "of peak");
    for (int32_t i = 0; i < shown; i++) {
        const UnetPlanStep *step = &clock->time[i].step;
        print_row(&clock->time[i], all, peak);
        (void)printf("  %" PRId32 ": %s (%" PRId32 ")%s%s\n", step->position, step->name, step->line,
                     step->method != NULL ? ", " : "", step->method != NULL ? step->method : "");
    }
    if (others > 0) {
        const StepTime rest = sum(clock->time + shown, others);
        print_row(&rest, all, peak);
        (void)printf("  %" PRId32 " others\n", others);
    }
}

json_t *step_times_json(const StepClock *clock) {
    json_t *parts = json_array();
    for (int32_t i = 0; i < clock->count; i++) {
        const UnetPlanStep *step = &clock->time[i].step;
        (void)json_array_append_new(
            parts, json_pack("{s:i, s:s, s:s?, s:i, s:f, s:I, s:I}", "position", step->position, "name",
                             step->name, "method", step->method, "line", step->line, "seconds",
                             clock->time[i].seconds, "flops", (json_int_t)step->flops, "bytes",
                             (json_int_t)step->bytes));
    }
    return parts;
}
