/* threads.c - the same work on several things at once: see threads.h. */
#include "base/threads.h"

#include <pthread.h>
#include <stdbool.h>

enum { MOST = 16 };

typedef struct {
    pthread_t thread;
    bool runs;
} Worker;

/* The first is worked on here.  The C library keeps memory for each thread: where few run, little of it
 * lies idle. */
static void begin_and_join(void *(*work)(void *item), char *item, size_t size, int count) {
    Worker worker[MOST];
    for (int k = 1; k < count; k++)
        worker[k].runs = pthread_create(&worker[k].thread, NULL, work, item + (size_t)k * size) == 0;
    (void)work(item);
    for (int k = 1; k < count; k++) {
        if (worker[k].runs)
            (void)pthread_join(worker[k].thread, NULL);
        else
            (void)work(item + (size_t)k * size);
    }
}

void in_threads(void *(*work)(void *item), void *item, size_t size, int count, int at_once) {
    char *first = item;
    const int most = at_once < MOST ? at_once : MOST;
    for (int k = 0; k < count; k += most)
        begin_and_join(work, first + (size_t)k * size, size, count - k < most ? count - k : most);
}
