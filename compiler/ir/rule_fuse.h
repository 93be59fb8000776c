/* rule_fuse.h - between fuse.c, which walks the graph, and the fuse rules of the operators. */
#ifndef RULE_FUSE_H
#define RULE_FUSE_H

#include "ir/ops.h"

Graph *fuse_graph(const Fuse *f);
/* The node that computes V, if one node reads it and no other; else NULL. */
Node *fuse_only_for_one(const Fuse *f, ValueId v);
/* The nodes that read V, or did before they were joined with others; returns how many. */
int fuse_readers(const Fuse *f, ValueId v, const NodeId **reader);
/* FIRST computes what SECOND did; SECOND goes. */
void fuse_take_over(Fuse *f, Node *first, const Node *second);
/* Has the target a kernel for NODE, which is made of several? */
bool fuse_fits(const Fuse *f, const Node *node);
/* SECOND does what FIRST did, too; FIRST goes. */
void fuse_drop(Fuse *f, const Node *first);

/* op_norm.c: does NODE apply means and variances? */
bool is_normalisation(const Node *node);
/* op_norm.c: the normalisation with the ReLU, leaky or not, whose output GRADIENT reads, or NULL. */
const Node *norm_behind(const Graph *g, const Node *gradient);

#endif
