/* nodes.h - the nodes of an ONNX graph, made from our nodes. */
#ifndef ONNX_NODES_H
#define ONNX_NODES_H

#include "ir/ops.h"
#include "onnx/message.h"

/* A graph on its way into a file. */
typedef struct {
    Pool *pool;
    const Graph *graph;
    const char **name; /* per value: unique; an output has its own name; NULL: not used */
    bool *joined;      /* per value: a concat for which there is a node already */
    Text message;      /* a GraphProto */
    int more;          /* tensors that are in ONNX alone */
} OnnxGraph;

/* Appends what NODE becomes, and what joins the segments that it reads; false if there is no form for it.
 */
bool onnx_node(OnnxGraph *o, const Node *node);
/* Appends what makes value V, if that is a concat without a node of its own. */
void onnx_join(OnnxGraph *o, ValueId v);
/* Appends a node that gives the tensor FROM another name. */
void onnx_rename(OnnxGraph *o, const char *from, const char *to);

#endif
