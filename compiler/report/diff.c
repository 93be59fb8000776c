/* diff.c - what changed between two plans.
 *
 * Both sides are read from their JSON, so that a plan which was kept in a file can be compared with a file
 * of today. Buffers are the same when class and name are; of several, such as the lives of a tensor that is
 * computed again, the first is compared with the first.
 */
#include "report/diff.h"
#include "base/diag.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *class;
    int64_t line, bytes;
    int order; /* in the plan */
} Item;

static const struct {
    const char *label, *key; /* in text and in JSON */
    const char *group, *member,
        *inner; /* where it stands in a plan; inner: a member of a member, or NULL */
    bool bytes;
} figure[] = {{"arena", "arena", "arena", "bytes", NULL, true},
              {"lower bound", "lower_bound", "arena", "lower_bound", NULL, true},
              {"train", "train", "arena", "extent", "train", true},
              {"eval", "eval", "arena", "extent", "eval", true},
              {"predict", "predict", "arena", "extent", "predict", true},
              {"loader ring", "loader_ring", "beside", "loader_ring", NULL, true},
              {"context, estimated", "context_estimate", "beside", "context_estimate", NULL, true},
              {"operations", "flops", "cost", "flops", NULL, false},
              {"computed again", "recompute_flops", "cost", "recompute_flops", NULL, false}};
enum { FIGURES = sizeof figure / sizeof *figure, ARENA = 0 };

typedef struct {
    const char *path;
    const char *target, *precision;
    int64_t batch, value[FIGURES];
    Item *item;
    int nitem;
} Side;

/* ---- reading ---- */

static json_t *member(const char *path, const json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    if (value == NULL)
        environment_error("%s: not a plan of unetc: `%s` is missing", path, name);
    return value;
}

static int64_t amount(const char *path, const json_t *object, const char *name) {
    const json_t *value = member(path, object, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        environment_error("%s: not a plan of unetc: `%s` is not an amount", path, name);
    return json_integer_value(value);
}

static const char *words(Pool *pool, const char *path, const json_t *object, const char *name) {
    const char *text = json_string_value(member(path, object, name));
    if (text == NULL)
        environment_error("%s: not a plan of unetc: `%s` is not a text", path, name);
    return pool_copy(pool, text, strlen(text));
}

static int by_words(const Item *x, const Item *y) {
    int order = strcmp(x->class, y->class);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b) {
    const Item *x = a, *y = b;
    int order = by_words(x, y);
    return order != 0 ? order : x->order - y->order;
}

/* A buffer in another's place has no bytes of its own. */
static void read_buffers(Pool *pool, Side *side, const json_t *list) {
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > INT32_MAX)
        environment_error("%s: not a plan of unetc: `buffers` is not a list", side->path);
    side->item = NEW_ARRAY(pool, Item, n + 1);
    for (size_t i = 0; i < n; i++) {
        const json_t *buffer = json_array_get(list, i);
        if (json_is_object(json_object_get(buffer, "alias")))
            continue;
        side->item[side->nitem] = (Item){.name = words(pool, side->path, buffer, "name"),
                                         .class = words(pool, side->path, buffer, "class"),
                                         .line = amount(side->path, buffer, "line"),
                                         .bytes = amount(side->path, buffer, "bytes"),
                                         .order = (int)i};
        side->nitem++;
    }
    qsort(side->item, (size_t)side->nitem, sizeof *side->item, by_name);
}

