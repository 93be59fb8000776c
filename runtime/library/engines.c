/* engines.c - a table of engines that were timed, and its file (unet/engines.h).
 *
 *     {"schema": "unet-engines/1", "model": "tiny_unet",
 *      "device": {"name": "...", "capability": 90, "multiprocessors": 132, "driver": 13000, "cudnn":
 * 91900}, "convolutions": [
 *     {"kind": "forward", "type": "bf16", "result": "bf16", "with": ["bias", "relu"], "axes": 2, "batch":
 * 6, "channels": [8, 16], "in": [1, 256, 256], ..., "engine": 41, "knobs": [[4, 2]], "workspace": 131,
 *      "seconds": 1.1e-05, "planned": 1.2e-05}, ...
 *
 * Numbers are looked at when they are read, so that nobody else has to.
 */
#include "unet/engines.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/atomic_file.h"

enum { MOST_ROWS = 1 << 16, TRIPLES = 7, FLAGS = 5 };
static const char schema[] = "unet-engines/1";

/* ---- what a row is made of ----------------------------------------------------------------------------
 */

static const char *const kinds[] = {[UNET_FORWARD] = "forward",
                                    [UNET_BACKWARD_DATA] = "backward data",
                                    [UNET_BACKWARD_FILTER] = "backward filter"};
static const char *const types[] = {[UNET_F32] = "f32", [UNET_BF16] = "bf16", [UNET_F16] = "f16"};
enum { KINDS = sizeof kinds / sizeof *kinds, TYPES = sizeof types / sizeof *types };

typedef struct {
    const char *name;
    int64_t *value;
} Triple;

static void triples_of(UnetConvolution *c, Triple triple[TRIPLES]) {
    const Triple all[TRIPLES] = {{"in", c->in},         {"out", c->out},           {"kernel", c->kernel},
                                 {"stride", c->stride}, {"dilation", c->dilation}, {"before", c->before},
                                 {"after", c->after}};
    memcpy(triple, all, sizeof all);
}

typedef struct {
    const char *name;
    bool *value;
} Flag;

static void flags_of(UnetConvolution *c, Flag flag[FLAGS]) {
    const Flag all[FLAGS] = {{"tf32", &c->tf32},
                             {"nondeterministic", &c->nondeterministic},
                             {"accumulate", &c->accumulate},
                             {"bias", &c->bias},
                             {"relu", &c->relu}};
    memcpy(flag, all, sizeof all);
}

/* ---- comparing ----------------------------------------------------------------------------------------
 */

bool unet_same_convolution(const UnetConvolution *a, const UnetConvolution *b) {
    if (a->kind != b->kind || a->type != b->type || a->result_type != b->result_type ||
        a->axes != b->axes || a->batch != b->batch || a->in_channels != b->in_channels ||
        a->out_channels != b->out_channels)
        return false;
    UnetConvolution one = *a, other = *b;
    Triple triple[2][TRIPLES];
    Flag flag[2][FLAGS];
    bool same = true;
    triples_of(&one, triple[0]);
    triples_of(&other, triple[1]);
    flags_of(&one, flag[0]);
    flags_of(&other, flag[1]);
    for (int i = 0; i < FLAGS; i++)
        same = same && *flag[0][i].value == *flag[1][i].value;
    for (int i = 0; i < TRIPLES; i++)
        same = same && memcmp(triple[0][i].value, triple[1][i].value, sizeof one.in) == 0;
    return same;
}

bool unet_same_engine(const UnetEngine *a, const UnetEngine *b) {
    bool same = a->engine == b->engine && a->nknob == b->nknob;
    for (int32_t i = 0; same && i < a->nknob; i++)
        same = a->knob[i].type == b->knob[i].type && a->knob[i].value == b->knob[i].value;
    return same;
}

const UnetTimedEngine *unet_engines_find(const UnetEngineTable *table, const UnetConvolution *c,
                                         int64_t cap) {
    const UnetTimedEngine *found = NULL;
    for (int32_t i = 0; i < table->count; i++) {
        const UnetTimedEngine *row = &table->row[i];
        if (row->convolution.engine.workspace <= cap && (found == NULL || row->seconds < found->seconds) &&
            unet_same_convolution(&row->convolution, c))
            found = row;
    }
    return found;
}

