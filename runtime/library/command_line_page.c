/* command_line_page.c - see command_line_page.h. */
#include "command_line_page.h"

#include <stdarg.h>
#include <stdio.h>

void unet_page_print(UnetPage *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t left = page->size - page->length;
    int n = vsnprintf(page->text + page->length, left, format, arguments);
    va_end(arguments);
    if (n <= 0)
        return;
    n = (size_t)n < left ? n : (int)left - 1;
    for (int i = 0; i < n; i++)
        page->column = page->text[page->length + (size_t)i] == '\n' ? 0 : page->column + 1;
    page->length += (size_t)n;
}

bool unet_command_takes(const UnetOptionRow *row, int command) {
    return command >= 0 && (row->commands & 1u << command) != 0;
}
