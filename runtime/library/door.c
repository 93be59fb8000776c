/* door.c - the facts of a model for programs that load it as a shared library (unet/door.h).
 *
 * All models of a door are one model, compiled for several levels of processors: their facts are the same.
 */
#include "unet/door.h"

#include <string.h>

#include "unet/schedule.h"

static const UnetModel *model_of(const UnetDoor *door) {
    return door->models[door->nmodels - 1];
}

static int32_t batch_of(const UnetProgram *program) {
    return program == NULL ? 0 : program->batch;
}

void unet_door_facts(const UnetDoor *door, UnetDoorFacts *facts) {
    const UnetModel *model = model_of(door);
    const UnetTraining *training = model->training;
    *facts = (UnetDoorFacts){.name = model->name,
                             .source = model->source,
                             .source_hash = model->source_hash,
                             .target = model->target,
                             .isa = model->isa,
                             .precision = model->precision,
                             .optimizer = training == NULL ? "" : training->description,
                             .buffer_bytes = unet_embed_bytes(model),
                             .arena_bytes = model->arena_bytes,
                             .persistent_bytes = model->persistent,
                             .ring_bytes = model->loader_ring_bytes,
                             .parameter_count = model->parameter_count,
                             .sums = unet_embed_sums(model),
                             .seed = training == NULL ? 0 : training->seed,
                             .learning_rate = training == NULL ? 0 : training->learning_rate,
                             .parameters = model->nparameter,
                             .inputs = model->ninput,
                             .outputs = model->noutput,
                             .results = model->nresult,
                             .batch = batch_of(model->train),
                             .eval_batch = batch_of(model->eval),
                             .predict_batch = batch_of(model->predict),
                             .max_threads = model->max_threads};
}

/* ---- tensors ---------------------------------------------------------------------------------- */

/* The axes of all samples begin with this one: of signals with the length, of images with the height. */
static int32_t first_axis(const UnetModel *model) {
    int32_t first = 1;
    for (int32_t i = 0; i < model->ninput; i++)
        first = model->inputs[i].kind == UNET_VOLUME ? 0 : model->inputs[i].kind == UNET_SIGNAL ? 2 : first;
    return first;
}

static void describe(UnetDoorTensor *tensor, const UnetModel *model, UnetKind kind,
                     const UnetLayout *layout) {
    const bool labels = kind == UNET_LABELS;
    tensor->type = labels ? UNET_U8 : UNET_F32;
    tensor->rank = 0;
    if (kind == UNET_SCALAR)
        return;
    if (!labels)
        tensor->dim[tensor->rank++] = layout->channels;
    for (int32_t axis = first_axis(model); axis < 3; axis++)
        tensor->dim[tensor->rank++] = layout->size[axis];
}

static int32_t parameter(const UnetModel *model, int32_t i, UnetDoorTensor *tensor) {
    if (i >= model->nparameter)
        return 0;
    *tensor = (UnetDoorTensor){
        .name = model->parameter[i].name, .type = (int32_t)model->real, .rank = model->parameter[i].rank};
    memcpy(tensor->dim, model->parameter[i].dim, sizeof tensor->dim);
    return 1;
}

static int32_t input(const UnetModel *model, const UnetProgram *program, int32_t i,
                     UnetDoorTensor *tensor) {
    if (program == NULL || i >= model->ninput)
        return 0;
    const UnetInput *in = &model->inputs[i];
    const UnetLayout *layout = &program->inputs[i];
    *tensor =
        (UnetDoorTensor){.name = in->name, .rank = -1, .is_target = in->is_target, .classes = in->classes};
    if (layout->sample_bytes > 0)
        describe(tensor, model, in->kind, layout);
    return 1;
}

static int32_t output(const UnetModel *model, int32_t i, UnetDoorTensor *tensor) {
    if (model->predict == NULL || i >= model->noutput)
        return 0;
    const UnetOutput *out = &model->outputs[i];
    const UnetLayout *layout = &model->predict->outputs[i];
    *tensor = (UnetDoorTensor){.name = out->name, .classes = out->classes};
    describe(tensor, model, out->kind, layout);
    return 1;
}

int32_t unet_door_tensor(const UnetDoor *door, int32_t list, int32_t i, UnetDoorTensor *tensor) {
    const UnetModel *model = model_of(door);
    const UnetProgram *const reads[] = {NULL, model->train, model->eval, model->predict};
    if (i < 0)
        return 0;
    if (list == UNET_DOOR_PARAMETERS)
        return parameter(model, i, tensor);
    if (list == UNET_DOOR_OUTPUTS)
        return output(model, i, tensor);
    return list > 0 && list < UNET_DOOR_OUTPUTS ? input(model, reads[list], i, tensor) : 0;
}

/* ---- results and rates ------------------------------------------------------------------------ */

int32_t unet_door_result(const UnetDoor *door, int32_t i, UnetDoorResult *result) {
    const UnetModel *model = model_of(door);
    if (i < 0 || i >= model->nresult)
        return 0;
    const UnetResult *r = &model->results[i];
    *result = (UnetDoorResult){.name = r->name,
                               .metric = r->metric,
                               .is_loss = r->kind == UNET_LOSS,
                               .higher_is_better = r->higher_is_better,
                               .weight = r->weight};
    return 1;
}

double unet_door_rate(const UnetDoor *door, double rate, int64_t step, int64_t steps,
                      int64_t steps_per_epoch) {
    const UnetTraining *training = model_of(door)->training;
    const UnetPlateau none = {.scale = 1};
    return training == NULL ? rate
                            : unet_schedule_rate(training->schedule, rate, &none, step,
                                                 (UnetLength){steps, steps_per_epoch});
}