const char *unet_engines_differ(const UnetEngineDevice *there, const UnetEngineDevice *here) {
    if (strcmp(there->name, here->name) != 0 || there->capability != here->capability ||
        there->multiprocessors != here->multiprocessors)
        return "it was measured on another device";
    return there->cudnn != here->cudnn ? "it was measured with another version of cuDNN" : NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------
 */

typedef struct {
    const char *path;
    int32_t row; /* from 1; 0: in front of them */
    UnetError *error;
    UnetStatus status;
} Reader;

static void wrong(Reader *r, const char *name, const char *wanted) {
    if (r->status != UNET_OK)
        return;
    if (r->row == 0)
        r->status = unet_fail(r->error, UNET_IO, "%s: \"%s\" is not %s", r->path, name, wanted);
    else
        r->status = unet_fail(r->error, UNET_IO, "%s: row %d: \"%s\" is not %s", r->path, (int)r->row, name,
                              wanted);
}

static int64_t number_in(Reader *r, const json_t *value, const char *name, int64_t least, int64_t most) {
    if (json_is_integer(value) && json_integer_value(value) >= least && json_integer_value(value) <= most)
        return json_integer_value(value);
    wrong(r, name, "a whole number of a possible size");
    return least;
}

static int64_t read_number(Reader *r, const json_t *object, const char *name, int64_t least, int64_t most) {
    return number_in(r, json_object_get(object, name), name, least, most);
}

static double read_seconds(Reader *r, const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (json_is_number(value) && isfinite(json_number_value(value)) && json_number_value(value) >= 0)
        return json_number_value(value);
    wrong(r, name, "a number of seconds");
    return 0;
}

/* Returns the number of the name that stands there; some of NAMES may be NULL. */
static int read_choice(Reader *r, const json_t *object, const char *name, const char *const *names,
                       int count) {
    const char *text = json_string_value(json_object_get(object, name));
    for (int i = 0; text != NULL && i < count; i++)
        if (names[i] != NULL && strcmp(names[i], text) == 0)
            return i;
    wrong(r, name, "one that is known");
    return 0;
}

static void read_text(Reader *r, const json_t *object, const char *name, char *to, size_t size) {
    const char *text = json_string_value(json_object_get(object, name));
    if (text == NULL || strlen(text) >= size)
        wrong(r, name, "a name");
    else
        memcpy(to, text, strlen(text) + 1);
}

static void read_triple(Reader *r, const json_t *object, const char *name, int64_t value[3]) {
    const json_t *list = json_object_get(object, name);
    if (json_array_size(list) != 3)
        wrong(r, name, "three whole numbers");
    for (size_t i = 0; i < 3; i++)
        value[i] = number_in(r, json_array_get(list, i), name, 0, INT32_MAX);
}

static void read_flags(Reader *r, const json_t *object, UnetConvolution *c) {
    const json_t *list = json_object_get(object, "with"), *item;
    size_t index;
    Flag flag[FLAGS];
    flags_of(c, flag);
    if (!json_is_array(list))
        wrong(r, "with", "a list");
    json_array_foreach(list, index, item) {
        int i = 0;
        while (i < FLAGS && (!json_is_string(item) || strcmp(json_string_value(item), flag[i].name) != 0))
            i++;
        if (i == FLAGS)
            wrong(r, "with", "a list of what is known");
        else
            *flag[i].value = true;
    }
}

static void read_engine(Reader *r, const json_t *object, int64_t version, UnetEngine *engine) {
    const json_t *list = json_object_get(object, "knobs");
    const size_t count = json_array_size(list);
    *engine = (UnetEngine){.version = version,
                           .engine = read_number(r, object, "engine", 0, INT32_MAX),
                           .workspace = read_number(r, object, "workspace", 0, INT64_C(1) << 48)};
    if (!json_is_array(list) || count > UNET_MAX_KNOBS) {
        wrong(r, "knobs", "a list of at most 16");
        return;
    }
    engine->nknob = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(list, i);
        if (json_array_size(pair) != 2)
            wrong(r, "knobs", "a list of pairs");
        engine->knob[i].type = number_in(r, json_array_get(pair, 0), "knobs", 0, INT32_MAX);
        engine->knob[i].value = number_in(r, json_array_get(pair, 1), "knobs", INT32_MIN, INT32_MAX);
    }
}

