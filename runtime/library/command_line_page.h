/* command_line_page.h - what the files of unet/command_line.h share: a text of limited room, and which
 * options a command has. */
#ifndef UNET_COMMAND_LINE_PAGE_H
#define UNET_COMMAND_LINE_PAGE_H

#include "unet/command_line.h"

/* Text that does not fit is left out. */
typedef struct {
    char *text;
    size_t size, length;
    size_t column, indent; /* column: where the next character goes; indent: of lines that go on */
} UnetPage;

void unet_page_print(UnetPage *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does COMMAND, or -1 for none, have the option ROW? */
bool unet_command_takes(const UnetOptionRow *row, int command);

#endif
