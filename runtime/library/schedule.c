/* schedule.c - the learning rate of each step. */
#include "unet/schedule.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* From A at 0 to B at 1, along half a cosine. */
static double along_cosine(double a, double b, double share) {
    return b + (a - b) / 2 * (1 + cos(pi * share));
}

static double one_cycle(const UnetSchedule *s, double rate, int64_t t, int64_t steps) {
    const double low = rate / s->div, top = s->rise * (double)steps - 1, last = (double)steps - 1;
    if ((double)t <= top) {
        return along_cosine(low, rate, top > 0 ? (double)t / top : 1);
    }
    const double from = top > 0 ? top : 0;
    return along_cosine(rate, low / s->final_div, last > from ? ((double)t - from) / (last - from) : 1);
}

static int64_t periods(int64_t t, int64_t length) {
    return t / length;
}

static int64_t passed(const UnetSchedule *s, int64_t t) {
    int64_t count = 0;
    while (count < s->nat && s->at[count] <= t) {
        count++;
    }
    return count;
}

/* After T of END steps, or epochs. */
static double rate_at(const UnetSchedule *s, double rate, const UnetPlateau *plateau, int64_t t,
                      int64_t end) {
    const double share = end > 0 ? (double)t / (double)end : 0;
    switch (s->kind) {
    case UNET_SCHEDULE_CONSTANT:
        return rate;
    case UNET_SCHEDULE_POLY:
        return s->to + (rate - s->to) * pow(1 - share, s->power);
    case UNET_SCHEDULE_COSINE:
        return along_cosine(rate, s->to, share);
    case UNET_SCHEDULE_STEP:
        return rate * pow(s->factor, (double)periods(t, s->every));
    case UNET_SCHEDULE_STEPS:
        return rate * pow(s->factor, (double)passed(s, t));
    case UNET_SCHEDULE_PLATEAU:
        return rate * plateau->scale;
    case UNET_SCHEDULE_ONE_CYCLE:
        return one_cycle(s, rate, t, end);
    }
    return rate;
}

double unet_schedule_rate(const UnetSchedule *schedule, double rate, const UnetPlateau *plateau,
                          int64_t step, UnetLength length) {
    if (schedule == NULL) {
        return rate;
    }
    int64_t t = step - 1, end = length.steps;
    if (t < schedule->warmup) {
        return schedule->start + (rate - schedule->start) * (double)t / (double)schedule->warmup;
    }
    t -= schedule->warmup;
    end -= schedule->warmup;
    if (schedule->per == UNET_EPOCHS) {
        t /= length.steps_per_epoch;
        end = (end - 1) / length.steps_per_epoch + 1;
    }
    return rate_at(schedule, rate, plateau, t, end);
}

void unet_plateau_look(const UnetSchedule *schedule, UnetPlateau *plateau, double value,
                       bool higher_is_better) {
    static const double threshold = 1e-4;
    const bool better = isnan(plateau->best) ? !isnan(value)
                                             : (higher_is_better ? value > plateau->best * (1 + threshold)
                                                                 : value < plateau->best * (1 - threshold));
    plateau->bad = better ? 0 : plateau->bad + 1;
    if (better) {
        plateau->best = value;
    }
    if (plateau->bad > schedule->patience) {
        plateau->scale *= schedule->factor;
        plateau->bad = 0;
    }
}
