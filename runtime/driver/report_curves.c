/* report_curves.c - the charts of report.html: what log.csv has, column by column, drawn as SVG.
 *
 * The log is read twice: its rows are counted first, so that long ones are thinned evenly, and memory is
 * taken for the rows that are drawn.  Rows of training and of evaluation are two curves of one chart. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 2000, STEP = 1, SPLIT = 2, FIRST_VALUE = 3, TRAIN = 0, EVAL = 1, KINDS = 2 };

static const char *const kind_name[KINDS] = {"train", "eval"};

/* The rows of one kind, as many as are drawn. */
typedef struct {
    size_t rows, every, points;
    double *value; /* of a point, one per column */
} Rows;

typedef struct {
    FILE *file;
    char *line;
    size_t room;
    char *header, **name; /* of the columns, in the header */
    size_t columns;
    Rows of[KINDS];
} Table;

/* ---- the log ---------------------------------------------------------------------------------- */

/* The next field at *AT, ended, without its quotes; NULL: there is none. */
static char *next_field(char **at) {
    char *field = *at, *end;
    if (field == NULL)
        return NULL;
    if (*field == '"') {
        field++;
        end = field + strcspn(field, "\"");
        if (*end == '"')
            *end++ = '\0';
        end += strcspn(end, ",\n");
    } else {
        end = field + strcspn(field, ",\n");
    }
    *at = *end == ',' ? end + 1 : NULL;
    *end = '\0';
    return field;
}

static bool read_header(Table *table) {
    size_t most = 1;
    if (getline(&table->line, &table->room, table->file) < 0)
        return false;
    table->header = strdup(table->line);
    for (const char *at = table->line; *at != '\0'; at++)
        most += *at == ',';
    table->name = calloc(most, sizeof *table->name);
    if (table->header == NULL || table->name == NULL)
        return false;
    char *rest = table->header;
    for (char *field; table->columns < most && (field = next_field(&rest)) != NULL;)
        table->name[table->columns++] = field;
    return table->columns > FIRST_VALUE;
}

static double number_of(const char *field) {
    char *end;
    const double value = strtod(field, &end);
    return end != field ? value : NAN;
}

/* A row that is drawn takes its place; the last one always does. */
static void take_row(const Table *table, Rows *rows, size_t row, char *line) {
    const size_t point = row / rows->every;
    if ((row % rows->every != 0 && row + 1 != rows->rows) || point >= rows->points)
        return;
    double *to = rows->value + point * table->columns;
    for (size_t i = 0; i < table->columns; i++) {
        const char *field = next_field(&line);
        to[i] = field != NULL ? number_of(field) : NAN;
    }
}

/* Counts the rows of each kind behind the header and, once there is memory for them, takes them. */
static void read_rows(Table *table, bool takes) {
    size_t seen[KINDS] = {0, 0};
    while (getline(&table->line, &table->room, table->file) > 0) {
        const char *split = strchr(table->line, ',');
        split = split != NULL ? strchr(split + 1, ',') : NULL;
        if (split == NULL)
            continue;
        const int kind = strncmp(split + 1, "eval,", 5) == 0 ? EVAL : TRAIN;
        if (takes)
            take_row(table, &table->of[kind], seen[kind], table->line);
        seen[kind]++;
    }
    for (int kind = 0; kind < KINDS && !takes; kind++)
        table->of[kind].rows = seen[kind];
}

static bool take_memory(Table *table) {
    for (int kind = 0; kind < KINDS; kind++) {
        Rows *rows = &table->of[kind];
        rows->every = rows->rows > 0 ? (rows->rows - 1) / MOST_POINTS + 1 : 1;
        rows->points = (rows->rows + rows->every - 1) / rows->every;
        rows->value = calloc(rows->points * table->columns + 1, sizeof *rows->value);
        if (rows->value == NULL)
            return false;
    }
    return true;
}

static UnetStatus read_table(Table *table, const char *path, UnetError *error) {
    table->file = fopen(path, "re");
    if (table->file == NULL)
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", path, strerror(errno));
    if (!read_header(table))
        return unet_fail(error, UNET_IO, "%s: cannot be read as a log", path);
    const long start = ftell(table->file);
    read_rows(table, false);
    if (!take_memory(table))
        return unet_fail(error, UNET_TOO_SMALL, "%s: no memory for its rows", path);
    if (start < 0 || fseek(table->file, start, SEEK_SET) != 0)
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", path, strerror(errno));
    read_rows(table, true);
    return UNET_OK;
}

static void forget_table(Table *table) {
    if (table->file != NULL)
        (void)fclose(table->file);
    for (int kind = 0; kind < KINDS; kind++)
        free(table->of[kind].value);
    free(table->header);
    free(table->name);
    free(table->line);
}

/* ---- a chart ---------------------------------------------------------------------------------- */

enum { WIDTH = 720, HEIGHT = 230, LEFT = 76, RIGHT = 708, TOP = 26, BOTTOM = 196, TICKS = 5 };

typedef struct {
    double low, high;
} Range;

typedef struct {
    Range x, y;
} Frame;

