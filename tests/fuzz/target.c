/* target.c - what the fuzz targets share; the linker sends calls of exit() here (--wrap=exit). */
#define _GNU_SOURCE /* memfd_create */
#include "target.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/exit_codes.h"

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);

static jmp_buf back;
static bool is_caught;

_Noreturn void __wrap_exit(int status) {
    if (is_caught && status == EXIT_BUG)
        abort();
    if (is_caught)
        longjmp(back, 1);
    __real_exit(status);
}

void run_caught(void (*body)(void *), void *context) {
    is_caught = true;
    if (setjmp(back) == 0)
        body(context);
    is_caught = false;
}

const char *as_file(FuzzFile which, const uint8_t *data, size_t size) {
    static char path[FUZZ_FILES][64];
    static int opened[FUZZ_FILES] = {-1, -1};
    int *file = &opened[which];
    if (*file < 0)
        *file = memfd_create("fuzz", 0);
    if (*file < 0 || ftruncate(*file, 0) != 0 || pwrite(*file, data, size, 0) != (ssize_t)size)
        abort();
    snprintf(path[which], sizeof path[which], "/proc/self/fd/%d", *file);
    return path[which];
}

char *as_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}
