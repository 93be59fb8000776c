/* rows.c - prints the operator table (ops.def) as JSON, for tests that are written in Python: a row for
 * each operator, its operands in the order in which a kernel takes them.  See rows.py. */
#include "ir/ops.h"

#include <stdio.h>

static const char *const access_text[] = {
    [ACCESS_READ] = "read",     [ACCESS_WRITE] = "write",     [ACCESS_SUM] = "sum",
    [ACCESS_UPDATE] = "update", [ACCESS_SCRATCH] = "scratch", [ACCESS_PARAMETER] = "parameter"};

static const char *truth(bool is) {
    return is ? "true" : "false";
}

static void print_operand(const Operands *row, const Operand *o, bool is_output, bool is_first) {
    printf("%s\n        {\"name\": \"%.*s\", \"access\": \"%s\", \"output\": %s, \"optional\": %s, "
           "\"segments\": %s, \"region\": %s, \"in_place\": ",
           is_first ? "" : ",", o->length, o->name, access_text[o->access], truth(is_output),
           truth(o->optional), truth(o->segments), truth(o->region));
    if (o->in_place < 0)
        printf("null}");
    else
        printf("\"%.*s\"}", row->in[o->in_place].length, row->in[o->in_place].name);
}

static void print_row(Op op) {
    const Operands row = operands_parse(op_table[op].operands);
    printf("%s\n    \"%s\": {\"operands\": [", op == 0 ? "" : ",", op_table[op].name);
    for (int i = 0; i < row.nout; i++)
        print_operand(&row, &row.out[i], true, i == 0);
    for (int i = 0; i < row.nin; i++)
        print_operand(&row, &row.in[i], false, row.nout + i == 0);
    printf("]}");
}

int main(void) {
    printf("{");
    for (Op op = 0; op < OPS; op++)
        print_row(op);
    printf("\n}\n");
    return 0;
}
