/* safetensors.h - the file format of weights and checkpoints.
 *
 * A file is read in place: opening it reads and checks the header alone (every length, offset and name, no
 * holes, no duplicate keys), and each tensor then goes straight to where it is wanted.  Writing allocates
 * nothing and is atomic (atomic_file.h).
 */
#ifndef UNET_SAFETENSORS_H
#define UNET_SAFETENSORS_H

#include <stdint.h>
#include "unet/model.h"
#include "unet/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { UNET_MAX_RANK = 8 };

/* ---- reading ---- */

typedef struct {
    const char *name;
    const char *type; /* as in the file: "F32" */
    int32_t rank;
    int64_t dim[UNET_MAX_RANK];
    int64_t count;      /* of elements */
    int64_t begin, end; /* bytes of the data section */
} UnetTensorInfo;

typedef struct UnetSafetensors UnetSafetensors;

/* MOST: bytes that the header may have at most, from which the memory follows that it takes; see
 * unet_parameters_header.  On failure *FILE is NULL and the error names the path and, where there is one,
 * the tensor. */
UNET_MUST_USE UnetStatus unet_safetensors_open(UnetSafetensors **file, const char *path, int64_t most,
                                               UnetError *error);
void unet_safetensors_close(UnetSafetensors *file); /* NULL is fine */

/* Gives the tensors the names of a map, a text file at PATH: lines `THEIRS -> OURS`, a '*' for any
 * characters, `THEIRS ->` to leave tensors out.  Once for each file; after a failure the file can only be
 * closed. */
UNET_MUST_USE UnetStatus unet_safetensors_rename(UnetSafetensors *file, const char *path, UnetError *error);

const char *unet_safetensors_path(const UnetSafetensors *file);
int32_t unet_safetensors_count(const UnetSafetensors *file);
const UnetTensorInfo *unet_safetensors_tensor(const UnetSafetensors *file,
                                              int32_t index);                        /* by name, sorted */
int32_t unet_safetensors_find(const UnetSafetensors *file, const char *name);        /* -1: none */
const char *unet_safetensors_metadata(const UnetSafetensors *file, const char *key); /* NULL: none */

/* All values of tensor INDEX, converted from F32, F64, F16 or BF16 to TYPE (UNET_F32 or UNET_F64); or from
 * U8, as they are, to UNET_U8. */
UNET_MUST_USE UnetStatus unet_safetensors_read(const UnetSafetensors *file, int32_t index, UnetType type,
                                               void *values, UnetError *error);

/* ---- writing ---- */

/* The name in the file is PREFIX followed by NAME. */
typedef struct {
    const char *prefix, *name;
    UnetType type; /* UNET_F32, UNET_F64 or UNET_U8 */
    int32_t rank;
    int64_t dim[UNET_MAX_RANK];
    const void *values; /* NULL: this tensor is left out of the file */
} UnetTensor;

typedef struct {
    const char *key, *value;
} UnetMetadata;

/* Describes tensor INDEX; called several times, and must give the same answer each time. */
typedef void UnetTensorSource(const void *context, int32_t index, UnetTensor *tensor);

UNET_MUST_USE UnetStatus unet_safetensors_save(const char *path, UnetTensorSource *source,
                                               const void *context, int32_t count,
                                               const UnetMetadata *metadata, int32_t nmetadata,
                                               UnetError *error);

#ifdef __cplusplus
}
#endif

#endif
