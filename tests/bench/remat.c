/* remat.c - chooses what to recompute in a graph of operations:
 *     remat FILE.txt --mem N [--max-cost C] [--effort N] [--output OPS]
 *
 * FILE.txt: a line `T E NF`, then T lines `bytes cost`, one per operation in an order in which they can
 * run, then E lines `u v`: operation v reads what operation u writes.  (NF, the number of operations of the
 * forward pass, is only checked.)  What `unetc --emit=remat` prints says more: `bytes cost scratch once
 * kept`, with bytes needed only while the operation runs, 1 for one that must not run again, 1 for a tensor
 * that lives to the end; `u v 1`, where v may write in the place of what u wrote; and comments, from `#` to
 * the end of the line.  OPS has one operation a line, in the order of the schedule; a tensor is
 * freed after its last use before its next life.  Prints the cost, the peak, lower bounds of both and the
 * seconds it took, with the compiler's own remat_schedule().  Exit codes: 0 done, 2 usage, 3 no schedule of
 * at most N bytes (at a cost of at most C) was found, 4 input/output or a malformed file.
 */
#include "base/diag.h"
#include "solve/remat.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_USAGE = 2, EXIT_TOO_SMALL = 3, LINE_LENGTH = 256, MAX_OPERATIONS = 10000 };

typedef struct {
    const char *input, *output;
    int64_t memory, most_cost, effort;
} Arguments;

typedef struct {
    FILE *file;
    const char *path;
    int line;
} Reader;

/* Reads a decimal number of at most LIMIT; moves *TEXT behind it. */
static bool read_number(const char **text, int64_t limit, int64_t *number) {
    if (**text < '0' || **text > '9')
        return false;
    char *rest;
    errno = 0;
    long long value = strtoll(*text, &rest, 10);
    if (errno != 0 || value > limit)
        return false;
    *number = value;
    *text = rest;
    return true;
}

/* The next line that is more than a comment, without its end; false if it is no line of a text. */
static bool read_line(Reader *reader, char line[LINE_LENGTH]) {
    bool good, comment;
    do {
        reader->line++;
        line[0] = '\0';
        if (fgets(line, LINE_LENGTH, reader->file) == NULL && ferror(reader->file))
            environment_error("%s: %s", reader->path, strerror(errno));
        size_t length = strcspn(line, "\r\n");
        good = length + 1 < LINE_LENGTH && (line[length] != '\0' || feof(reader->file));
        comment = good && line[0] == '#';
        length = strcspn(line, "#\r\n");
        line[length - (length > 0 && line[length] == '#' && line[length - 1] == ' ')] = '\0';
    } while (comment);
    return good;
}

/* A line of LEAST or of MOST numbers with single spaces between them; the others become 0. */
static void read_row(Reader *reader, int least, int most, int64_t limit, const char *expected,
                     int64_t *number) {
    char line[LINE_LENGTH];
    bool good = read_line(reader, line);
    const char *text = line;
    int count = 0;
    for (; good && (count < least || *text != '\0') && count < most; count++)
        good = (count == 0 || *text++ == ' ') && read_number(&text, limit, &number[count]);
    if (!good || *text != '\0' || (count != least && count != most))
        environment_error("%s:%d: expected %s", reader->path, reader->line, expected);
    while (count < most)
        number[count++] = 0;
}

static void check_end(Reader *reader) {
    for (int c = getc(reader->file); c != EOF; c = getc(reader->file))
        if (c != '\n' && c != '\r')
            environment_error("%s:%d: more lines than the first line says", reader->path, reader->line + 1);
    if (ferror(reader->file))
        environment_error("%s: %s", reader->path, strerror(errno));
}

static void read_edges(Pool *pool, Reader *reader, int64_t count, int noperation,
                       RematOperation *operation) {
    int **list = NEW_ARRAY(pool, int *, noperation);
    for (int64_t i = 0; i < count; i++) {
        int64_t edge[3];
        read_row(reader, 2, 3, noperation - 1, "two operations, `u v`, or `u v 1`", edge);
        if (edge[0] >= edge[1])
            environment_error("%s:%d: an operation can only read what an earlier one writes", reader->path,
                              reader->line);
        int reader_id = (int)edge[1];
        if (edge[2] != 0)
            operation[reader_id].in_place = operation[reader_id].nread;
        PUSH(pool, list[reader_id], operation[reader_id].nread, (int)edge[0]);
        operation[reader_id].read = list[reader_id];
    }
}

