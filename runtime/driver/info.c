/* info.c - the command `info`: what the program holds, for people or, as unet-info/1, for scripts.
 */
#include "predict.h"
#include "unet/words.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

enum { LIBRARIES = 256 }; /* bytes of their description */

/* The programs that were compiled in; returns their number. */
static int programs_of(const UnetModel *model, const UnetProgram *program[3]) {
    const UnetProgram *const all[] = {model->train, model->eval, model->predict};
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (all[i] != NULL)
            program[n++] = all[i];
    return n;
}

/* ---- text ------------------------------------------------------------------------------------- */

void format_count(char *text, size_t size, int64_t count) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRId64, count);
    size_t length = 0;
    for (int i = 0; i < n && length + 2 < size; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[length++] = ',';
        text[length++] = digits[i];
    }
    text[length] = 0;
}

static void print_bytes(const char *label, int64_t bytes) {
    char count[32], rounded[32];
    format_count(count, sizeof count, bytes);
    format_bytes(rounded, sizeof rounded, bytes);
    (void)printf("%-14s %s bytes (%s)\n", label, count, rounded);
}

/* The bytes of training and evaluation beside the arena: one slot, more if steps wait for data. */
static void print_ring(const UnetModel *model) {
    char least[32], most[32];
    format_bytes(least, sizeof least, model->ring > 0 ? model->loader_ring_bytes / model->ring : 0);
    format_bytes(most, sizeof most, model->loader_ring_bytes);
    (void)printf("%-14s %s beside the arena, at most %s in %" PRId32
                 " slots where steps wait for data; decoded files up to 12 MiB\n",
                 "loader ring", least, most, model->ring);
}

/* The memory by windows is told of so many columns of an image, whose height does not count, and of slices
 * of such a size, whose number does not. */
enum { COLUMNS = 1000, SLICE = 512 };

static bool has_volumes(const UnetModel *model) {
    return model->inputs[0].kind == UNET_VOLUME;
}

static bool has_windows(const UnetModel *model) {
    const UnetProgram *program = model->predict;
    return program != NULL && program->windows != NULL &&
           (has_volumes(model) || program->windows->reach[0].grid > 0);
}

static const char *windows_text(const UnetModel *model) {
    const UnetProgram *program = model->predict;
    if (has_volumes(model) || !tiles_are_exact(program))
        return " that overlap and are blended";
    return program->windows->same_bits ? ", to the bit as the whole image"
                                       : ", as the whole image within rounding";
}

/* How a larger image or volume goes through. */
static void print_windows(const UnetModel *model) {
    char bytes[32];
    if (!has_windows(model))
        return;
    const bool volumes = has_volumes(model);
    format_bytes(bytes, sizeof bytes,
                 volumes ? windows_bytes(model, SLICE, SLICE) : tiles_bytes(model, COLUMNS));
    (void)printf("  %-12s by windows%s; %s beside the arena for ", "larger", windows_text(model), bytes);
    if (volumes)
        (void)printf("slices of %d x %d, of any depth\n", SLICE, SLICE);
    else
        (void)printf("%d columns, of any height\n", COLUMNS);
}

static void print_program(const UnetProgram *program) {
    char bytes[32];
    format_bytes(bytes, sizeof bytes, program->extent);
    (void)printf("  %-12s batch %" PRId32 ", ", program->name, program->batch);
    if (program->size[0] > 1)
        (void)printf("%" PRId32 " x ", program->size[0]);
    (void)printf("%" PRId32 " x %" PRId32 "%s, %" PRId64 " bytes of the arena (%s)\n", program->size[1],
                 program->size[2], program->units > 0 ? ", or of any height" : "", program->extent, bytes);
}

/* A line for each folder. */
static void print_files(const char *label, const char *name, const UnetSourceTerm *term) {
    (void)printf("  %-12s %s = %s\n", label, name, term->pattern);
    for (const char *const *more = term->more; more != NULL && *more != NULL; more++)
        (void)printf("  %-12s %s = %s\n", label, name, *more);
}

static void print_sources(const char *label, const UnetData *data) {
    for (int i = 0; data != NULL && i < data->nsource; i++)
        for (int t = 0; t < data->source[i].nterm; t++)
            if (data->source[i].term[t].op == UNET_SRC_FILES)
                print_files(label, data->source[i].name, &data->source[i].term[t]);
}

/* Instructions that not every processor has, by their bits in UnetModel. */
#define NAMED(bit, macro, name) [bit] = (name),
static const char *const instruction[64] = {UNET_INSTRUCTIONS(NAMED)};

static bool needs(const UnetModel *model, int bit) {
    return instruction[bit] != NULL && (model->instructions >> bit & 1) != 0;
}

static void print_instructions(const UnetModel *model) {
    if (model->instructions == 0)
        return;
    (void)printf("%-14s", "instructions");
    for (int bit = 0; bit < 64; bit++)
        if (needs(model, bit))
            (void)printf(" %s", instruction[bit]);
    (void)printf("\n");
}

