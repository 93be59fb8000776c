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

/* Three digits say enough. */
static int decimals_of_rate(double rate) {
    return rate < 10 ? 2 : rate < 100 ? 1 : 0;
}

/* The parts of a line, in their order. */
enum { EPOCH, STEP, LOSS, METRIC, IDENTITY, RATE, LEFT, SCALE, PARTS };
typedef struct {
    char part[PARTS][48]; /* "": there is none, or no room */
} Words;

static void describe_metric(Words *words, const UnetProgressState *state) {
    const bool decibels = strcmp(state->metric, "psnr") == 0;
    (void)snprintf(words->part[METRIC], sizeof words->part[METRIC],
                   decibels ? "  %.20s %.2f dB" : "  %.20s %.5g", state->metric, state->value);
    if (state->identity_name != NULL)
        (void)snprintf(words->part[IDENTITY], sizeof words->part[IDENTITY],
                       decibels ? " (%.20s %.2f)" : " (%.20s %.5g)", state->identity_name, state->identity);
}

static void describe(Words *words, const UnetProgressState *state) {
    enum { SIZE = sizeof words->part[0] };
    char left[32];
    *words = (Words){.part = {""}};
    if (state->epochs > 0)
        (void)snprintf(words->part[EPOCH], SIZE, "epoch %lld/%lld  ", (long long)state->epoch,
                       (long long)state->epochs);
    (void)snprintf(words->part[STEP], SIZE, "step %lld/%lld  ", (long long)state->step,
                   (long long)state->steps);
    (void)snprintf(words->part[LOSS], SIZE, "loss %.5g", state->loss);
    if (state->metric != NULL)
        describe_metric(words, state);
    (void)snprintf(words->part[RATE], SIZE, "  %.*f images/s", decimals_of_rate(state->images_per_second),
                   state->images_per_second);
    unet_format_duration(left, sizeof left, state->seconds_left);
    (void)snprintf(words->part[LEFT], SIZE, "  %.20s left", left);
    if (state->loss_scale > 0)
        (void)snprintf(words->part[SCALE], SIZE, "  scale %.9g, %lld skipped", state->loss_scale,
                       (long long)state->skipped);
}

size_t unet_progress_format(char *text, size_t size, size_t columns, const UnetProgressState *state) {
    static const int goes[] = {SCALE, RATE, EPOCH, IDENTITY, METRIC, LOSS, STEP}; /* the first ones first */
    Words words;
    describe(&words, state);
    size_t length = 0, most = columns < size ? columns : size - 1;
    for (int i = 0; i < PARTS; i++)
        length += strlen(words.part[i]);
    for (size_t i = 0; i < sizeof goes / sizeof *goes && length > most; i++) {
        length -= strlen(words.part[goes[i]]);
        words.part[goes[i]][0] = '\0';
    }
    size_t n = 0;
    for (int i = 0; i < PARTS; i++)
        for (const char *c = words.part[i] + (n == 0 ? strspn(words.part[i], " ") : 0);
             *c != '\0' && n < most; c++)
            text[n++] = *c;
    text[n] = '\0';
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
    /* a full last column would wrap */
    const size_t columns = progress->is_terminal ? terminal_columns(progress->fd) - 1 : LINE;
    size_t length = unet_progress_format(line + start, LINE, columns, state);
    if (progress->is_terminal) {
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
    char line[8192]; /* paths are long, and commands have several */
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
