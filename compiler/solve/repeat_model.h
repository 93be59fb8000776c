/* repeat_model.h - the memory of loops over bands of rows, for repeat.c. */
#ifndef REPEAT_MODEL_H
#define REPEAT_MODEL_H

#include "solve/repeat.h"

/* An operation runs, in LOOP or (-1) in none. */
typedef struct {
    int operation, loop;
} RepeatRun;

/* The life of a tensor from the run that writes it to the last run that reads it. */
typedef struct {
    int tensor;
    int first, last; /* runs */
    int readers;
    int root;       /* the life whose bytes it takes, or itself */
    bool whole;     /* all rows are there at a time, for not all readers are in the writer's loop */
    int64_t reach;  /* so far behind the first band of the loop a reader reaches */
    int64_t latest; /* the writer may lag so far behind */
} RepeatLife;

typedef struct {
    const RepeatProblem *problem;
    RepeatLife *life;
    int nlife;
    int most_read;    /* tensors of one operation */
    int *source;      /* per run, MOST_READ lives that it reads, -1: none, */
    int *inner;       /*   and -1 where the writer is not in the loop of the run, either */
    int64_t *lag;     /* per run, in positions */
    bool *again;      /* per run: its operation ran before */
    int *now;         /* per tensor: its life at a moment */
    bool *ran;        /* per operation, at a moment */
    int *begin, *end; /* per loop: its first run and its last */
    int64_t *change;  /* per run: bytes that come into being, */
    int64_t *alive;   /*   and the bytes that are there while it runs */
} RepeatModel;

/* For up to LENGTH runs. */
RepeatModel *repeat_model_new(Pool *pool, const RepeatProblem *problem, int length);
/* From which run to which the bytes of LIFE are there, if nothing reads it behind all runs. */
typedef struct {
    int from, to;
} RepeatSpan;
RepeatSpan repeat_model_span(const RepeatModel *m, const RepeatRun *run, const RepeatLife *life);
/* The most bytes that are there at a time; fills the lives. */
int64_t repeat_model_peak(RepeatModel *m, const RepeatRun *run, int length);
/* The life that run number I reads as its input K, or -1. */
int repeat_model_source(const RepeatModel *m, int i, int k);
/* How far behind its first band that run reads it. */
int64_t repeat_model_reach(const RepeatModel *m, const RepeatRun *run, int i, int k);
/* Bytes of LIFE if none of its readers reached farther back. */
int64_t repeat_model_bytes(const RepeatModel *m, const RepeatLife *life, int64_t reach);

#endif
