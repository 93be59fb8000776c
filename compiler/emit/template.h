/* template.h - the kernel templates, as strings of the compiler (templates/embed.cmake makes them). */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>

typedef struct {
    const char *file; /* "cpu/conv.c"; NULL ends the table */
    const char *text;
} Template;

extern const Template templates[];

/* The text of a template; a missing one is a bug. */
const char *template_text(const char *file);
bool has_template(const char *file);

#endif
