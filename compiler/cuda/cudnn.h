/* cudnn.h - asking cuDNN, without a device, how it would compute a convolution. */
#ifndef COMPILER_CUDNN_H
#define COMPILER_CUDNN_H

#include <stdbool.h>

#include "base/memory.h"
#include "unet/engines.h"

/* The workspace that any convolution may have, set aside for it if cuDNN cannot be asked. */
enum { CUDNN_WORKSPACE_CAP = UNET_MOST_WORKSPACE };

typedef struct CudnnQuery CudnnQuery;

/* Opens cuDNN for CARD, a name of cuda_cards (card.h): $UNETC_CUDNN (the library or its folder) if that is
 * set, else in lib of $CUDNN_ROOT, in the loader's folders, in lib64 of $CUDA_HOME and /usr/local/cuda.  If
 * there is none, the query answers all the same.  MEASURED: a table of engines, which come first, or NULL.
 */
CudnnQuery *cudnn_open(Pool *pool, const char *card, const UnetEngineTable *measured);
void cudnn_close(CudnnQuery *query);

/* The table of engines that was given, or NULL. */
const UnetEngineTable *cudnn_measured(const CudnnQuery *query);

/* NULL where cuDNN answers, else why it is not asked, in words. */
const char *cudnn_not_asked(const CudnnQuery *query);

/* Was there a convolution for which it named no engine, so that the cap holds?  If there is no driver, a
 * version of cuDNN may know few engines or none. */
bool cudnn_left_open(const CudnnQuery *query);

/* The device planned for, in cuDNN's words (JSON); NULL where cuDNN is not asked. */
const char *cudnn_device(const CudnnQuery *query);

/* For several threads at a time.  Fills C->engine with the fastest engine within the cap, as it was
 * measured, or as cuDNN sees it, that C allows; always the same for the same C.  If that is only the one
 * that cuDNN has for any form of this convolution, far slower than all others, and LITTLE workspace is not
 * asked for, an engine may need as much more as the operands have bytes: it may copy each of them. If cuDNN
 * cannot be asked: version 0 and the cap. False, and WHY, if cuDNN has no engine. */
bool cudnn_choose(CudnnQuery *query, UnetConvolution *c, bool little, const char **why);

#endif
