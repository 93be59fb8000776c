/* steps.h - how long each step of the plan takes where the host runs it, for the command `bench`. */
#ifndef UNET_STEPS_H
#define UNET_STEPS_H

#include <jansson.h>

#include "driver.h"

typedef struct {
    UnetPlanStep step;
    double seconds;
} StepTime;

/* A clock to hand to a program as UnetStep.watch; a round is one run of the program. */
typedef struct {
    UnetWatch watch;
    int32_t positions; /* of the plan, */
    UnetPlanStep *at;  /*   with what began there in rounds that count; no name: nothing */
    int rounds, most_rounds;
    double *seconds; /* most_rounds for each position */
    int32_t running; /* the position that began last, -1: none, */
    double since;    /*   and when it did */
    StepTime *time;  /* once it was read: what began and its median, */
    int32_t count;   /*   so many */
} StepClock;

/* The caller calls step_clock_free, even after a failure. */
UNET_MUST_USE UnetStatus step_clock_new(StepClock *clock, const UnetProgram *program, int most_rounds,
                                        UnetError *error);
void step_clock_free(StepClock *clock);

/* The program has run; where that does not count, the clock forgets it. */
void step_clock_round(StepClock *clock, bool counts);
void step_clock_read(StepClock *clock);

/* The most that the machine can do in a second. */
typedef struct {
    double flops, bytes;
    double matrix_flops; /* of products of matrices of bf16, or 0 */
} Peak;

/* A table of the longest; sorts them.  JSON of all. */
void step_times_print(StepClock *clock, const Peak *peak);
json_t *step_times_json(const StepClock *clock);

/* The one in the middle of N values, which it sorts. */
double median(double *value, int n);

#endif
