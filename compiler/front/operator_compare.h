/* operator_compare.h - reports a prediction and a target of different shapes.  Private to this folder. */
#ifndef OPERATOR_COMPARE_H
#define OPERATOR_COMPARE_H

#include "front/lower_state.h"

/* The input or target that V is as it comes in, or NULL. */
const Input *declared(const Lower *l, ValueId v);
/* Reports the first two arguments of a loss or metric, A and B, and offers to change either; false. */
bool report_unequal(const Call *call, ValueId a, ValueId b);

/* Returns whether a loss compares with an input that has the number of a class at each point. */
bool compares_numbers(const Call *call);
/* Makes the node of `cross_entropy`, or `accuracy`, with such an input; returns the loss, or -1 after an
 * error. */
ValueId build_vocabulary_loss(Call *call);
ValueId build_vocabulary_accuracy(Call *call);

#endif
