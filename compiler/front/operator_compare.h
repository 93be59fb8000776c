/* operator_compare.h - reports a prediction and a target of different shapes.  Private to compiler/front. */
#ifndef OPERATOR_COMPARE_H
#define OPERATOR_COMPARE_H

#include "front/lower_state.h"

/* Reports the two tensors of a loss or metric, A the prediction, B the second argument, and offers to change
 * either. Returns false. */
bool report_unequal(const Call *call, ValueId a, ValueId b);

#endif
