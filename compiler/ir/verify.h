/* verify.h - holds a graph against the rows of its operators. */
#ifndef VERIFY_H
#define VERIFY_H

#include "ir/graph.h"

/* Calls BUG() naming the first node that is not as its row says.  PASS is the pass that ran last; ORDER is
 * that in which the nodes run, COUNT of them; NULL: all, as they stand. */
void verify_graph(const Graph *g, const char *pass, const NodeId *order, int count);

#endif
