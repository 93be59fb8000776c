/* schedule_test.c - learning rates are equal to PyTorch's schedulers' (recorded_rates.h). */
#include <math.h>

#include "check.h"
#include "recorded_rates.h"
#include "unet/schedule.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const UnetLength length = {.steps = 24, .steps_per_epoch = 4};

static void check_rate(double rate, double expected, const char *what, size_t step) {
    CHECK(fabs(rate - expected) <= 1e-14, "%s: the rate of step %zu is %.17g, PyTorch has %.17g", what,
          step, rate, expected);
}

static void check_rates(const UnetSchedule *schedule, const double *expected, const char *what) {
    const UnetPlateau untouched = {.scale = 1, .best = NAN};
    for (int64_t step = 1; step <= length.steps; step++) {
        check_rate(unet_schedule_rate(schedule, 0.05, &untouched, step, length), expected[step - 1], what,
                   (size_t)step);
    }
}

static void test_schedules(void) {
    static const int64_t at[] = {1, 4, 5};
    const struct {
        const char *name;
        const double *expected;
        UnetSchedule schedule;
    } cases[] = {
        {"poly", recorded_poly, {.kind = UNET_SCHEDULE_POLY, .per = UNET_STEPS, .power = 0.9}},
        {"poly per epoch",
         recorded_poly_epochs,
         {.kind = UNET_SCHEDULE_POLY, .per = UNET_EPOCHS, .power = 0.9}},
        {"cosine", recorded_cosine, {.kind = UNET_SCHEDULE_COSINE, .per = UNET_STEPS, .to = 1e-3}},
        {"cosine per epoch", recorded_cosine_epochs, {.kind = UNET_SCHEDULE_COSINE, .per = UNET_EPOCHS}},
        {"cosine behind a warm-up",
         recorded_cosine_warm,
         {.kind = UNET_SCHEDULE_COSINE, .per = UNET_STEPS, .warmup = 5, .start = 0.01}},
        {"step",
         recorded_step,
         {.kind = UNET_SCHEDULE_STEP, .per = UNET_EPOCHS, .every = 2, .factor = 0.3}},
        {"multistep",
         recorded_multistep,
         {.kind = UNET_SCHEDULE_STEPS, .per = UNET_EPOCHS, .factor = 0.2, .at = at, .nat = 3}},
        {"one_cycle",
         recorded_one_cycle,
         {.kind = UNET_SCHEDULE_ONE_CYCLE, .per = UNET_STEPS, .rise = 0.3, .div = 25, .final_div = 1e4}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_rates(&cases[i].schedule, cases[i].expected, cases[i].name);
    }
    CHECK(unet_schedule_rate(NULL, 0.05, NULL, 7, length) == 0.05, "without a schedule the rate changes");
}

static void test_plateau(const double *expected, bool higher_is_better) {
    const UnetSchedule schedule = {.kind = UNET_SCHEDULE_PLATEAU, .factor = 0.5, .patience = 1};
    UnetPlateau plateau = {.scale = 1, .best = NAN};
    for (size_t i = 0; i < COUNT(recorded_metric); i++) {
        const double value = higher_is_better ? 1 - recorded_metric[i] : recorded_metric[i];
        unet_plateau_look(&schedule, &plateau, value, higher_is_better);
        check_rate(unet_schedule_rate(&schedule, 0.05, &plateau, 1, length), expected[i],
                   higher_is_better ? "plateau of a score" : "plateau of a loss", i);
    }
}

/* Shorter than their parts: rates are numbers all the same. */
static void test_short_runs(void) {
    const UnetSchedule cycle = {
        .kind = UNET_SCHEDULE_ONE_CYCLE, .per = UNET_STEPS, .rise = 0.3, .div = 25, .final_div = 1e4};
    const UnetSchedule warm = {.kind = UNET_SCHEDULE_COSINE, .per = UNET_STEPS, .warmup = 100};
    for (int64_t steps = 1; steps <= 4; steps++) {
        for (int64_t step = 1; step <= steps; step++) {
            const UnetLength few = {.steps = steps, .steps_per_epoch = 1};
            const double a = unet_schedule_rate(&cycle, 1, NULL, step, few),
                         b = unet_schedule_rate(&warm, 1, NULL, step, few);
            CHECK(a > 0 && a <= 1, "one_cycle: the rate of step %d of %d is %g", (int)step, (int)steps, a);
            CHECK(b >= 0 && b < 0.05, "warm-up: the rate of step %d of %d is %g", (int)step, (int)steps, b);
        }
    }
}

int main(void) {
    test_schedules();
    test_plateau(recorded_plateau_min, false);
    test_plateau(recorded_plateau_max, true);
    test_short_runs();
    return check_result();
}
