/* engines.h - a table of engines that were timed on a device, and its file, NAME.engines.json.
 *
 * A program times which engine of cuDNN computes each of its convolutions fastest and keeps the fastest in
 * a file.  From then on it runs these, and the compiler can plan with them.  An engine means something to
 * one version of cuDNN only, and a time to one device, so the file names both.
 *
 * A row is one convolution, all of its sizes included: a row says nothing of others.  There may be several
 * of one convolution, which were allowed different workspaces.
 */
#ifndef UNET_ENGINES_H
#define UNET_ENGINES_H

#include "cudnn.h"
#include "status.h"

typedef struct {
    char name[256];          /* "NVIDIA H100 80GB HBM3" */
    int32_t capability;      /* 90 for 9.0 */
    int32_t multiprocessors; /* how many */
    int64_t driver;          /* the newest CUDA that its driver knows: 13000 for 13.0 */
    int64_t cudnn;           /* 91900 for 9.19.0 */
} UnetEngineDevice;

/* CONVOLUTION.engine is the fastest one; its workspace is what it needs, in bytes. */
typedef struct {
    UnetConvolution convolution;
    double seconds, planned; /* that it takes, and that it takes by the engine of the plan */
} UnetTimedEngine;

typedef struct {
    UnetEngineDevice device;
    char model[256];
    int32_t count;
    UnetTimedEngine *row;
} UnetEngineTable;

/* UNET_IO, with the place in the file, where that cannot be read or is no such table.  The caller frees
 * TABLE, also after a failure. */
UNET_MUST_USE UnetStatus unet_engines_read(UnetEngineTable *table, const char *path, UnetError *error);

/* Whole or not at all; a row is a line. */
UNET_MUST_USE UnetStatus unet_engines_write(const UnetEngineTable *table, const char *path,
                                            UnetError *error);

void unet_engines_free(UnetEngineTable *table);

/* Whether two convolutions differ in nothing but their engines. */
bool unet_same_convolution(const UnetConvolution *a, const UnetConvolution *b);

/* Whether number and knobs of two engines agree; version and workspace may differ. */
bool unet_same_engine(const UnetEngine *a, const UnetEngine *b);

/* The fastest row of convolution C whose engine needs at most CAP bytes of workspace, or NULL. */
const UnetTimedEngine *unet_engines_find(const UnetEngineTable *table, const UnetConvolution *c,
                                         int64_t cap);

/* Why what was timed THERE does not count HERE, in words, or NULL: another device or cuDNN. */
const char *unet_engines_differ(const UnetEngineDevice *there, const UnetEngineDevice *here);

#endif