/* How direct convolutions multiply tensors of bf16, and why not in pairs. */
static void print_products(const UnetModel *model) {
    if (model->products == NULL)
        return;
    const bool is_f32 = strcmp(model->products, "f32") == 0;
    const bool in_matrices = (model->instructions >> UNET_MATRICES_BIT & 1) != 0;
    const bool has_pairs = unet_lacking_instruction(INT64_C(1) << UNET_PAIRS_BIT) == NULL;
    (void)printf("%-14s %s%s\n", "products", model->products,
                 in_matrices ? ", by registers for matrices (AMX)"
                 : !is_f32   ? ", in one instruction"
                 : has_pairs && unet_pairs_are_slow()
                     ? ": pairs of bf16 take longer on this processor"
                     : ": the program has no instruction for pairs of bf16");
}

/* The operators and layers that METHOD computes. */
static void print_method(const UnetModel *model, const char *method) {
    (void)printf("  %s\n", method);
    for (int i = 0; i < model->nmethod; i++) {
        const UnetMethod *row = &model->method[i];
        if (strcmp(row->method, method) != 0)
            continue;
        (void)printf("    %-14s", row->operator_name);
        for (const char *const *layer = row->layers; *layer != NULL; layer++)
            (void)printf(" %s", *layer);
        (void)printf("\n");
    }
}

static void print_methods(const UnetModel *model) {
    if (model->nmethod > 0)
        (void)printf("\nmethods\n");
    for (int i = 0; i < model->nmethod; i++) {
        int earlier = 0;
        while (strcmp(model->method[earlier].method, model->method[i].method) != 0)
            earlier++;
        if (earlier == i)
            print_method(model, model->method[i].method);
    }
}

static json_t *methods_json(const UnetModel *model) {
    json_t *list = json_array();
    for (int i = 0; i < model->nmethod; i++) {
        const UnetMethod *row = &model->method[i];
        json_t *layers = json_array();
        for (const char *const *layer = row->layers; *layer != NULL; layer++)
            (void)json_array_append_new(layers, json_string(*layer));
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "operator", row->operator_name,
                                                    "method", row->method, "layers", layers));
    }
    return list;
}

static void print_parameters(const UnetModel *model) {
    (void)printf("\nparameters\n");
    for (int i = 0; i < model->nparameter; i++) {
        const UnetParameter *parameter = &model->parameter[i];
        (void)printf("  %-32s", parameter->name);
        for (int32_t d = 0; d < parameter->rank; d++)
            (void)printf("%s%" PRId64, d > 0 ? " x " : " ", parameter->dim[d]);
        (void)printf("\n");
    }
}

/* The plans of the program, if there are several: bytes of their arenas. */
static void print_plans(const Driver *driver) {
    const UnetModel *plan[UNET_MOST_PLANS];
    const int count = plans_of(driver, plan, UNET_MOST_PLANS);
    if (count < 2)
        return;
    (void)printf("%-14s", "plans");
    for (int i = 0; i < count; i++) {
        char bytes[32];
        format_bytes(bytes, sizeof bytes, plan[i]->arena_bytes);
        (void)printf("%s %s", i > 0 ? "," : "", bytes);
    }
    (void)printf("; `--fit` takes the largest that there is memory for\n");
}

static json_t *plans_json(const Driver *driver) {
    const UnetModel *plan[UNET_MOST_PLANS];
    const int count = plans_of(driver, plan, UNET_MOST_PLANS);
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)plan[i]->arena_bytes));
    return list;
}