static void read_row(Reader *r, const json_t *object, int64_t version, UnetTimedEngine *row) {
    UnetConvolution *c = &row->convolution;
    const json_t *channels = json_object_get(object, "channels");
    Triple triple[TRIPLES];
    *c = (UnetConvolution){
        .kind = (UnetConvolutionKind)read_choice(r, object, "kind", kinds, KINDS),
        .type = (UnetType)read_choice(r, object, "type", types, TYPES),
        .result_type = (UnetType)read_choice(r, object, "result", types, TYPES),
        .axes = (int32_t)read_number(r, object, "axes", 2, 3),
        .batch = read_number(r, object, "batch", 1, INT32_MAX),
        .in_channels = number_in(r, json_array_get(channels, 0), "channels", 1, INT32_MAX),
        .out_channels = number_in(r, json_array_get(channels, 1), "channels", 1, INT32_MAX)};
    triples_of(c, triple);
    for (int i = 0; i < TRIPLES; i++)
        read_triple(r, object, triple[i].name, triple[i].value);
    read_flags(r, object, c);
    read_engine(r, object, version, &c->engine);
    row->seconds = read_seconds(r, object, "seconds");
    row->planned = read_seconds(r, object, "planned");
}

static void read_device(Reader *r, const json_t *root, UnetEngineDevice *device) {
    const json_t *object = json_object_get(root, "device");
    read_text(r, object, "name", device->name, sizeof device->name);
    device->capability = (int32_t)read_number(r, object, "capability", 1, 10000);
    device->multiprocessors = (int32_t)read_number(r, object, "multiprocessors", 1, INT32_MAX);
    device->driver = read_number(r, object, "driver", 0, INT32_MAX);
    device->cudnn = read_number(r, object, "cudnn", 1, INT32_MAX);
}

static void read_root(Reader *r, const json_t *root, UnetEngineTable *table) {
    const json_t *list = json_object_get(root, "convolutions");
    const char *found = json_string_value(json_object_get(root, "schema"));
    if (found == NULL || strcmp(found, schema) != 0) {
        wrong(r, "schema", "\"unet-engines/1\": this is no table of engines");
        return;
    }
    read_text(r, root, "model", table->model, sizeof table->model);
    read_device(r, root, &table->device);
    if (!json_is_array(list) || json_array_size(list) > MOST_ROWS)
        wrong(r, "convolutions", "a list");
    if (r->status != UNET_OK)
        return;
    table->row = calloc(json_array_size(list) + 1, sizeof *table->row);
    if (table->row == NULL) {
        r->status = unet_fail(r->error, UNET_TOO_SMALL, "%s: no memory for its rows", r->path);
        return;
    }
    while (r->status == UNET_OK && (size_t)table->count < json_array_size(list)) {
        r->row = table->count + 1;
        read_row(r, json_array_get(list, (size_t)table->count), table->device.cudnn,
                 &table->row[table->count]);
        table->count++;
    }
}

UnetStatus unet_engines_read(UnetEngineTable *table, const char *path, UnetError *error) {
    json_error_t problem;
    *table = (UnetEngineTable){.count = 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return unet_fail(error, UNET_IO, "%s: %s", path, strerror(errno));
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &problem);
    (void)fclose(file);
    if (root == NULL)
        return unet_fail(error, UNET_IO, "%s:%d: %s", path, problem.line, problem.text);
    Reader r = {.path = path, .error = error, .status = UNET_OK};
    read_root(&r, root, table);
    json_decref(root);
    return r.status;
}

void unet_engines_free(UnetEngineTable *table) {
    free(table->row);
    *table = (UnetEngineTable){.count = 0};
}

/* ---- writing ------------------------------------------------------------------------------------------
 */