static Side read_side(Pool *pool, PlanText plan) {
    Side side = {.path = plan.path};
    json_error_t error;
    json_t *root = json_loads(plan.json, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        environment_error("%s:%d:%d: not JSON: %s", plan.path, error.line, error.column, error.text);
    if (strcmp(words(pool, plan.path, root, "schema"), "unetc-plan/1") != 0)
        environment_error("%s: not a plan of unetc: its schema is not unetc-plan/1", plan.path);
    side.target = words(pool, plan.path, root, "target");
    side.precision = words(pool, plan.path, root, "precision");
    side.batch = amount(plan.path, root, "batch");
    for (int k = 0; k < FIGURES; k++) {
        const json_t *object = member(plan.path, root, figure[k].group);
        if (figure[k].inner != NULL)
            object = member(plan.path, object, figure[k].member);
        side.value[k] =
            amount(plan.path, object, figure[k].inner == NULL ? figure[k].member : figure[k].inner);
    }
    read_buffers(pool, &side, member(plan.path, root, "buffers"));
    json_decref(root);
    return side;
}

/* ---- comparing ---- */

typedef struct {
    const Item *a, *b; /* NULL: not there */
    int64_t change;    /* of bytes */
    int times;         /* so many buffers changed so; `a` and `b` are the first */
} Change;

typedef struct {
    Change *item;
    int count, buffers, same; /* changes, buffers that they concern, and other buffers */
} Changes;

static void add_change(Pool *pool, Changes *changes, const Item *a, const Item *b) {
    Change c = {a, b, (b == NULL ? 0 : b->bytes) - (a == NULL ? 0 : a->bytes), 1};
    if (a != NULL && b != NULL && c.change == 0)
        changes->same++;
    else
        PUSH(pool, changes->item, changes->count, c);
}

static const Item *item_of(const Change *c) {
    return c->b != NULL ? c->b : c->a;
}

static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

static int by_change(const void *a, const void *b) {
    const Change *x = a, *y = b;
    int64_t p = magnitude(x->change), q = magnitude(y->change);
    if (p != q)
        return p < q ? 1 : -1;
    return by_name(item_of(x), item_of(y));
}

/* A tensor has buffers in several programs, or several lives in one: what changes all alike is one change.
 */
static bool are_one(const Change *x, const Change *y) {
    return (x->a == NULL) == (y->a == NULL) && (x->b == NULL) == (y->b == NULL) && x->change == y->change &&
           by_words(item_of(x), item_of(y)) == 0 && item_of(x)->line == item_of(y)->line;
}

static void merge_equal(Changes *changes) {
    int n = 0;
    changes->buffers = changes->count;
    for (int i = 0; i < changes->count; i++)
        if (n > 0 && are_one(&changes->item[n - 1], &changes->item[i]))
            changes->item[n - 1].times++;
        else
            changes->item[n++] = changes->item[i];
    changes->count = n;
}

static Changes compare(Pool *pool, const Side *a, const Side *b) {
    Changes changes = {0};
    for (int i = 0, k = 0; i < a->nitem || k < b->nitem;) {
        const Item *x = i < a->nitem ? &a->item[i] : NULL, *y = k < b->nitem ? &b->item[k] : NULL;
        Item other;
        int order = x == NULL   ? 1
                    : y == NULL ? -1
                                : (other = *y, other.order = x->order, by_name(x, &other));
        add_change(pool, &changes, order <= 0 ? x : NULL, order >= 0 ? y : NULL);
        i += order <= 0;
        k += order >= 0;
    }
    if (changes.count > 0)
        qsort(changes.item, (size_t)changes.count, sizeof *changes.item, by_change);
    merge_equal(&changes);
    return changes;
}

static const char *kind_of(const Change *c) {
    return c->a == NULL ? "added" : c->b == NULL ? "removed" : c->change > 0 ? "grown" : "shrunk";
}

/* Bytes of all buffers of a class. */
static int64_t class_bytes(const Side *side, const char *class) {
    int64_t bytes = 0;
    for (int i = 0; i < side->nitem; i++)
        if (strcmp(side->item[i].class, class) == 0 &&
            __builtin_add_overflow(bytes, side->item[i].bytes, &bytes))
            environment_error("%s: not a plan of unetc: its buffers exceed 2^63 bytes", side->path);
    return bytes;
}

/* The classes of both sides, each once; returns how many. */
static int classes_of(Pool *pool, const Side *a, const Side *b, const char ***class) {
    int n = 0;
    *class = NULL;
    for (int i = 0; i < a->nitem + b->nitem; i++) {
        const char *name = i < a->nitem ? a->item[i].class : b->item[i - a->nitem].class;
        int k = 0;
        while (k < n && strcmp((*class)[k], name) != 0)
            k++;
        if (k == n)
            PUSH(pool, *class, n, name);
    }
    return n;
}

/* ---- text ---- */

static const char *value_text(Pool *pool, int64_t value, bool bytes) {
    return bytes ? human_bytes(pool, value) : pool_text(pool, "%.4g G", (double)value / 1e9);
}

static const char *change_text(Pool *pool, int64_t change, bool bytes) {
    return pool_text(pool, "%c%s", change < 0 ? '-' : '+', value_text(pool, magnitude(change), bytes));
}

static void row_text(const char *label, int64_t a, int64_t b, bool bytes, Text *out) {
    Pool *pool = out->pool;
    text_add(out, "  %-22s %14s %14s", label, value_text(pool, a, bytes), value_text(pool, b, bytes));
    if (a == b)
        text_add(out, " %15s\n", "same");
    else if (a == 0)
        text_add(out, " %15s\n", change_text(pool, b, bytes));
    else
        text_add(out, " %15s %+10.1f %%\n", change_text(pool, b - a, bytes),
                 100 * ((double)b / (double)a - 1));
}

static void buffers_text(const Changes *changes, Text *out) {
    enum { SHOWN = 20 };
    text_blank(out);
    text_line(out, "buffers: %d changed, %d the same", changes->buffers, changes->same);
    for (int i = 0; i < changes->count && i < SHOWN; i++) {
        const Change *c = &changes->item[i];
        const Item *item = item_of(c);
        const char *line = item->line > 0 ? pool_text(out->pool, ", line %" PRId64, item->line) : "";
        const char *times = c->times > 1 ? pool_text(out->pool, ", %d times", c->times) : "";
        text_line(out, "  %14s  %-7s  %s, %s%s%s", change_text(out->pool, c->change, true), kind_of(c),
                  item->name, item->class, line, times);
    }
    if (changes->count > SHOWN)
        text_line(out, "  and %d more", changes->count - SHOWN);
}

static const char *side_text(Pool *pool, const Side *side) {
    return pool_text(pool, "%s  batch %" PRId64 ", %s, target %s", side->path, side->batch, side->precision,
                     side->target);
}

/* The lower bound that is met, and the program that sets the arena, say nothing new. */
static bool is_arena(const Side *a, const Side *b, int k) {
    return a->value[k] == a->value[ARENA] && b->value[k] == b->value[ARENA];
}

static void diff_text(const Side *a, const Side *b, const Changes *changes, Text *out) {
    const char **class;
    int n = classes_of(out->pool, a, b, &class);
    text_line(out, "  A  %s", side_text(out->pool, a));
    text_line(out, "  B  %s", side_text(out->pool, b));
    text_blank(out);
    text_line(out, "  %-22s %14s %14s %15s", "", "A", "B", "change");
    for (int k = 0; k < FIGURES; k++)
        if (k == ARENA || ((a->value[k] != 0 || b->value[k] != 0) && !is_arena(a, b, k)))
            row_text(figure[k].label, a->value[k], b->value[k], figure[k].bytes, out);
    text_blank(out);
    text_line(out, "all buffers, by class:");
    for (int k = 0; k < n; k++)
        row_text(class[k], class_bytes(a, class[k]), class_bytes(b, class[k]), true, out);
    buffers_text(changes, out);
}

/* ---- JSON ---- */

static void pair_json(const char *name, int64_t a, int64_t b, bool first, Text *out) {
    text_add(out, "%s\n    \"%s\": {\"a\": %" PRId64 ", \"b\": %" PRId64 "}", first ? "" : ",", name, a, b);
}

static void changes_json(const Changes *changes, Text *out) {
    for (int i = 0; i < changes->count; i++) {
        const Change *c = &changes->item[i];
        const Item *item = item_of(c);
        text_add(out, "%s\n    {\"name\": %s, \"class\": %s, \"line\": %" PRId64 ", ", i > 0 ? "," : "",
                 quoted(out->pool, item->name), quoted(out->pool, item->class), item->line);
        text_add(out, "\"change\": \"%s\", \"a\": %" PRId64 ", \"b\": %" PRId64 ", \"times\": %d}",
                 kind_of(c), c->a == NULL ? 0 : c->a->bytes, c->b == NULL ? 0 : c->b->bytes, c->times);
    }
}

static void diff_json(const Side *a, const Side *b, const Changes *changes, Text *out) {
    const char **class;
    int n = classes_of(out->pool, a, b, &class);
    text_add(out, "{\n  \"schema\": \"unetc-diff/1\", \"a\": %s, \"b\": %s,\n  \"figures\": {",
             quoted(out->pool, a->path), quoted(out->pool, b->path));
    for (int k = 0; k < FIGURES; k++)
        pair_json(figure[k].key, a->value[k], b->value[k], k == 0, out);
    text_add(out, "\n  },\n  \"classes\": {");
    for (int k = 0; k < n; k++)
        pair_json(class[k], class_bytes(a, class[k]), class_bytes(b, class[k]), k == 0, out);
    text_add(out, "\n  },\n  \"buffers\": [");
    changes_json(changes, out);
    text_add(out, "\n  ]\n}\n");
}

bool diff_plans(Pool *pool, PlanText a, PlanText b, bool json, Text *out) {
    const Side x = read_side(pool, a), y = read_side(pool, b);
    const Changes changes = compare(pool, &x, &y);
    if (json)
        diff_json(&x, &y, &changes, out);
    else
        diff_text(&x, &y, &changes, out);
    return y.value[ARENA] > x.value[ARENA];
}
