/* staging.c - in which type the loader leaves an input, and why.
 *
 * A picture in a file has numbers n of 8 or 16 bits; the network sees n / 255 or n / 65535.  The ring of
 * the loader holds n if no other numbers can come.  The result has the same bits then, for kernels divide
 * as the loader would.  The names of the files promise that, and the runtime refuses a file that breaks the
 * promise.  As 257 n / 65535 is n / 255, 16 bits hold files of 8 bits, too.
 *
 * Prediction takes files of any name, so it has f32.
 */
#include "ir/staging.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"

#include <math.h>

/* ---- a section of the file ---- */

static const Source *source_of(const DataSection *data, int input) {
    for (int i = 0; i < data->nsource; i++)
        if (data->source[i].input == input)
            return &data->source[i];
    return NULL;
}

/* Whether a source of SECTION makes weights for an input. */
static bool is_weighted(const DataSection *section, int input) {
    const Source *source = source_of(section, input);
    return source != NULL && source->term[0].op == SOURCE_BORDER;
}

/* Is VALUE n / 255 or, of more BITS, n / 65535? */
static bool is_whole(double value, int bits) {
    const float one = bits > 8 ? 65535.0f : 255.0f, number = (float)value;
    return number >= 0 && number <= 1 && roundf(number * one) / one == number;
}

static const char *why_not_by_source(Pool *pool, const Source *source) {
    const SourceTerm *term = &source->term[0];
    if (source->nterm > 1 || term->op != SOURCE_FILES)
        return "its numbers are computed and can be fractions of those in files";
    if (term->way.missing != MISSING_REFUSED)
        return "`missing` says that its files hold floats";
    if (term->bits == 0 && term->format != NULL)
        return pool_text(pool, "%s files can hold floats", term->format);
    if (term->bits == 0)
        return pool_text(pool, "\"%s\" does not say the format, and files can hold floats", term->text);
    return NULL;
}

/* Cuts, mirrors and quarter turns move numbers and leave them as they are. */
static const char *why_not_by_transforms(Pool *pool, const DataSection *data, int bits) {
    static const char *const name[] = {
        [TRANSFORM_SCALE] = "scale",     [TRANSFORM_ROTATE] = "rotate",
        [TRANSFORM_ELASTIC] = "elastic", [TRANSFORM_DISTORT] = "distort",
        [TRANSFORM_GAMMA] = "gamma",     [TRANSFORM_BLUR] = "blur",
        [TRANSFORM_NOISE] = "noise",     [TRANSFORM_LOW_RESOLUTION] = "low_resolution"};
    for (int i = 0; i < data->ntransform; i++) {
        const Transform *t = &data->transform[i];
        const bool moves = t->op == TRANSFORM_CROP || t->op == TRANSFORM_FLIP || t->op == TRANSFORM_ROT90;
        if (!moves)
            return pool_text(pool, "`%s` makes numbers between those of the files", name[t->op]);
        if (t->pad == PAD_VALUE && !is_whole(t->pad_value, bits))
            return pool_text(pool, "the padding of `%g` is no number of a file of %d bits", t->pad_value,
                             bits);
    }
    return NULL;
}

/* ---- an input ---- */

/* The most bits of a number in files of both sections; 0: there are none. */
static int bits_of(const Model *model, int input) {
    const DataSection *const section[] = {&model->data, &model->eval_data};
    int bits = 0;
    for (int k = 0; k < 2; k++) {
        const Source *source = source_of(section[k], input);
        if (source != NULL && source->term[0].bits > bits)
            bits = source->term[0].bits;
    }
    return bits;
}

static const char *why_not_by_sections(Pool *pool, const Model *model, int input) {
    const DataSection *const section[] = {&model->data, &model->eval_data};
    const char *why = NULL;
    if (source_of(&model->data, input) == NULL)
        return "no line of `data` says which files fill it";
    for (int k = 0; k < 2 && why == NULL; k++) {
        const Source *source = source_of(section[k], input);
        why = source == NULL ? NULL : why_not_by_source(pool, source);
        if (why == NULL)
            why = why_not_by_transforms(pool, section[k], bits_of(model, input));
    }
    return why;
}

/* Fits no n / 255 and no n / 65535, however much is rounded. */
static const char *why_not_by_kind(const Model *model, int input) {
    if (model->input[input].kind == KIND_VOLUME)
        return "volumes hold numbers of any size";
    if (model->input[input].kind == KIND_SIGNAL)
        return "signals hold numbers below 0";
    if (model->input[input].normalizing != AS_READ)
        return "`normalize` makes fractions of its numbers";
    if (is_weighted(&model->data, input) || is_weighted(&model->eval_data, input))
        return "`border_weight` makes fractions";
    return NULL;
}

