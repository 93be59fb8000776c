/* types.c - the type in which each value is stored.
 *
 * Numbers are f32 in the language.  A reference build may compute in f64 throughout; inputs, and what lies
 * between operators, may be stored in fewer bits than they are computed in (ir/staging.c has inputs).
 *
 * Requires: the complete graph.  Provides: Value.type.
 */
#include "ir/staging.h"
#include "passes/passes.h"

void choose_types(Program *program) {
    const Options *options = program->options;
    for (ValueId v = 0; v < program->graph->nvalue; v++) {
        Value *value = &program->graph->value[v];
        bool between = value->class == CLASS_ACTIVATION || value->class == CLASS_ACTIVATION_GRADIENT;
        if (value->type != TYPE_F32)
            continue;
        if (value->class == CLASS_STAGING)
            value->type = value->input < 0 ? options->real : staged_type(program, value->input);
        else
            value->type = between && value->per_sample ? options->stored : options->real;
    }
}
