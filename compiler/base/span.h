/* span.h - where something stands in the source text. */
#ifndef SPAN_H
#define SPAN_H

/* Counted from 1; column and width in code points.  Line 0: not in the file but on the command line. */
typedef struct {
    int line, column, width;
} Span;

#endif
