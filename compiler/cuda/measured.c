/* measured.c - engines that a program measured on its device, for the plan of the next one (measured.h).
 *
 * A row stands for one convolution with all its sizes.  A convolution without a row, since another plan
 * works on other parts of a batch or of an image, is left to cuDNN's advice, and whoever compiles is told
 * how many.
 */
#include "cuda/measured.h"
#include "base/diag.h"
#include "cuda/convolution.h"
#include "cuda/cudnn.h"

#include <stdlib.h>
#include <string.h>

const UnetEngineTable *measured_read(Pool *pool, const char *path, const char *architecture) {
    UnetEngineTable *table = NEW(pool, UnetEngineTable);
    UnetError error;
    const UnetStatus status = unet_engines_read(table, path, &error);
    UnetTimedEngine *row = NEW_ARRAY(pool, UnetTimedEngine, table->count);
    if (table->count > 0)
        memcpy(row, table->row, (size_t)table->count * sizeof *row);
    free(table->row);
    table->row = row;
    if (status != UNET_OK)
        environment_error("--engines: %s", error.text);
    if (table->device.capability < strtol(architecture + strlen("sm_"), NULL, 10))
        environment_error(
            "--engines: %s was measured on %s, which is sm_%d and does not run what is compiled "
            "for %s: choose its architecture with --target=cuda:ARCH",
            path, table->device.name, (int)table->device.capability, architecture);
    return table;
}

int measured_convolutions(const Plan *plan, int *all) {
    const UnetEngineTable *table = cudnn_measured((const CudnnQuery *)plan->options->device);
    int found = 0;
    *all = 0;
    for (int k = 0; k < PROGRAMS; k++) {
        const Graph *g = plan->program[k].model == NULL ? NULL : plan->program[k].graph;
        for (NodeId i = 0; g != NULL && i < g->nnode; i++) {
            const CudaChosen *chosen = g->node[i].chosen;
            for (int n = 0; chosen != NULL && n < chosen->count; n++) {
                const UnetConvolution *c = &chosen->convolution[n];
                const UnetTimedEngine *row = unet_engines_find(table, c, c->engine.workspace);
                found += row != NULL && unet_same_engine(&row->convolution.engine, &c->engine);
                ++*all;
            }
        }
    }
    return found;
}
