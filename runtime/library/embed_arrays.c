/* embed_arrays.c - the arrays that a caller hands over: which of them lie on a device, and which do not do.
 *
 * Requires: the tables of a model.  Provides: checked inputs for the steps of embed.c.
 */
#include <inttypes.h>

#include "embed_parts.h"

int64_t embed_points(const UnetLayout *layout) {
    return (int64_t)layout->size[0] * layout->size[1] * layout->size[2];
}

bool embed_may_round(const UnetModel *model, const UnetLayout *layout) {
    return model->stages_as_files && (layout->type == UNET_UNORM8 || layout->type == UNET_UNORM16);
}

UnetArrayPlace embed_place_of(const UnetModel *model, const UnetProgram *program, int32_t input,
                              const void *array) {
    return model->device == NULL ? UNET_ARRAY_ON_HOST
                                 : model->device->place_of(model, program, input, array);
}

static UnetStatus check_input(const UnetModel *model, const UnetProgram *program, int32_t i,
                              const void *values, UnetError *error) {
    const UnetLayout *layout = &program->inputs[i];
    const char *name = model->inputs[i].name;
    if (values == NULL)
        return unet_fail(error, UNET_USAGE, "%s of %s reads %s, which is NULL", program->name, model->name,
                         name);
    const UnetArrayPlace place = embed_place_of(model, program, i, values);
    if (place == UNET_ARRAY_ON_OTHER_DEVICE)
        return unet_fail(error, UNET_USAGE, "%s lies on another GPU than %s: copy it there first", name,
                         model->name);
    if (place == UNET_ARRAY_ON_DEVICE && embed_may_round(model, layout))
        return unet_fail(error, UNET_USAGE,
                         "%s lies on the GPU, and %s is compiled for numbers of files, which only the "
                         "host looks for: compile it with --staging=f32",
                         name, model->name);
    if (place == UNET_ARRAY_READ_BY_HOST &&
        (layout->origin != 0 || layout->sample_bytes != embed_points(layout)))
        return unet_fail(error, UNET_USAGE,
                         "%s lies on the GPU, and the host counts its labels: hand it over in the memory "
                         "of the host",
                         name);
    return UNET_OK;
}

UnetStatus embed_check_inputs(const UnetModel *model, const UnetProgram *program, const void *const *inputs,
                              UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < model->ninput && status == UNET_OK; i++)
        if (program->inputs[i].sample_bytes > 0)
            status = check_input(model, program, i, inputs[i], error);
    return status;
}

UnetStatus embed_check_outputs(const UnetModel *model, void *const *outputs, UnetError *error) {
    for (int32_t i = 0; i < model->noutput; i++)
        if (embed_place_of(model, model->predict, -1, outputs[i]) == UNET_ARRAY_ON_OTHER_DEVICE)
            return unet_fail(error, UNET_USAGE, "%s is to be written to another GPU than that of %s",
                             model->outputs[i].name, model->name);
    return UNET_OK;
}