/* Is INPUT read by more than losses and metrics, which take numbers as the loader leaves them?  Then a node
 * in front copies it into the type of activations, which f32 may be. */
static bool is_copied(const Program *program, int input) {
    const Graph *g = program->graph;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (!t.is_output && t.value == program->model->input[input].value &&
                !has_trait(&g->node[i], TRAIT_MEASURES))
                return program->options->stored == program->options->real;
    return false;
}

/* Why INPUT has no fewer bits than f32; NULL: it has. */
static const char *why_f32(Pool *pool, const Program *program, int input) {
    const Staging staging = program->options->staging;
    const char *why = why_not_by_kind(program->model, input);
    if (staging == STAGING_REAL)
        return "--staging=f32 says so";
    if (why != NULL || staging != STAGING_AS_FILES)
        return why;
    if (!program->target->stages_as_files)
        return "--staging does not say otherwise";
    if (program->kind == PROGRAM_PREDICT)
        return "prediction takes files of any name";
    why = why_not_by_sections(pool, program->model, input);
    return why == NULL && program->choices->stages_floats && is_copied(program, input)
               ? "the budget has no room for a copy of it"
               : why;
}

const char *staged_reason(Pool *pool, const Program *program, int input) {
    const Staging staging = program->options->staging;
    const char *why = why_f32(pool, program, input);
    if (why != NULL)
        return why;
    if (staging != STAGING_AS_FILES)
        return pool_text(pool, "--staging=%s says so", staging == STAGING_U8 ? "u8" : "u16");
    return pool_text(pool, "%s files have at most %d bits",
                     source_of(&program->model->data, input)->term[0].format,
                     bits_of(program->model, input));
}

Type staged_type(const Program *program, int input) {
    const Options *options = program->options;
    if (why_f32(program->graph->pool, program, input) != NULL)
        return options->real;
    if (options->staging == STAGING_AS_FILES)
        return bits_of(program->model, input) > 8 ? TYPE_UNORM16 : TYPE_UNORM8;
    return options->staging == STAGING_U8 ? TYPE_UNORM8 : TYPE_UNORM16;
}

bool stages_as_files(const Plan *plan) {
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1))
        for (int i = 0; i < p->model->ninput && plan->options->staging == STAGING_AS_FILES; i++) {
            const Type type = p->graph->value[p->model->input[i].value].type;
            if (type == TYPE_UNORM8 || type == TYPE_UNORM16)
                return true;
        }
    return false;
}

/* Is V a picture in the type of its files? */
static bool is_as_file(const Graph *g, ValueId v) {
    return v >= 0 && g->value[v].input >= 0 &&
           (g->value[v].type == TYPE_UNORM8 || g->value[v].type == TYPE_UNORM16);
}

int64_t copied_bytes(const Program *program) {
    const Graph *g = program->graph;
    int64_t bytes = 0;
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        if (node->nin == 1 && node->nout == 1 && is_as_file(g, node->in[0]) &&
            g->value[node->out[0]].class == CLASS_ACTIVATION)
            bytes = size_sum(bytes, program->layout[node->out[0]].bytes);
    }
    return bytes;
}

/* ---- the ring ---- */

int64_t slot_samples(const Program *program) {
    return program->kind == PROGRAM_TRAIN ? samples_of_process(&program->model->train) : program->batch;
}

/* In bytes pictures need no halo, for a copy of them has it. */
static int64_t slot_bytes_of_u8(const Program *program) {
    const Graph *g = program->graph;
    const int *readers = count_readers(g);
    int64_t bytes = 0;
    for (int i = 0; i < program->model->ninput && !passes_rows(program); i++) {
        const Input *input = &program->model->input[i];
        Value value = g->value[input->value];
        Layout s = program->layout[input->value];
        if (input->kind != KIND_LABELS && why_not_by_kind(program->model, i) == NULL) {
            value.type = TYPE_UNORM8;
            s = (Layout){0};
        }
        program->target->lay_out(&value, slot_samples(program), &s);
        if (readers[input->value] > 0)
            bytes = size_sum(bytes, s.bytes);
    }
    return bytes;
}

int64_t ring_bytes_of_u8(const Plan *plan) {
    int64_t slot = 0;
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1)) {
        const int64_t bytes = slot_bytes_of_u8(p);
        slot = bytes > slot ? bytes : slot;
    }
    return size_product(slot, plan->ring_slots);
}
