/* signals.c - SIGINT and SIGTERM end training between two steps, never within one.
 *
 * The signals are blocked and looked for once a step, so there is no handler and no shared flag.
 */
#include "driver.h"

#include <pthread.h>
#include <signal.h>

static sigset_t stop_signals(void) {
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    return set;
}

void signals_hold(void) {
    sigset_t set = stop_signals();
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* whoever reads the progress may leave; training goes on */
}

int signals_look(void) {
    sigset_t set = stop_signals();
    struct timespec at_once = {0, 0};
    int caught = sigtimedwait(&set, NULL, &at_once);
    if (caught <= 0)
        return 0;
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return caught;
}
