/* place.h - a place in the source text. */
#ifndef PLACE_H
#define PLACE_H

/* Counted from 1; column and width in code points.  Line 0: no place in the file (the command line). */
typedef struct {
    int line, column, width;
} Place;

#endif