static void widen(Range *range, double value) {
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

/* A curve that is level needs room, too. */
static void give_room(Range *range) {
    if (range->high > range->low)
        return;
    const double more = range->low != 0 ? 0.05 * fabs(range->low) : 1;
    range->low -= more;
    range->high += more;
}

static double value_at(const Table *table, int kind, size_t point, size_t column) {
    return table->of[kind].value[point * table->columns + column];
}

/* False: no number of the column is finite. */
static bool frame_of(const Table *table, size_t column, Frame *frame) {
    *frame = (Frame){{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < table->of[kind].points; i++) {
            const double value = value_at(table, kind, i, column);
            if (!isfinite(value))
                continue;
            widen(&frame->x, value_at(table, kind, i, STEP));
            widen(&frame->y, value);
        }
    const bool any = isfinite(frame->y.low) && isfinite(frame->x.low);
    if (any) {
        give_room(&frame->x);
        give_room(&frame->y);
    }
    return any;
}

static double x_of(const Frame *frame, double step) {
    return LEFT + (step - frame->x.low) / (frame->x.high - frame->x.low) * (RIGHT - LEFT);
}

static double y_of(const Frame *frame, double value) {
    return BOTTOM - (value - frame->y.low) / (frame->y.high - frame->y.low) * (BOTTOM - TOP);
}

/* 1, 2 or 5 times a power of ten. */
static double tick_of(Range range) {
    const double rough = (range.high - range.low) / TICKS, power = pow(10, floor(log10(rough))),
                 digit = rough / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void put_axes(Page *page, const Frame *frame) {
    const double across = fmax(1, tick_of(frame->x)), up = tick_of(frame->y);
    const double first = ceil(frame->y.low / up), begin = ceil(frame->x.low / across);
    for (double k = first; k * up <= frame->y.high && k < first + 2 * TICKS; k++) {
        const double y = y_of(frame, k * up);
        page_format(page, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, RIGHT,
                    y, y);
        page_format(page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", LEFT - 6, y + 4,
                    k * up);
    }
    for (double k = begin; k * across <= frame->x.high && k < begin + 2 * TICKS; k++)
        page_format(page, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.10g</text>\n",
                    x_of(frame, k * across), BOTTOM + 16, k * across);
    page_format(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n", (LEFT + RIGHT) / 2,
                BOTTOM + 31);
}

static void put_curve(Page *page, const Table *table, const Frame *frame, size_t column, int kind) {
    size_t count = 0;
    double x = 0, y = 0;
    page_format(page, "<polyline class=\"line %s\" points=\"", kind_name[kind]);
    for (size_t i = 0; i < table->of[kind].points; i++) {
        const double value = value_at(table, kind, i, column);
        if (!isfinite(value))
            continue;
        x = x_of(frame, value_at(table, kind, i, STEP));
        y = y_of(frame, value);
        page_format(page, "%s%.1f,%.1f", count++ > 0 ? " " : "", x, y);
    }
    page_markup(page, "\"/>\n");
    if (count == 1)
        page_format(page, "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", kind_name[kind],
                    x, y);
    if (count > 0)
        page_format(page,
                    "<line class=\"key %s\" x1=\"%d\" x2=\"%d\" y1=\"12\" y2=\"12\"/>"
                    "<text x=\"%d\" y=\"16\">%s</text>\n",
                    kind_name[kind], LEFT + 90 * kind, LEFT + 90 * kind + 20, LEFT + 90 * kind + 26,
                    kind == TRAIN ? "training" : "evaluation");
}

static void put_chart(Page *page, const Table *table, size_t column, const char *title, bool evaluates) {
    Frame frame;
    if (!frame_of(table, column, &frame))
        return;
    page_markup(page, "<h3>");
    page_text(page, title);
    page_format(page, "</h3>\n<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    page_text(page, title);
    page_markup(page, "</title>\n");
    put_axes(page, &frame);
    put_curve(page, table, &frame, column, TRAIN);
    if (evaluates)
        put_curve(page, table, &frame, column, EVAL);
    page_markup(page, "</svg>\n");
}

/* A loss of one term is that term: one chart shows both. */
static bool is_total(const Table *table, size_t column) {
    if (column == FIRST_VALUE)
        return false;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < table->of[kind].points; i++) {
            const double value = value_at(table, kind, i, column),
                         total = value_at(table, kind, i, FIRST_VALUE);
            if (value != total && !(isnan(value) && isnan(total)))
                return false;
        }
    return true;
}

/* Times are the log's alone. */
static void put_charts(Page *page, const Table *table) {
    bool is_measured = true;
    for (size_t i = FIRST_VALUE; i < table->columns; i++) {
        const char *name = table->name[i];
        const bool rate = strcmp(name, "lr") == 0, norm = strcmp(name, "gradient_norm") == 0;
        if ((is_measured && !is_total(table, i)) || norm)
            put_chart(page, table, i,
                      rate   ? "learning rate"
                      : norm ? "norm of the gradients"
                             : name,
                      !rate && !norm);
        is_measured = is_measured && !rate;
    }
}

static void put_thinned(Page *page, const Table *table) {
    for (int kind = 0; kind < KINDS; kind++)
        if (table->of[kind].every > 1)
            page_format(page, "<p class=\"soft\">Of %zu rows of %s, %zu are drawn.</p>\n",
                        table->of[kind].rows, kind == TRAIN ? "training" : "evaluation",
                        table->of[kind].points);
}

UnetStatus report_curves(Page *page, const char *path, UnetError *error) {
    Table table = {.columns = 0};
    const UnetStatus status = read_table(&table, path, error);
    if (status == UNET_OK) {
        page_markup(page, "<h2>Curves</h2>\n");
        put_thinned(page, &table);
        put_charts(page, &table);
    }
    forget_table(&table);
    return status;
}
