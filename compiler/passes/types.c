/* types.c - the type in which each value is stored.
 *
 * Numbers are f32 in the language.  A reference build may compute in f64 throughout; inputs, and what lies
 * between operators, may be stored in fewer bits than they are computed in.
 *
 * Requires: the complete graph.  Provides: Value.type.
 */
#include "passes/passes.h"

/* Whether a source of SECTION makes weights for an input. */
static bool is_weighted(const DataSection *section, int input) {
    for (int i = 0; i < section->nsource; i++)
        if (section->source[i].input == input && section->source[i].term[0].op == SOURCE_BORDER)
            return true;
    return false;
}

/* What is normalised, weights and volumes do not fit a byte. */
static Type staged_type(const Program *program, const Value *value) {
    const Options *options = program->options;
    const Model *model = program->model;
    const bool large = value->input >= 0 && (model->input[value->input].normalizing != AS_READ ||
                                             model->input[value->input].kind == KIND_VOLUME ||
                                             is_weighted(&model->data, value->input) ||
                                             is_weighted(&model->eval_data, value->input));
    return large && options->staged == TYPE_UNORM8 ? options->real : options->staged;
}

void choose_types(Program *program) {
    const Options *options = program->options;
    for (ValueId v = 0; v < program->graph->nvalue; v++) {
        Value *value = &program->graph->value[v];
        bool between = value->class == CLASS_ACTIVATION || value->class == CLASS_ACTIVATION_GRADIENT;
        if (value->type != TYPE_F32)
            continue;
        if (value->class == CLASS_STAGING)
            value->type = staged_type(program, value);
        else
            value->type = between && value->per_sample ? options->stored : options->real;
    }
}
