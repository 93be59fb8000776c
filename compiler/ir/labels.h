/* labels.h - the counts of the labels of a batch.
 *
 * A mean over the points that count needs their number, or the sum of their weights, in the whole batch,
 * however few samples and rows a step works on.  It follows from the labels alone: the runtime counts them
 * before the first step of a batch (UnetLabelCount of unet/model.h), and the kernels of losses are told.
 */
#ifndef LABELS_H
#define LABELS_H

#include "ir/graph.h"

/* How many classes are in V, a map of these that `argmax` makes; 0: it is none. */
int64_t map_classes(const Graph *g, ValueId v);

/* The input that labels V were made of, by `resize`; else V. */
ValueId labels_origin(const Graph *g, ValueId v);

/* A sum over the points of labels. */
typedef struct {
    ValueId labels;                  /* an input, */
    ValueId read;                    /*   and the map that is read: that, or a map made of it, */
    const ResizeAttributes *resized; /*   and how, or NULL */
    const LabelAttributes *attributes;
} LabelCount;

enum { MOST_LABEL_COUNTS = 8 }; /* of a program: UNET_MOST_LABEL_COUNTS */

/* The sums that the losses of G ask for, each once. */
int label_counts(const Graph *g, LabelCount **count);
/* The amount that a point of class K adds to the sum. */
double label_weight(const LabelAttributes *attributes, int64_t k);
/* Which of these NODE asks for. */
int label_count_of(const Graph *g, const Node *node);

#endif
