/* operands.h - what an operator does to its operands, as its row says (ops.def), and a walk over the
 * operands of a node that every pass shares.
 */
#ifndef OPERANDS_H
#define OPERANDS_H

#include <stdbool.h>

typedef enum {
    ACCESS_READ,
    ACCESS_WRITE,    /* = */
    ACCESS_SUM,      /* + a sum over the samples */
    ACCESS_UPDATE,   /* ~ read and written in place */
    ACCESS_SCRATCH,  /* ! */
    ACCESS_PARAMETER /* ^ read */
} Access;

/* Will a copy in codes do for an input that a gradient reads (section `train`, `compress`)? */
typedef enum {
    CODES_NEVER, /* it must be exact */
    CODES_SIGN,  /* ' which tell whether it is above zero */
    CODES_ANY,   /* % of any number of bits */
    CODES_FINE,  /* $ of 8 bits or more */
} Codes;

enum { MAX_OUTPUTS = 7, MAX_INPUTS = 8 }; /* of an operator that a kernel computes */

typedef struct {
    const char *name; /* not ended by a zero */
    int length;
    Access access;
    bool optional, segments, region;
    Codes codes;
    bool gives_rows; /* a range of rows counts its rows */
    bool stays;      /* scratch in which a band of rows leaves something for the next, */
    bool may_stay;   /*   if Node.keeps_sums says so */
    int in_place;    /* of an output: the input whose bytes it may take, or -1 */
} Operand;

typedef struct {
    int nout, nin; /* outputs are written, sums, scratch; all else is an input */
    Operand out[MAX_OUTPUTS], in[MAX_INPUTS];
    bool variadic; /* any number of inputs, all like in[0] */
} Operands;

/* Reads the notation of ops.def; a mistake in it is a bug. */
Operands operands_parse(const char *text);

/* The number of the input that the row calls NAME; an operator without one is a bug. */
int input_named(const Operands *operands, const char *name);

#endif
