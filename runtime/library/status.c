/* status.c - how failure is reported: a code and one sentence. */
#include "unet/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

UnetStatus unet_fail(UnetError *error, UnetStatus status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->kind = format;
    }
    return status;
}

void unet_fail_more(UnetError *error, const char *format, ...) {
    const size_t length = strlen(error->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text + length, sizeof error->text - length, format, arguments);
    va_end(arguments);
}
