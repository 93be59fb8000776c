/* chain_text.h - kernels that do all steps of a chain, for emit.c. */
#ifndef CHAIN_TEXT_H
#define CHAIN_TEXT_H

#include "emit/emit.h"

/* The functions of all chains.  Chains of the same instances share one. */
typedef struct {
    Table known; /* their numbers */
    int count;
    Text kernels, declarations;
} ChainTexts;

/* A chain, to which steps are added; texts are empty at first. */
typedef struct {
    int64_t columns;  /* vectors at a point */
    const char *grid; /* "2, {1, 64, 64, 4}": samples, and the points of each, with their vectors */
    const char *key, *parameters, *arguments, *calls;
    const char *first;      /* the operands of the first step */
    const char *normalises; /* the first step, if it does; else NULL */
    int count;
} Chain;

/* Appends a step: INSTANCE of TEMPLATE. */
void chain_add(const Emitter *e, Chain *chain, const char *template, const Instance *instance);
/* The name of the function of CHAIN, which is made if there is none. */
const char *chain_function(const Emitter *e, ChainTexts *texts, const Chain *chain);

#endif
