/* windows.c - prediction by windows that the file asks for: which tensors are blended, and where.
 *
 * If several windows show a voxel, their classes have no mean, but the input of `argmax` has one: so a map
 * of classes is no output here, and the runtime chooses the classes when the means are there.  It needs
 * room for that: as many slices of the volume as a window is deep, of the input and of each output's sums,
 * in floats.  If the file says a height and a width, there is room for volumes up to these in the arena,
 * so that memory follows from the plan; depth does not count.  Larger ones, and images, have it beside the
 * arena (runtime/driver/predict_windows.c, predict_tiles.c).
 *
 * blend_windows, for prune.c: requires the graph as lowered.  window_buffers, for buffer_assign.c: requires
 * the buffers of the program's steps.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

void blend_windows(Program *program) {
    const Graph *g = program->graph;
    for (int i = 0; has_windows(program) && i < program->model->noutput; i++) {
        Output *output = &program->model->output[i];
        const NodeId producer = g->value[output->value].producer;
        if (producer >= 0 && has_trait(&g->node[producer], TRAIT_CLASSES))
            output->value = g->node[producer].in[0];
    }
}

/* Slices of the channels of V. */
static int slices_of(Plan *plan, const Program *program, ValueId v, const char *what, Class class) {
    const Value *value = &program->graph->value[v];
    const int64_t *most = program->model->predict.windows.most;
    Shape shape = {.rank = 4,
                   .dim = {shape_channels(value->shape), shape_extent(value->shape, 0), most[0], most[1]}};
    const Buffer b = {.name = pool_text(plan->pool, "%s of %s", what, value->name),
                      .class = class,
                      .lifetime = LIFETIME_PROGRAM,
                      .span = program->model->predict.windows.span,
                      .type = TYPE_F32,
                      .shape = shape,
                      .bytes = size_rounded(size_product(shape_elements(shape), type_bytes(TYPE_F32)),
                                            plan->target->align),
                      .same = -1,
                      .slice = -1,
                      .program = (int)program->kind};
    PUSH(plan->pool, plan->buffer, plan->nbuffer, b);
    return plan->nbuffer - 1;
}

void window_buffers(Plan *plan, Program *program) {
    const Model *model = program->model;
    const int *readers = count_readers(program->graph);
    if (!has_windows(program) || model->predict.windows.most[0] == 0)
        return;
    program->window_sums = NEW_ARRAY(plan->pool, int, model->noutput);
    for (int i = 0; i < model->noutput; i++)
        program->window_sums[i] = slices_of(plan, program, model->output[i].value, "sums", CLASS_WORKSPACE);
    int read = 0;
    while (read + 1 < model->ninput && readers[model->input[read].value] == 0)
        read++;
    program->window_slices = slices_of(plan, program, model->input[read].value, "slices", CLASS_STAGING);
}
