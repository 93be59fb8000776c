/* operators_time.c - build rule of sines and cosines of a number, which tell a network the time.
 *
 * requires, provides   as operators.c
 */
#include "front/operator_build.h"
#include "front/operator_size.h"

#include <math.h>

static bool report_waves(const Call *call, const char *name, const char *message) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", argument(call, name)->span, "%s", message);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* How many frequencies there are: half as many as channels. */
static bool argument_half(const Call *call, int64_t *half) {
    int64_t channels;
    if (!argument_integer(call, "channels", 2, &channels))
        return false;
    *half = channels / 2;
    return (channels % 2 == 0 && channels <= MAX_CHANNELS) ||
           report_waves(call, "channels", "half of the channels are sines: `channels` must be even");
}

/* Frequency i is scale / max_period^(i / (half - shift)). */
static bool argument_frequencies(const Call *call, int64_t half, Attributes *a) {
    double period, shift, factor;
    if (!argument_number(call, "max_period", &period) || !argument_number(call, "shift", &shift) ||
        !argument_number(call, "scale", &factor))
        return false;
    if (!(period > 0 && period <= 1e9))
        return report_range(call, "max_period", "greater than 0");
    if (!(shift >= 0 && shift < (double)half))
        return report_waves(call, "shift", "`shift` must be from 0 to below half of the channels");
    if (!(fabs(factor) <= 1e9))
        return report_range(call, "scale", "from -1e9 to 1e9");
    double *frequency = NEW_ARRAY(call->l->graph->pool, double, half);
    for (int64_t i = 0; i < half; i++)
        frequency[i] = factor * exp(-log(period) * (double)i / ((double)half - shift));
    a->values.value = frequency;
    a->values.count = (int)half;
    return true;
}

ValueId build_sinusoid(Call *call) {
    static const char *const orders[] = {"sin cos", "cos sin", NULL};
    Attributes a = {.kind = ATTRIBUTES_VALUES};
    ValueId x;
    int64_t half;
    int order;
    if (!argument_feature_map(call, "x", &x) || !argument_half(call, &half) ||
        !argument_frequencies(call, half, &a) || !argument_choice(call, "order", orders, &order))
        return -1;
    Shape out = shape_of(call, x);
    if (out.dim[0] != 1) {
        report_waves(call, "x",
                     pool_text(call->l->pool, "`sinusoid` takes a map of one channel, and this has %lld",
                               (long long)out.dim[0]));
        return -1;
    }
    out.dim[0] = 2 * half;
    a.values.cosines_first = order == 1;
    x = value_joined(call->l->graph, x, call->span);
    return small_enough(call, out) ? node_append(call, &x, 1, a, output_new(call, out)) : -1;
}
