/* progress.h - how far training is, for the person who waits.
 *
 * On a terminal one line is rewritten several times a second; elsewhere (a file, a pipe) a full line comes
 * every few seconds and whenever the caller asks for one.  Lines are formatted in fixed buffers and written
 * with write(2): nothing is allocated.
 */
#ifndef UNET_PROGRESS_H
#define UNET_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t epoch, epochs; /* from 1; epochs 0: training is counted in steps alone */
    int64_t step, steps;
    double loss;
    const char *metric;        /* NULL: none */
    double value;              /* of the metric */
    const char *identity_name; /* the input compared with; NULL: none */
    double identity;           /* the same metric of that input */
    double images_per_second;
    double seconds_left;
    double loss_scale; /* 0: the loss is not scaled */
    int64_t skipped;   /* steps, where it is */
} UnetProgressState;

typedef struct {
    int fd;
    bool is_terminal, is_shown; /* is_shown: an unfinished line stands on the terminal */
    double next;                /* time of the next line, in seconds of the caller's clock */
} UnetProgress;

void unet_progress_start(UnetProgress *progress, int fd, double now);

/* Writes STATE to TEXT without a newline; returns its length.  If COLUMNS are too few for all of it, the
 * time left is the last to go. */
size_t unet_progress_format(char *text, size_t size, size_t columns, const UnetProgressState *state);

/* True when it is time for another line. */
bool unet_progress_is_due(const UnetProgress *progress, double now);
void unet_progress_show(UnetProgress *progress, const UnetProgressState *state, double now);

/* Removes an unfinished line from the terminal. */
void unet_progress_clear(UnetProgress *progress);

/* Writes a line of its own; an unfinished progress line is removed first. */
void unet_progress_message(UnetProgress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "45 s", "12:34", "3:05:06" */
void unet_format_duration(char *text, size_t size, double seconds);

#endif
