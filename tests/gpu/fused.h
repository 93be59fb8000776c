/* fused.h - a convolution and a pass that follows it as one graph of cuDNN, in the forms that no program
 * has yet: the sweep times them, so that a program may take them where they win. */
#ifndef FUSED_H
#define FUSED_H

#include "convolution_graph.h" /* runtime/cuda */

enum { FUSED_FORMS = 7 };

/* Names of further operands; UID_BIAS and UID_SUM are others. */
enum { UID_MASK = 20, UID_TOTALS };

/* Its operands are of so many bytes each; the first is the result. */
typedef struct {
    cudnnBackendDescriptor_t graph; /* NULL: cuDNN refused it, and B has the words */
    int64_t count, uid[BUILD_POINTERS], bytes[BUILD_POINTERS];
} FusedGraph;

/* "dx, masked" and the like. */
const char *fused_name(int form);
/* Whether FORM is one of C, whatever C itself adds, and whatever follows it. */
bool fused_applies(int form, const UnetConvolution *c);
FusedGraph fused_graph(Build *b, int form, const UnetConvolution *c);

#endif
