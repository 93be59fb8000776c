/* waiting.h - tells a person at a terminal that something takes its time. */
#ifndef WAITING_H
#define WAITING_H

#include <pthread.h>
#include <stdbool.h>

/* Not to be moved while it runs. */
typedef struct {
    const char *what;
    bool runs, ends; /* runs: standard error is a terminal, and there is a thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} Waiting;

/* From here on one line on standard error, if that is a terminal, says WHAT is done and for how long. */
void waiting_begin(Waiting *waiting, const char *what);
/* Takes the line away. */
void waiting_end(Waiting *waiting);

#endif
