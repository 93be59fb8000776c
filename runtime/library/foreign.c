/* foreign.c - see foreign.h. */
#include "foreign.h"

#include <stdio.h>
#include <string.h>

/* ---- PyTorch's own files ------------------------------------------------------------------------ */

/* A zip archive, or, long ago, a pickle. */
bool is_of_torch_save(uint64_t first) {
    const uint64_t zip = 0x04034b50, pickle = UINT64_C(0x469cfc6c0a8a0280);
    return (first & UINT32_MAX) == zip || first == pickle;
}

/* A checkpoint of a trainer has the weights as one of its entries. */
UnetStatus fail_of_torch_save(const char *path, UnetError *error) {
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    const int stem = (int)(dot != NULL ? dot - path : (ptrdiff_t)strlen(path));
    return unet_fail(
        error, UNET_IO,
        "%.200s: a file of torch.save(), which may run code when it is read. Convert it once, in "
        "Python:\n"
        "    import torch; from safetensors.torch import save_file\n"
        "    w = torch.load(\"%.200s\", weights_only=True); w = w.get(\"state_dict\", w)\n"
        "    save_file({k: v.contiguous() for k, v in w.items()}, \"%.*s.safetensors\")",
        path, path, stem < 200 ? stem : 200, path);
}

/* ---- names --------------------------------------------------------------------------------------- */

/* Control characters are hidden: names come from the file. */
static void write_name(char *text, size_t size, const char *name, int length) {
    int i = 0;
    for (; i < length && name[i] != '\0' && (size_t)i < size - 1; i++) {
        const unsigned char c = (unsigned char)name[i];
        text[i] = c < 0x20 || c == 0x7f ? '?' : name[i];
    }
    text[i] = '\0';
}

/* The tensor whose name is NAME with something in front, up to a dot; -1: none. */
static int32_t longer_name(const UnetSafetensors *file, const char *name) {
    const size_t length = strlen(name);
    for (int32_t i = 0; i < unet_safetensors_count(file); i++) {
        const char *there = unet_safetensors_tensor(file, i)->name;
        const size_t more = strlen(there);
        if (more > length + 1 && there[more - length - 1] == '.' &&
            strcmp(there + more - length, name) == 0) {
            return i;
        }
    }
    return -1;
}

void advise_names(const UnetSafetensors *file, const char *name, char advice[ADVICE_BYTES]) {
    enum { SHOWN = 100 };
    char there[SHOWN], front[SHOWN];
    const int32_t found = longer_name(file, name), count = unet_safetensors_count(file);
    advice[0] = '\0';
    if (count == 0) {
        return;
    }
    const char *other = unet_safetensors_tensor(file, found < 0 ? 0 : found)->name;
    write_name(there, sizeof there, other, SHOWN);
    if (found < 0) {
        snprintf(advice, ADVICE_BYTES,
                 ". It has %d tensor%s, such as \"%s\"; where names differ, the model's own program takes "
                 "--map=FILE",
                 count, count == 1 ? "" : "s", there);
        return;
    }
    write_name(front, sizeof front, other, (int)(strlen(other) - strlen(name)));
    snprintf(advice, ADVICE_BYTES, ". It has \"%s\": --map=FILE with the line `%s* -> *` gives these names",
             there, front);
}
