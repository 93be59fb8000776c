/* threads.h - the same work on several things at once. */
#ifndef THREADS_H
#define THREADS_H

#include <stddef.h>

/* Calls WORK with each of COUNT items of SIZE bytes, each in a thread of its own where there can be one, so
 * many AT_ONCE at most. */
void in_threads(void *(*work)(void *item), void *item, size_t size, int count, int at_once);

#endif
