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

/* ---- the report at exit ----------------------------------------------------------------------------- */

struct Count {
    long launches, replays, allocations;
    size_t bytes, most_bytes; /* of device memory */
};
extern Count count;

const char *environment(const char *name); /* "" when not set */

} // namespace shim

#endif
