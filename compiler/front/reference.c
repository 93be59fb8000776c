/* reference.c - the operators, one a line; settings.c prints the settings. */
#include "front/reference.h"

#include "ir/ops.h"

void print_operators(FILE *out) {
    for (Op op = 0; op < OPS; op++)
        if (op_table[op].signature != NULL && op_table[op].signature[0] != '\0')
            fprintf(out, "%s\n", op_table[op].signature);
}
