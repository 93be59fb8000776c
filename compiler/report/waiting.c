/* waiting.c - a line on the terminal that counts seconds, written by a thread of its own. */
#include "report/waiting.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A terminal that went away must not stop the work. */
static void show(const char *what, int seconds) {
    char line[128] = "\r\033[K";
    if (what != NULL)
        (void)snprintf(line, sizeof line, "\r\033[Kunetc: %.60s, %d s", what, seconds);
    (void)fputs(line, stderr);
    (void)fflush(stderr);
}

static void *count_seconds(void *data) {
    Waiting *w = data;
    struct timespec next;
    (void)clock_gettime(CLOCK_REALTIME, &next);
    (void)pthread_mutex_lock(&w->mutex);
    for (int seconds = 0; !w->ends; seconds++) {
        show(w->what, seconds);
        next.tv_sec++;
        while (!w->ends && pthread_cond_timedwait(&w->changed, &w->mutex, &next) != ETIMEDOUT)
            ;
    }
    (void)pthread_mutex_unlock(&w->mutex);
    show(NULL, 0);
    return NULL;
}

void waiting_begin(Waiting *w, const char *what) {
    *w = (Waiting){.what = what};
    (void)pthread_mutex_init(&w->mutex, NULL);
    (void)pthread_cond_init(&w->changed, NULL);
    w->runs = isatty(STDERR_FILENO) == 1 && pthread_create(&w->thread, NULL, count_seconds, w) == 0;
}

void waiting_end(Waiting *w) {
    (void)pthread_mutex_lock(&w->mutex);
    w->ends = true;
    (void)pthread_cond_signal(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
    if (w->runs)
        (void)pthread_join(w->thread, NULL);
    (void)pthread_cond_destroy(&w->changed);
    (void)pthread_mutex_destroy(&w->mutex);
}
