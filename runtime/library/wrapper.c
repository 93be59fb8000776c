/* wrapper.c - see wrapper.h. */
#include "wrapper.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {"module",     "_orig_mod",  "model",
                                    "net",        "network",    "params",
                                    "params_ema", "state_dict", "network_weights"};

/* How many characters of NAME, its dot included, are a word that wraps; 0: none. */
static size_t word_length(const char *name) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(name, words[i], length) == 0 && name[length] == '.') {
            return length + 1;
        }
    }
    return 0;
}

static int32_t found_with(const UnetModel *model, const UnetSafetensors *file, const char *prefix) {
    int32_t found = 0;
    for (int32_t i = 0; i < model->nparameter; i++) {
        char name[512];
        int length = snprintf(name, sizeof name, "%s%s", prefix, model->parameter[i].name);
        found += length > 0 && (size_t)length < sizeof name && unet_safetensors_find(file, name) >= 0;
    }
    return found;
}

/* A model has one wrapper, and its names are many: a tensor whose prefix was tried teaches nothing. */
void wrapper_of(const UnetModel *model, const UnetSafetensors *file, char prefix[WRAPPER_BYTES]) {
    enum { MOST_TRIED = 16 };
    char tried[MOST_TRIED][WRAPPER_BYTES] = {""};
    int ntried = 1;
    int32_t most = found_with(model, file, "");
    prefix[0] = '\0';
    for (int32_t i = 0; i < unet_safetensors_count(file) && most < model->nparameter; i++) {
        const char *name = unet_safetensors_tensor(file, i)->name;
        size_t length = 0;
        for (size_t next; (next = word_length(name + length)) > 0 && length + next < WRAPPER_BYTES;) {
            length += next;
            int known = 0;
            while (known < ntried &&
                   (strlen(tried[known]) != length || memcmp(tried[known], name, length) != 0)) {
                known++;
            }
            if (known < ntried || ntried == MOST_TRIED) {
                continue;
            }
            memcpy(tried[ntried], name, length);
            tried[ntried][length] = '\0';
            int32_t found = found_with(model, file, tried[ntried]);
            if (found > most) {
                most = found;
                memcpy(prefix, tried[ntried], length + 1);
            }
            ntried++;
        }
    }
}
