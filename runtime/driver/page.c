/* page.c - one HTML file that needs no other; page.h has the contract. */
#include "page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char head[] =
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#222;--back:#fff;--faint:#ddd;--soft:#666;--train:#1f6fb4;"
    "--eval:#d2601a}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#ddd;--back:#16181c;--faint:#383c44;--soft:#999;"
    "--train:#6ab0f3;--eval:#f59a5b}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "background:var(--back);color:var(--ink)}\n"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}h3{font-size:1rem;margin:1rem 0 0}\n"
    "table{border-collapse:collapse}td,th{padding:.15rem .6rem;border:1px solid var(--faint);"
    "text-align:left;vertical-align:top;overflow-wrap:anywhere}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:normal}\n"
    ".wide{overflow-x:auto}.soft{color:var(--soft)}\n"
    "svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--soft)}\n"
    ".grid{stroke:var(--faint)}.line{fill:none;stroke-width:1.6}\n"
    ".train{stroke:var(--train)}.eval{stroke:var(--eval)}.key{stroke-width:3}\n"
    ".dot.train{fill:var(--train)}.dot.eval{fill:var(--eval)}\n"
    ".bar{background:var(--train);height:.8rem;min-width:1px}.swatch{display:inline-block;width:.8rem;"
    "height:.8rem;border:1px solid var(--soft)}\n"
    ".pictures{display:flex;flex-wrap:wrap;gap:.6rem}figure{margin:0;width:18rem;max-width:100%}\n"
    "img{width:100%;height:auto;display:block;border:1px solid var(--faint)}"
    ".points{image-rendering:pixelated}figcaption{color:var(--soft);overflow-wrap:anywhere}\n"
    ".ended{border-left:.3rem solid var(--eval);padding-left:.6rem}\n"
    "</style>\n</head>\n<body>\n<h1>";

static void flush(Page *page) {
    if (page->status == UNET_OK && page->length > 0)
        page->status = unet_atomic_write(&page->file, page->buffer, page->length, page->error);
    page->length = 0;
}

static void put(Page *page, const char *bytes, size_t count) {
    while (count > 0 && page->status == UNET_OK) {
        const size_t room = sizeof page->buffer - page->length, part = count < room ? count : room;
        memcpy(page->buffer + page->length, bytes, part);
        page->length += part;
        bytes += part;
        count -= part;
        if (page->length == sizeof page->buffer)
            flush(page);
    }
}

void page_markup(Page *page, const char *markup) {
    put(page, markup, strlen(markup));
}

/* Control characters have no place in a page. */
static const char *escape_of(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return (unsigned char)c < ' ' || c == 127 ? "?" : NULL;
    }
}

void page_text(Page *page, const char *text) {
    for (; *text != '\0'; text++) {
        const char *escape = escape_of(*text);
        if (escape != NULL)
            page_markup(page, escape);
        else
            put(page, text, 1);
    }
}

void page_format(Page *page, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    page_markup(page, text);
}

void page_base64(Page *page, const uint8_t *bytes, size_t count) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const size_t left = count - i;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        const char four[] = {digit[bits >> 18], digit[bits >> 12 & 63],
                             left > 1 ? digit[bits >> 6 & 63] : '=', left > 2 ? digit[bits & 63] : '='};
        put(page, four, sizeof four);
    }
}

void page_row(Page *page, const char *name, const char *value) {
    page_markup(page, "<tr><th>");
    page_text(page, name);
    page_markup(page, "</th><td>");
    page_text(page, value);
    page_markup(page, "</td></tr>\n");
}

void page_open(Page *page, const char *path, const char *title, UnetError *error) {
    page->error = error;
    page->length = 0;
    page->status = unet_atomic_open(&page->file, path, error);
    page_markup(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                      "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>");
    page_text(page, title);
    page_markup(page, "</title>\n");
    page_markup(page, head);
    page_text(page, title);
    page_markup(page, "</h1>\n");
}

UnetStatus page_close(Page *page) {
    page_markup(page, "</body>\n</html>\n");
    flush(page);
    if (page->status == UNET_OK)
        page->status = unet_atomic_commit(&page->file, page->error);
    else
        unet_atomic_abandon(&page->file);
    return page->status;
}
