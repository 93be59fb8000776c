/* place.c - packs the buffers of a CSV file: place FILE.csv --capacity N [--output OUT.csv]
 *
 * The columns are id,lower,upper,size: `size` bytes are needed in [lower, upper).  OUT.csv has a fifth
 * column, the offset.  Prints the arena, its lower bound and the seconds it took, with the compiler's own
 * pack_buffers(). Exit codes: 0 done, 2 usage, 3 no arena of at most N bytes was found, 4 input/output or
 * a malformed file.
 */
#include "base/diag.h"
#include "solve/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_USAGE = 2, EXIT_TOO_SMALL = 3, LINE_LENGTH = 256 };

/* The packing adds sizes up; far below 2^63 it cannot overflow. */
static const int64_t largest_total = INT64_C(1) << 61;

typedef struct {
    const char *input, *output;
    int64_t capacity;
} Arguments;

typedef struct {
    int64_t *id;
    PackBuffer *buffer;
    int count, id_count;
} Table;

/* Reads a decimal number below LIMIT that ends at END; moves *TEXT behind END. */
static bool read_number(const char **text, char end, int64_t limit, int64_t *number) {
    char *rest;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    long long value = strtoll(*text, &rest, 10);
    if (errno != 0 || value > limit || *rest != end)
        return false;
    *number = value;
    *text = rest + (end != '\0');
    return true;
}

static bool read_row(const char *line, int64_t *id, PackBuffer *buffer) {
    int64_t first, last, size;
    if (!read_number(&line, ',', INT64_MAX, id) || !read_number(&line, ',', INT32_MAX, &first) ||
        !read_number(&line, ',', INT32_MAX, &last) || !read_number(&line, '\0', largest_total, &size) ||
        first >= last)
        return false;
    *buffer = (PackBuffer){.size = size, .first = (int)first, .last = (int)last};
    return true;
}

/* Reads one line without its end; false at the end of the file. */
static bool read_line(FILE *file, const char *path, int number, char line[LINE_LENGTH]) {
    if (fgets(line, LINE_LENGTH, file) == NULL) {
        if (ferror(file))
            environment_error("%s: %s", path, strerror(errno));
        return false;
    }
    size_t length = strlen(line);
    if ((length == 0 || line[length - 1] != '\n') && !feof(file))
        environment_error("%s:%d: the line is too long or holds a zero byte", path, number);
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        line[--length] = '\0';
    return true;
}

static Table read_table(Pool *pool, const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        environment_error("%s: %s", path, strerror(errno));
    char line[LINE_LENGTH];
    if (!read_line(file, path, 1, line) || strcmp(line, "id,lower,upper,size") != 0)
        environment_error("%s:1: expected the columns id,lower,upper,size", path);
    Table table = {0};
    int64_t total = 0;
    for (int number = 2; read_line(file, path, number, line); number++) {
        PackBuffer buffer;
        int64_t id;
        if (!read_row(line, &id, &buffer))
            environment_error("%s:%d: expected id,lower,upper,size with lower < upper", path, number);
        total += buffer.size;
        if (total > largest_total)
            environment_error("%s:%d: the sizes add up to more than 2^61 bytes", path, number);
        PUSH(pool, table.id, table.id_count, id);
        PUSH(pool, table.buffer, table.count, buffer);
    }
    fclose(file);
    return table;
}

static void write_table(const Table *table, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        environment_error("%s: %s", path, strerror(errno));
    fprintf(file, "id,lower,upper,size,offset\n");
    for (int i = 0; i < table->count; i++) {
        const PackBuffer *b = &table->buffer[i];
        fprintf(file, "%" PRId64 ",%d,%d,%" PRId64 ",%" PRId64 "\n", table->id[i], b->first, b->last,
                b->size, b->offset);
    }
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        environment_error("%s: cannot be written", path);
}

static bool read_arguments(int count, char **word, Arguments *arguments) {
    *arguments = (Arguments){0};
    for (int i = 1; i < count; i++) {
        bool has_value = i + 1 < count;
        if (strcmp(word[i], "--capacity") == 0 && has_value) {
            const char *text = word[++i];
            if (!read_number(&text, '\0', INT64_MAX, &arguments->capacity))
                return false;
        } else if (strcmp(word[i], "--output") == 0 && has_value) {
            arguments->output = word[++i];
        } else if (word[i][0] != '-' && arguments->input == NULL) {
            arguments->input = word[i];
        } else {
            return false;
        }
    }
    return arguments->input != NULL && arguments->capacity > 0;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **word) {
    Arguments arguments;
    if (!read_arguments(count, word, &arguments)) {
        fprintf(stderr, "usage: place FILE.csv --capacity N [--output OUT.csv]\n");
        return EXIT_USAGE;
    }
    Pool *pool = pool_new();
    Table table = read_table(pool, arguments.input);
    PackResult result;
    double start = seconds_now();
    bool fits = pack_buffers(pool, table.buffer, table.count, 1, (PackAim){.capacity = arguments.capacity},
                             &result);
    double seconds = seconds_now() - start;
    printf("arena %" PRId64 "\nlower_bound %" PRId64 "\neffort %" PRId64 "\nseconds %.6f\n", result.arena,
           result.lower_bound, result.effort, seconds);
    if (fits && arguments.output != NULL)
        write_table(&table, arguments.output);
    pool_free(pool);
    return fits ? 0 : EXIT_TOO_SMALL;
}
