/* operator_build.h - what the build rules of all operators share: operands in, values and nodes out.
 * Private to operators.c and to the files beside it that hold more of these rules. */
#ifndef OPERATOR_BUILD_H
#define OPERATOR_BUILD_H

#include "front/lower_state.h"

/* Reads a tensor that the network may read; reports and returns false if it is a target, or none. */
bool argument_feature_map(const Call *call, const char *name, ValueId *value);
/* Reads `weights`: does training leave them as they are?  Notes weights that it may not leave so. */
bool argument_fixed(const Call *call, bool *fixed);
/* A weight of the layer, as weight_new() makes it, or one that training leaves as it is. */
ValueId weight_of(const Call *call, const char *suffix, Shape shape, Init init, double bound, bool fixed);
/* Reports that the argument NAME must be RANGE, and returns false. */
bool report_range(const Call *call, const char *name, const char *range);
/* Reads `groups`, which must divide so many channels. */
bool argument_norm_groups(const Call *call, int64_t channels, int64_t *groups);
/* Reports that a `layer` is used where its weights do not fit, and returns false. */
bool report_shared(const Call *call);

/* A value for the result of the call. */
ValueId output_new(const Call *call, Shape shape);
/* The final name of V follows from the path of the call, which is known when the whole file has run. */
ValueId named(const Call *call, ValueId v);
/* Appends the node of the call; returns OUT. */
ValueId node_append(const Call *call, const ValueId *in, int nin, Attributes a, ValueId out);
/* Applies the operator to every segment of X, so that a concat stays a concat.  OUT: the result, with
 * the channels of each segment. */
ValueId each_segment(const Call *call, ValueId x, Attributes a, Shape out);

/* The points that `pad` puts around a tensor. */
typedef enum { AROUND_ZERO, AROUND_NUMBER, AROUND_REFLECT, AROUND_REPLICATE, AROUND_WRAP } Around;

typedef struct {
    Around around;
    int64_t before[AXES], after[AXES];
    double number;
} Sides;

/* The tensors side by side along an axis of points, or -1. */
ValueId concat_points(Call *call, const ValueId *value, int count, int axis);
/* X with these points around it, or -1. */
ValueId append_pad(Call *call, ValueId x, const Sides *sides);

#endif
