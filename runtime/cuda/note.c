/* note.c - the cuDNN that is here and the one that a program was planned with, in words.
 *
 * An engine means something to one version of cuDNN only.  Another one chooses again within the same bytes:
 * the program computes the same up to rounding, but may be faster or slower, and whoever measures it should
 * know.
 */
#include <inttypes.h>
#include <stdio.h>

#include "state.h"

enum { VERSION_TEXT = 48 };

/* 91900 as "9.19.0". */
static void format_version(char text[VERSION_TEXT], int64_t version) {
    (void)snprintf(text, VERSION_TEXT, "%" PRId64 ".%" PRId64 ".%" PRId64, version / 10000,
                   version / 100 % 100, version % 100);
}

/* The version on the compiler's machine; 0: it had none.  Convolutions without an engine are left out. */
static int64_t planned_version(const UnetCudaModel *tables) {
    int64_t version = 0;
    for (int32_t i = 0; i < tables->nconvolution && version == 0; i++)
        version = tables->convolution[i].engine.version;
    return version;
}

void unet_cuda_libraries(const UnetModel *model, char *text, size_t size) {
    const int64_t planned = planned_version(model->device_tables);
    char here[VERSION_TEXT], there[VERSION_TEXT] = "none";
    format_version(here, (int64_t)cudnnGetVersion());
    if (planned != 0)
        format_version(there, planned);
    (void)snprintf(text, size, "cuDNN %s, planned with %s", here, there);
}

/* The engines of one version of cuDNN, in the program or in a file, that this version did not take. */
static int32_t chosen_again(const UnetCuda *cuda, int64_t version) {
    int32_t again = 0;
    for (int32_t i = 0; i < cuda->tables->nconvolution; i++)
        again += !unet_cuda_plan(cuda, i)->pinned && unet_cuda_pinned(cuda, i).engine.version == version;
    return again;
}

static void note_again(const UnetCuda *cuda, char *text, size_t size) {
    const bool file = cuda->match != NULL;
    const int64_t planned = file ? cuda->table.device.cudnn : planned_version(cuda->tables);
    const int32_t again = chosen_again(cuda, planned);
    char libraries[2 * VERSION_TEXT + 32];
    text[0] = '\0';
    if (again == 0)
        return;
    unet_cuda_libraries(cuda->model, libraries, sizeof libraries);
    (void)snprintf(text, size,
                   "%s: engines chosen %s for %" PRId32 " of %" PRId32
                   " convolutions%s, within the planned bytes",
                   libraries, planned == 0 ? "here" : "again", again, cuda->tables->nconvolution,
                   file ? ", as it does not take those of the file" : "");
}

void unet_cuda_note(void *state, char *text, size_t size) {
    const UnetCuda *cuda = state;
    char again[512];
    note_again(cuda, again, sizeof again);
    (void)snprintf(
        text, size, "%s%s%s%s%s", cuda->not_used, cuda->not_used[0] != '\0' && again[0] != '\0' ? "\n" : "",
        again, cuda->other_driver && again[0] != '\0' ? "\n" : "",
        cuda->other_driver ? "the engines were measured with another driver: `tune` may find faster ones"
                           : "");
}
