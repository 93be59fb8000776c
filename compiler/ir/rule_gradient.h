/* rule_gradient.h - between autodiff.c, which walks the graph, and the gradient rules of the operators. */
#ifndef RULE_GRADIENT_H
#define RULE_GRADIENT_H

#include "ir/ops.h"

/* Is the gradient by V wanted, that is, does V depend on a parameter? */
bool gradient_wanted(const Autodiff *ad, ValueId v);

Graph *gradient_graph(const Autodiff *ad);

/* A new value for the gradient by V: of V's shape, and of the class that V's gradient has. */
ValueId gradient_value(Autodiff *ad, ValueId v);

/* Appends a node in the name and place of FORWARD. */
void gradient_node(Autodiff *ad, const Node *forward, Op op, Attributes a, const ValueId *in, int nin,
                   const ValueId *out, int nout);

#endif