static void print_text(const Driver *driver) {
    const UnetModel *model = driver->model;
    const UnetProgram *program[3];
    int nprogram = programs_of(model, program);
    char count[32];
    format_count(count, sizeof count, model->parameter_count);
    (void)printf("%-14s %s, compiled from %s (%s)\n", "model", model->name, model->source,
                 model->source_hash);
    (void)printf("%-14s %s, %s, %s", "target", model->target, model->isa, model->precision);
    if (model->device == NULL)
        (void)printf(", at most %" PRId32 " thread%s", model->max_threads, unet_plural(model->max_threads));
    (void)printf("\n");
    print_instructions(model);
    print_products(model);
    if (model->device != NULL) {
        char libraries[LIBRARIES];
        model->device->libraries(model, libraries, sizeof libraries);
        (void)printf("%-14s %s\n", "libraries", libraries);
    }
    (void)printf("%-14s %s in %" PRId32 " tensor%s\n", "parameters", count, model->nparameter,
                 unet_plural(model->nparameter));
    print_bytes("arena", model->arena_bytes);
    print_plans(driver);
    print_ring(model);
    if (model->training != NULL)
        (void)printf("%-14s %s\n", "optimizer", model->training->description);
    (void)printf("\nprograms\n");
    for (int i = 0; i < nprogram; i++)
        print_program(program[i]);
    print_windows(model);
    if (model->data != NULL)
        (void)printf("\ndata\n");
    print_sources("train", model->data);
    print_sources("eval", model->eval_data);
    print_methods(model);
    print_parameters(model);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

/* Every maker returns NULL when memory ran out; jansson passes that on, so only the last result is looked
 * at. */

/* How a larger image or volume goes through; NULL: none does.  "beside": bytes, for 1000 columns of an
 * image or slices of 512 x 512. */
static json_t *windows_json(const UnetModel *model) {
    const UnetProgram *program = model->predict;
    if (!has_windows(model))
        return NULL;
    if (has_volumes(model))
        return json_pack("{s:b, s:I}", "exact", 0, "beside",
                         (json_int_t)windows_bytes(model, SLICE, SLICE));
    return json_pack("{s:b, s:b, s:[i,i], s:I}", "exact", tiles_are_exact(program), "same_bits",
                     tiles_are_exact(program) && program->windows->same_bits, "multiples",
                     tiles_padded(program, 0, program->size[1] + 1) - program->size[1],
                     tiles_padded(program, 1, program->size[2] + 1) - program->size[2], "beside",
                     (json_int_t)tiles_bytes(model, COLUMNS));
}

static json_t *programs_json(const UnetModel *model) {
    const UnetProgram *program[3];
    int nprogram = programs_of(model, program);
    json_t *list = json_array();
    for (int i = 0; i < nprogram; i++) {
        json_t *item = json_pack("{s:s, s:i, s:[i,i,i], s:b, s:I, s:o*}", "name", program[i]->name, "batch",
                                 program[i]->batch, "size", program[i]->size[0], program[i]->size[1],
                                 program[i]->size[2], "any_height", program[i]->units > 0, "extent",
                                 (json_int_t)program[i]->extent, "windows",
                                 program[i] == model->predict ? windows_json(model) : NULL);
        (void)json_array_append_new(list, item);
    }
    return list;
}

static json_t *parameters_json(const UnetModel *model) {
    json_t *list = json_array();
    for (int i = 0; i < model->nparameter; i++) {
        json_t *shape = json_array();
        for (int32_t d = 0; d < model->parameter[i].rank; d++)
            (void)json_array_append_new(shape, json_integer(model->parameter[i].dim[d]));
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", model->parameter[i].name, "shape", shape));
    }
    return list;
}

static json_t *instructions_json(const UnetModel *model) {
    json_t *list = json_array();
    for (int bit = 0; bit < 64; bit++)
        if (needs(model, bit))
            (void)json_array_append_new(list, json_string(instruction[bit]));
    return list;
}

static void append_files(json_t *list, const char *name, const UnetSourceTerm *term) {
    (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "pattern", term->pattern));
    for (const char *const *more = term->more; more != NULL && *more != NULL; more++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "pattern", *more));
}

static json_t *sources_json(const UnetData *data) {
    json_t *list = json_array();
    for (int i = 0; data != NULL && i < data->nsource; i++)
        for (int t = 0; t < data->source[i].nterm; t++)
            if (data->source[i].term[t].op == UNET_SRC_FILES)
                append_files(list, data->source[i].name, &data->source[i].term[t]);
    return list;
}

static UnetStatus print_json(const Driver *driver, UnetError *error) {
    const UnetModel *model = driver->model;
    char libraries[LIBRARIES];
    if (model->device != NULL)
        model->device->libraries(model, libraries, sizeof libraries);
    json_t *info = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s?, s:s?, s:i, s:I, s:{s:I}, s:o, "
        "s:{s:I}, s:s?, s:o, s:{s:o, s:o}, "
        "s:o, s:o}",
        "schema", "unet-info/1", "model", model->name, "source", model->source, "source_hash",
        model->source_hash, "target", model->target, "isa", model->isa, "instructions",
        instructions_json(model), "precision", model->precision, "products", model->products, "libraries",
        model->device != NULL ? libraries : NULL, "max_threads", model->max_threads, "parameter_count",
        (json_int_t)model->parameter_count, "arena", "bytes", (json_int_t)model->arena_bytes, "plans",
        plans_json(driver), "beside", "loader_ring", (json_int_t)model->loader_ring_bytes, "optimizer",
        model->training != NULL ? model->training->description : NULL, "programs", programs_json(model),
        "data", "train", sources_json(model->data), "eval", sources_json(model->eval_data), "methods",
        methods_json(model), "parameters", parameters_json(model));
    if (info == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the description of the model");
    bool written = json_dumpf(info, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(info);
    return written ? UNET_OK : unet_fail(error, UNET_IO, "standard output cannot be written");
}

UnetStatus driver_info(Driver *driver) {
    if (driver->options.format[0] == 'j')
        return print_json(driver, &driver->error);
    print_text(driver);
    return UNET_OK;
}
