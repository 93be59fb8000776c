/* page.h - one HTML file that needs no other: text, numbers and the look of tables, for report.c
 * and its like.
 *
 * Whatever page_text() is given is escaped, so a name of a file cannot become markup.  After a failure the
 * functions do nothing, and page_close() says what it was.  The page is well-formed XML but for its
 * DOCTYPE, and refers to nothing outside of itself. */
#ifndef PAGE_H
#define PAGE_H

#include <stdint.h>

#include "unet/atomic_file.h"
#include "unet/status.h"

typedef struct {
    UnetAtomicFile file;
    UnetStatus status;
    UnetError *error;
    size_t length; /* bytes in the buffer */
    char buffer[8192];
} Page;

/* Begins the file at PATH; the page is called TITLE. */
void page_open(Page *page, const char *path, const char *title, UnetError *error);
/* The file appears whole, or not at all. */
UNET_MUST_USE UnetStatus page_close(Page *page);

void page_markup(Page *page, const char *markup); /* as it is */
void page_text(Page *page, const char *text);     /* escaped */
/* As printf() has it, at most 511 bytes, not escaped: for numbers and markup. */
void page_format(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* BYTES as a part of an address "data:...;base64,". */
void page_base64(Page *page, const uint8_t *bytes, size_t count);

/* A row of a table of two columns. */
void page_row(Page *page, const char *name, const char *value);

#endif
