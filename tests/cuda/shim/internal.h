/* internal.h - what the parts of the shim know of each other. */
#ifndef SHIM_INTERNAL_H
#define SHIM_INTERNAL_H

#include "shim.h"

namespace shim {

/* ---- stream.cpp ------------------------------------------------------------------------------------- */

/* True while a graph is captured, which cannot hold a call that waits or allocates: the capture is spoilt.
 */
bool spoils_capture(void);
bool captures(cudaStream_t stream);
void finish(cudaStream_t stream); /* does all that the stream was asked to do */
void finish_all(void);

/* ERROR, or, once the device has failed, that failure, whatever is asked of it. */
cudaError_t answer(cudaError_t error);
void stop_device(void); /* it fails */

/* ---- the report at exit ----------------------------------------------------------------------------- */

struct Count {
    long launches, replays, allocations;
    size_t bytes, most_bytes; /* of device memory */
};
extern Count count;

const char *environment(const char *name); /* "" when not set */

} // namespace shim

#endif
