/* progress.c - formats and writes the progress line. */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE = 256 };
static const double seconds_between_rewrites = 0.2;
static const double seconds_between_lines = 10;
static const char clear_line[] = "\r\033[K";

void unet_progress_start(UnetProgress *progress, int fd, double now) {
    *progress = (UnetProgress){.fd = fd, .is_terminal = isatty(fd) == 1};
    progress->next = now + (progress->is_terminal ? seconds_between_rewrites : seconds_between_lines);
}

void unet_format_duration(char *text, size_t size, double seconds) {
    if (!(seconds >= 0 && seconds < 1e9)) {
        (void)snprintf(text, size, "?");
        return;
    }
    long whole = lround(seconds);
    if (whole < 60)
        (void)snprintf(text, size, "%ld s", whole);
    else if (whole < 3600)
        (void)snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
    else
        (void)snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

static size_t append(char *text, size_t size, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static size_t append(char *text, size_t size, size_t length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
    if (n < 0)
        return length;
    return (size_t)n < size - length ? length + (size_t)n : size - 1;
}

/* Three digits say enough. */
static int decimals_of_rate(double rate) {
    return rate < 10 ? 2 : rate < 100 ? 1 : 0;
}

size_t unet_progress_format(char *text, size_t size, const UnetProgressState *state) {
    char left[32];
    size_t n = 0;
    if (state->epochs > 0)
        n = append(text, size, n, "epoch %lld/%lld  ", (long long)state->epoch, (long long)state->epochs);
    n = append(text, size, n, "step %lld/%lld  loss %.5g", (long long)state->step, (long long)state->steps,
               state->loss);
    if (state->metric != NULL) {
        bool decibels = strcmp(state->metric, "psnr") == 0;
        n = append(text, size, n, decibels ? "  %s %.2f dB" : "  %s %.5g", state->metric, state->value);
        if (state->identity_name != NULL)
            n = append(text, size, n, decibels ? " (%s %.2f)" : " (%s %.5g)", state->identity_name,
                       state->identity);
    }
    unet_format_duration(left, sizeof left, state->seconds_left);
    n = append(text, size, n, "  %.*f images/s  %s left", decimals_of_rate(state->images_per_second),
               state->images_per_second, left);
    if (state->loss_scale > 0)
        n = append(text, size, n, "  scale %.9g, %lld skipped", state->loss_scale,
                   (long long)state->skipped);
    return n;
}

bool unet_progress_is_due(const UnetProgress *progress, double now) {
    return now >= progress->next;
}

/* Progress is a courtesy: a terminal that went away must not stop a training run. */
static void write_text(int fd, const char *text, size_t length) {
    while (length > 0) {
        ssize_t n = write(fd, text, length);
        if (n <= 0)
            return;
        text += n;
        length -= (size_t)n;
    }
}

static size_t terminal_columns(int fd) {
    struct winsize window = {.ws_col = 0};
    if (ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_col < 20)
        return 80;
    return window.ws_col;
}

void unet_progress_show(UnetProgress *progress, const UnetProgressState *state, double now) {
    char line[sizeof clear_line + LINE + 1];
    size_t start = 0;
    if (progress->is_terminal) {
        memcpy(line, clear_line, sizeof clear_line - 1);
        start = sizeof clear_line - 1;
    }
    size_t length = unet_progress_format(line + start, LINE, state);
    if (progress->is_terminal) {
        size_t columns = terminal_columns(progress->fd) - 1; /* a full last column would wrap */
        length = length < columns ? length : columns;
        progress->is_shown = true;
        progress->next = now + seconds_between_rewrites;
    } else {
        line[start + length++] = '\n';
        progress->next = now + seconds_between_lines;
    }
    write_text(progress->fd, line, start + length);
}

void unet_progress_clear(UnetProgress *progress) {
    if (progress->is_shown)
        write_text(progress->fd, clear_line, sizeof clear_line - 1);
    progress->is_shown = false;
}

void unet_progress_message(UnetProgress *progress, const char *format, ...) {
    char line[1536];
    va_list arguments;
    unet_progress_clear(progress);
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (n < 0)
        return;
    size_t length = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[length++] = '\n';
    write_text(progress->fd, line, length);
}
