/* log.c - writes log.csv line by line, and cuts it back to the step from which a run continues. */
#include "unet/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM_PER_NUMBER = 32, FIXED_NUMBERS = 13 };

static void append(UnetLog *log, size_t *length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(UnetLog *log, size_t *length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(log->line + *length, log->size - *length, format, arguments);
    va_end(arguments);
    if (n > 0)
        *length += (size_t)n < log->size - *length ? (size_t)n : log->size - *length - 1;
}

static UnetStatus write_line(UnetLog *log, size_t length, UnetError *error) {
    const char *text = log->line;
    while (length > 0) {
        ssize_t n = write(log->fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return unet_fail(error, UNET_IO, "the log cannot be written: %s", strerror(errno));
        text += n;
        length -= (size_t)n;
    }
    return UNET_OK;
}

static bool has_identity(const UnetResult *result) {
    return result->identity_input >= 0 && result->target_input >= 0;
}

static bool has_norm(const UnetModel *model) {
    return model->train != NULL && model->train->gradient_norm > 0;
}

/* Numbers and names both have to fit a line. */
static size_t line_size(const UnetModel *model) {
    size_t size = FIXED_NUMBERS * ROOM_PER_NUMBER;
    for (int i = 0; i < model->nresult; i++) {
        const UnetResult *result = &model->results[i];
        size += 2 * ROOM_PER_NUMBER + strlen(result->name);
        if (has_identity(result))
            size += strlen(result->metric) + strlen(model->inputs[result->identity_input].name) +
                    strlen(model->inputs[result->target_input].name);
    }
    return size;
}

static size_t format_header(UnetLog *log) {
    const UnetModel *model = log->model;
    size_t length = 0;
    append(log, &length, "epoch,step,split,loss");
    for (int i = 0; i < model->nresult; i++) {
        const UnetResult *result = &model->results[i];
        append(log, &length, ",\"%s\"", result->name);
        if (has_identity(result))
            append(log, &length, ",\"%s(%s, %s)\"", result->metric,
                   model->inputs[result->identity_input].name, model->inputs[result->target_input].name);
    }
    append(log, &length, ",lr,images_per_s,seconds%s%s%s\n", has_norm(model) ? ",gradient_norm" : "",
           log->has_exchange ? ",exchange_s,exchange_all_s" : "",
           log->has_scale ? ",loss_scale,skipped" : "");
    return length;
}

enum { NOT_OURS = -1 };

/* Returns how many bytes of FILE to keep: the offset behind its last complete row whose step is at most
 * STEP, and behind at most ROWS rows; ROWS becomes their number.  NOT_OURS: it has other columns than
 * HEADER. */
static off_t end_of_step(FILE *file, const char *header, int64_t step, int64_t *rows) {
    char text[4096];
    bool is_header = true, at_start = true;
    const int64_t most = *rows;
    off_t end = 0;
    *rows = 0;
    while (fgets(text, sizeof text, file) != NULL) {
        int64_t of_row;
        const bool whole = strchr(text, '\n') != NULL;
        if (is_header && (whole ? strcmp(text, header) : strncmp(text, header, strlen(text))) != 0)
            return NOT_OURS;
        if (is_header)
            header += strlen(text);
        if (!is_header && at_start &&
            (*rows == most || sscanf(text, "%*d,%" SCNd64, &of_row) != 1 || of_row > step))
            return end;
        *rows += whole && !is_header;
        is_header = is_header && !whole;
        at_start = whole;
        if (at_start)
            end = ftello(file);
    }
    return end;
}

/* The same for a file with the columns of this program, or of one of another precision or number of ranks:
 * it goes on in its own. */
static off_t end_in_any_columns(UnetLog *log, FILE *file, int64_t step) {
    const int64_t most = log->rows;
    const bool scale = log->has_scale, exchange = log->has_exchange;
    off_t end = NOT_OURS;
    for (int i = 0; i < 4 && end == NOT_OURS; i++) {
        log->has_scale = scale != ((i & 1) != 0);
        log->has_exchange = exchange != ((i & 2) != 0);
        log->rows = most;
        (void)format_header(log);
        rewind(file);
        end = end_of_step(file, log->line, step, &log->rows);
    }
    return end;
}

static UnetStatus open_file(UnetLog *log, const char *path, UnetError *error) {
    struct stat found;
    log->fd =
        open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666); /* nor wait for a pipe's reader */
    if (log->fd < 0 || fstat(log->fd, &found) != 0)
        return unet_fail(error, UNET_IO, "%s: %s", path, strerror(errno));
    return S_ISREG(found.st_mode) ? UNET_OK : unet_fail(error, UNET_IO, "%s: is no regular file", path);
}

UnetStatus unet_log_open(UnetLog *log, const char *path, const UnetModel *model, int64_t last_step,
                         int64_t rows, UnetError *error) {
    off_t end = 0;
    *log = (UnetLog){.fd = -1,
                     .model = model,
                     .size = line_size(model),
                     .has_scale = model->loss_scale > 0,
                     .has_exchange = model->training != NULL && model->training->ranks > 1};
    log->line = malloc(log->size);
    if (log->line == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the log");
    UnetStatus status = open_file(log, path, error);
    if (status != UNET_OK)
        return status;
    FILE *file = last_step >= 0 ? fopen(path, "r") : NULL;
    if (file != NULL) {
        log->rows = rows;
        end = end_in_any_columns(log, file, last_step);
        (void)fclose(file);
    }
    if (end == NOT_OURS)
        return unet_fail(error, UNET_IO,
                         "%s: has other columns than the log of this program: move it, or train in another "
                         "folder",
                         path);
    if (ftruncate(log->fd, end) != 0 || lseek(log->fd, end, SEEK_SET) < 0)
        return unet_fail(error, UNET_IO, "%s: %s", path, strerror(errno));
    return end > 0 ? UNET_OK : write_line(log, format_header(log), error);
}

static void append_value(UnetLog *log, size_t *length, double value) {
    if (isnan(value))
        append(log, length, ",");
    else
        append(log, length, ",%.9g", value);
}

UnetStatus unet_log_write(UnetLog *log, const UnetLogRow *row, UnetError *error) {
    size_t length = 0;
    append(log, &length, "%" PRId64 ",%" PRId64 ",%s", row->epoch, row->step, row->split);
    append_value(log, &length, row->loss);
    for (int i = 0; i < log->model->nresult; i++) {
        append_value(log, &length, row->value[i]);
        if (has_identity(&log->model->results[i]))
            append_value(log, &length, row->identity[i]);
    }
    append_value(log, &length, row->learning_rate);
    append(log, &length, ",%.2f,%.3f", row->images_per_second, row->seconds);
    if (has_norm(log->model))
        append_value(log, &length, row->gradient_norm);
    if (log->has_exchange) {
        append_value(log, &length, row->exchange);
        append_value(log, &length, row->sent);
    }
    if (log->has_scale && row->loss_scale > 0)
        append(log, &length, ",%.9g,%" PRId64, row->loss_scale, row->skipped);
    else if (log->has_scale)
        append(log, &length, ",,");
    append(log, &length, "\n");
    log->rows++;
    return write_line(log, length, error);
}

void unet_log_close(UnetLog *log) {
    if (log->fd >= 0)
        (void)close(log->fd);
    free(log->line);
    *log = (UnetLog){.fd = -1};
}