static json_t *triple_json(const int64_t value[3]) {
    return json_pack("[I,I,I]", (json_int_t)value[0], (json_int_t)value[1], (json_int_t)value[2]);
}

static json_t *flags_json(UnetConvolution *c) {
    json_t *list = json_array();
    Flag flag[FLAGS];
    flags_of(c, flag);
    for (int i = 0; i < FLAGS; i++)
        if (*flag[i].value)
            (void)json_array_append_new(list, json_string(flag[i].name));
    return list;
}

static json_t *knobs_json(const UnetEngine *engine) {
    json_t *list = json_array();
    for (int32_t i = 0; i < engine->nknob; i++)
        (void)json_array_append_new(
            list, json_pack("[I,I]", (json_int_t)engine->knob[i].type, (json_int_t)engine->knob[i].value));
    return list;
}

/* NULL: no memory. */
static json_t *row_json(const UnetTimedEngine *row) {
    UnetConvolution c = row->convolution;
    Triple triple[TRIPLES];
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:o, s:i, s:I, s:[I,I]}", "kind", kinds[c.kind], "type", types[c.type],
                  "result", types[c.result_type], "with", flags_json(&c), "axes", (int)c.axes, "batch",
                  (json_int_t)c.batch, "channels", (json_int_t)c.in_channels, (json_int_t)c.out_channels);
    bool whole = object != NULL;
    triples_of(&c, triple);
    for (int i = 0; i < TRIPLES; i++)
        whole = whole && json_object_set_new(object, triple[i].name, triple_json(triple[i].value)) == 0;
    whole = whole && json_object_set_new(object, "engine", json_integer(c.engine.engine)) == 0 &&
            json_object_set_new(object, "knobs", knobs_json(&c.engine)) == 0 &&
            json_object_set_new(object, "workspace", json_integer(c.engine.workspace)) == 0 &&
            json_object_set_new(object, "seconds", json_real(row->seconds)) == 0 &&
            json_object_set_new(object, "planned", json_real(row->planned)) == 0;
    if (whole)
        return object;
    json_decref(object);
    return NULL;
}

/* BEFORE, then OBJECT on a line, then BEHIND; takes OBJECT over. */
static UnetStatus write_json(UnetAtomicFile *file, const char *before, json_t *object, const char *behind,
                             UnetError *error) {
    char *text = object == NULL ? NULL : json_dumps(object, JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);
    json_decref(object);
    if (text == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the table of engines");
    UnetStatus status = unet_atomic_write(file, before, strlen(before), error);
    if (status == UNET_OK)
        status = unet_atomic_write(file, text, strlen(text), error);
    if (status == UNET_OK)
        status = unet_atomic_write(file, behind, strlen(behind), error);
    free(text);
    return status;
}

static UnetStatus write_all(const UnetEngineTable *table, UnetAtomicFile *file, UnetError *error) {
    const UnetEngineDevice *device = &table->device;
    UnetStatus status =
        write_json(file, "{\"schema\": \"unet-engines/1\", \"model\": ", json_string(table->model),
                   ",\n \"device\": ", error);
    if (status == UNET_OK)
        status =
            write_json(file, "",
                       json_pack("{s:s, s:i, s:i, s:I, s:I}", "name", device->name, "capability",
                                 (int)device->capability, "multiprocessors", (int)device->multiprocessors,
                                 "driver", (json_int_t)device->driver, "cudnn", (json_int_t)device->cudnn),
                       ",\n \"convolutions\": [", error);
    for (int32_t i = 0; i < table->count && status == UNET_OK; i++)
        status = write_json(file, i > 0 ? ",\n" : "\n", row_json(&table->row[i]), "", error);
    return status == UNET_OK ? unet_atomic_write(file, "\n]}\n", 4, error) : status;
}

UnetStatus unet_engines_write(const UnetEngineTable *table, const char *path, UnetError *error) {
    UnetAtomicFile file;
    UnetStatus status = unet_atomic_open(&file, path, error);
    if (status != UNET_OK)
        return status;
    status = write_all(table, &file, error);
    if (status == UNET_OK)
        return unet_atomic_commit(&file, error);
    unet_atomic_abandon(&file);
    return status;
}