static RematProblem read_problem(Pool *pool, const char *path) {
    Reader reader = {fopen(path, "r"), path, 0};
    if (reader.file == NULL)
        environment_error("%s: %s", path, strerror(errno));
    int64_t head[3], row[5], total[2] = {0};
    read_row(&reader, 3, 3, INT_MAX, "the numbers of operations, edges and forward operations", head);
    if (head[0] > MAX_OPERATIONS || head[2] > head[0])
        environment_error(
            "%s:1: there may be %d operations, and no more forward operations than operations", path,
            MAX_OPERATIONS);
    int noperation = (int)head[0];
    RematOperation *operation = NEW_ARRAY(pool, RematOperation, noperation);
    int64_t *bytes = NEW_ARRAY(pool, int64_t, noperation);
    int *tensor = NEW_ARRAY(pool, int, noperation);
    bool *kept = NEW_ARRAY(pool, bool, noperation);
    for (int o = 0; o < noperation; o++) {
        read_row(&reader, 2, 5, REMAT_MAX_TOTAL, "`bytes cost` or `bytes cost scratch once kept`", row);
        for (int i = 0; i < 2; i++)
            if ((total[i] += row[i] + (i == 0 ? row[2] : 0)) > REMAT_MAX_TOTAL)
                environment_error("%s:%d: the sum is more than 2^60", path, reader.line);
        tensor[o] = o;
        bytes[o] = row[0];
        operation[o] = (RematOperation){.nwrite = 1,
                                        .write = &tensor[o],
                                        .cost = row[1],
                                        .scratch = row[2],
                                        .repeatable = row[3] == 0,
                                        .in_place = -1};
        kept[o] = row[4] != 0;
    }
    read_edges(pool, &reader, head[1], noperation, operation);
    check_end(&reader);
    fclose(reader.file);
    return (RematProblem){.noperation = noperation,
                          .nforward = (int)head[2],
                          .ntensor = noperation,
                          .operation = operation,
                          .bytes = bytes,
                          .kept = kept};
}

static void write_schedule(const RematSchedule *schedule, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        environment_error("%s: %s", path, strerror(errno));
    for (int i = 0; i < schedule->length; i++)
        fprintf(file, "%d\n", schedule->operation[i]);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        environment_error("%s: cannot be written", path);
}

static bool whole_number(const char *text, int64_t *number) {
    return read_number(&text, INT64_MAX, number) && *text == '\0';
}

static bool read_arguments(int count, char **word, Arguments *arguments) {
    *arguments = (Arguments){.most_cost = INT64_MAX};
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? word[i + 1] : "";
        bool good;
        if (strcmp(word[i], "--mem") == 0)
            good = whole_number(value, &arguments->memory);
        else if (strcmp(word[i], "--max-cost") == 0)
            good = whole_number(value, &arguments->most_cost);
        else if (strcmp(word[i], "--effort") == 0)
            good = whole_number(value, &arguments->effort);
        else if (strcmp(word[i], "--output") == 0)
            good = (arguments->output = value)[0] != '\0';
        else if (word[i][0] != '-' && arguments->input == NULL) {
            arguments->input = word[i];
            continue;
        } else
            return false;
        if (!good)
            return false;
        i++;
    }
    return arguments->input != NULL && arguments->memory > 0;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **word) {
    Arguments arguments;
    if (!read_arguments(count, word, &arguments)) {
        fprintf(stderr, "usage: remat FILE.txt --mem N [--max-cost C] [--effort N] [--output OPS]\n");
        return EXIT_USAGE;
    }
    Pool *pool = pool_new();
    RematProblem problem = read_problem(pool, arguments.input);
    const RematQuestion question = {.capacity = arguments.memory, .effort = arguments.effort};
    RematSchedule schedule;
    double start = seconds_now();
    bool fits = remat_schedule(pool, &problem, &question, &schedule);
    double seconds = seconds_now() - start;
    fits = fits && schedule.cost <= arguments.most_cost;
    printf("cost %" PRId64 "\npeak %" PRId64 "\nbase_cost %" PRId64 "\ncost_lower_bound %" PRId64
           "\npeak_lower_bound %" PRId64 "\neffort %" PRId64 "\nseconds %.6f\n",
           schedule.cost, schedule.peak, schedule.base_cost, schedule.cost_lower_bound,
           schedule.peak_lower_bound, schedule.effort, seconds);
    if (fits && arguments.output != NULL)
        write_schedule(&schedule, arguments.output);
    pool_free(pool);
    return fits ? 0 : EXIT_TOO_SMALL;
}
