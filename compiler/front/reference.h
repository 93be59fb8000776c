/* reference.h - what can stand in a file, printed from the tables by which files are read. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdio.h>

/* Section by section each setting as one types it, with its defaults, and what holds without it. */
void print_settings(FILE *out);

/* Each operator as one calls it. */
void print_operators(FILE *out);

#endif
