/* parameters.h - the weights of a model: initial values, saving and loading.
 *
 * All functions work on the arena, where the model's table says that the parameters lie. */
#ifndef UNET_PARAMETERS_H
#define UNET_PARAMETERS_H

#include "unet/model.h"
#include "unet/safetensors.h"
#include "unet/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initial weights, bit-identical to the weights that PyTorch draws after torch.manual_seed(seed) for the
 * same layers in the same order.  A double model gets the same float32 values, widened. */
void unet_parameters_init(const UnetModel *model, uint64_t seed, void *arena);

/* The place of the values of a parameter that eval and predict use: averaged values, or the trained ones.
 */
int64_t unet_weights_offset(const UnetModel *model, int32_t parameter);

/* How many numbers unet_parameters_init draws from the generator, for unet_shuffle_start. */
int64_t unet_parameter_draws(const UnetModel *model);

/* Writes the weights that eval and predict use under PyTorch's names; with MOMENTS the trained values,
 * and the optimiser's state as "optimizer.exp_avg.NAME" and so on, by PyTorch's names for it, and, if
 * losses are scaled, "optimizer.loss_scale".  A state in codes (unet/codes.h) is a tensor of bytes, and the
 * maxima of its blocks are "optimizer.absmax.exp_avg.NAME".  MORE: a tensor beside these, or NULL.
 * Allocates nothing. */
UNET_MUST_USE UnetStatus unet_parameters_save(const UnetModel *model, const void *arena, bool moments,
                                              const UnetTensor *more, const char *path,
                                              const UnetMetadata *metadata, int32_t nmetadata,
                                              UnetError *error);

/* The most bytes of a header, of a file with the weights of MODEL: of a checkpoint, or of another program,
 * which may have more tensors and notes than the model. */
int64_t unet_parameters_header(const UnetModel *model);

typedef enum {
    UNET_LOAD_ALL,      /* every parameter must be in the file with its shape */
    UNET_LOAD_MATCHING, /* the parameters that the file has with an equal name and shape; at least one */
} UnetLoadMode;

/* Called once for each parameter that was left as it was (UNET_LOAD_MATCHING), for each tensor of the file
 * that is not in the model (the optimiser's state excepted), and for a prefix such as "module." that wraps
 * all names of the file.  WHY: "not in the file", "is 16 x 3 x 3 x
 * 3 in the file, 16 x 1 x 3 x 3 here", "not in the model". */
typedef void UnetLoadReport(void *context, const char *name, const char *why);

/* Shapes are compared without dimensions of 1.  REPORT may be NULL. */
UNET_MUST_USE UnetStatus unet_parameters_load(const UnetModel *model, const UnetSafetensors *file,
                                              UnetLoadMode mode, void *arena, UnetLoadReport *report,
                                              void *context, UnetError *error);

/* The name of a parameter that has a value which is infinite or no number; NULL: none has. */
const char *unet_parameters_not_finite(const UnetModel *model, const void *arena);

/* Loads the optimiser's state as unet_parameters_save wrote it after STEP steps; all of it must be there.
 * A state in codes becomes reals, or the other way round, where the model keeps it so.  Only the loss scale
 * may be missing: it then starts anew. */
UNET_MUST_USE UnetStatus unet_moments_load(const UnetModel *model, const UnetSafetensors *file,
                                           int64_t step, void *arena, UnetError *error);

/* Whether the model, and the checkpoint in FILE, keep a state of the optimiser in codes. */
bool unet_has_state_codes(const UnetModel *model);
bool unet_file_has_state_codes(const UnetSafetensors *file);

/* Whether the checkpoint in FILE has a scale of the loss. */
bool unet_has_loss_scale(const UnetSafetensors *file);

#ifdef __cplusplus
}
#endif

#endif
