/* run_data.c - which folder of data a run was trained on.
 *
 *     train.data    the path of that folder
 *
 * `holdout` and `folds` divide the data of the run.  `eval` on another folder measures all of that folder:
 * none of its samples was trained on.  Nothing is known of a run without the file, of a folder that is
 * gone, since it may have been moved, and of files that are named from the root.
 */
#define _DEFAULT_SOURCE /* realpath */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file beside the weights. */
static bool record_path(const Driver *driver, char path[UNET_PATH_BYTES]) {
    const char *weights = driver->options.weights, *slash = weights != NULL ? strrchr(weights, '/') : NULL;
    const int n = slash != NULL
                      ? snprintf(path, UNET_PATH_BYTES, "%.*s/train.data", (int)(slash - weights), weights)
                  : weights != NULL ? snprintf(path, UNET_PATH_BYTES, "train.data")
                                    : snprintf(path, UNET_PATH_BYTES, "%s/train.data", run_folder(driver));
    return n > 0 && n < UNET_PATH_BYTES;
}

UnetStatus run_data_note(const Driver *driver, UnetError *error) {
    char path[UNET_PATH_BYTES];
    UnetAtomicFile file;
    const int n = snprintf(path, sizeof path, "%s/train.data", run_folder(driver));
    char *folder = realpath(data_folder(driver), NULL);
    if (folder == NULL || n < 0 || (size_t)n >= sizeof path) {
        free(folder);
        return UNET_OK; /* then nothing is known of the run */
    }
    UnetStatus status = unet_atomic_open(&file, path, error);
    if (status == UNET_OK) {
        status = unet_atomic_write(&file, folder, strlen(folder), error);
        if (status == UNET_OK)
            status = unet_atomic_write(&file, "\n", 1, error);
        if (status == UNET_OK)
            status = unet_atomic_commit(&file, error);
        else
            unet_atomic_abandon(&file);
    }
    free(folder);
    return status;
}

/* The text of the file without its last line's end; false: there is none, or a longer one. */
static bool read_record(const Driver *driver, char text[UNET_PATH_BYTES]) {
    char path[UNET_PATH_BYTES];
    FILE *file = record_path(driver, path) ? fopen(path, "rb") : NULL;
    if (file == NULL)
        return false;
    const size_t bytes = fread(text, 1, UNET_PATH_BYTES, file);
    const bool whole = ferror(file) == 0 && bytes > 1 && bytes < UNET_PATH_BYTES && text[bytes - 1] == '\n';
    (void)fclose(file);
    text[whole ? bytes - 1 : 0] = '\0';
    return whole;
}

/* Whether a source names files from the root: then the folder says nothing. */
static bool names_root(const UnetData *data) {
    for (int32_t s = 0; s < data->nsource; s++)
        for (int32_t t = 0; t < data->source[s].nterm; t++) {
            const UnetSourceTerm *term = &data->source[s].term[t];
            if (term->op == UNET_SRC_FILES && *term->pattern == '/')
                return true;
        }
    return false;
}

bool run_data_elsewhere(const Driver *driver, char trained[UNET_PATH_BYTES]) {
    const UnetModel *model = driver->model;
    if (model->data == NULL || (model->data->holdout == 0 && model->data->folds == 0) ||
        (model->eval_data != NULL && model->eval_data->nsource > 0) || names_root(model->data) ||
        !read_record(driver, trained))
        return false;
    char *there = realpath(trained, NULL), *here = realpath(data_folder(driver), NULL);
    const bool other = there != NULL && here != NULL && strcmp(there, here) != 0;
    free(there);
    free(here);
    return other;
}
