/* target.h - what the fuzz targets of this folder share.
 *
 * A target is a file with LLVMFuzzerTestOneInput(), which libFuzzer calls (cmake -DUNETC_FUZZ=ON), or
 * standalone.c.  Whatever the input: a refusal that says why, or a result; never worse. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls BODY, which may end the program: that is caught, unless it is for a bug of ours. */
void run_caught(void (*body)(void *), void *context);

/* DATA as a file, one of two that have no name on disk; it stays as it is until the next call for it. */
typedef enum { FUZZ_FIRST, FUZZ_SECOND, FUZZ_FILES } FuzzFile;
const char *as_file(FuzzFile which, const uint8_t *data, size_t size);

/* DATA as a text, to be freed. */
char *as_text(const uint8_t *data, size_t size);

#endif
