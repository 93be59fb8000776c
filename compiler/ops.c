/* ops.c - the operator table, made from ops.def. */
#include "ops.h"

#include <string.h>

const OpRow op_table[OPS] = {
#define OP(id, name, signature, build, gradient, flops, reach, in_place, sizes, cpu, cuda, eager)          \
    [OP_##                                                                                                 \
        id] = {name,     signature,     build_##build, gradient_##gradient, flops_##flops, reach_##reach,  \
               in_place, sizes_##sizes, cpu_##cpu,     cuda_##cuda,         eager_##eager},
#include "ops.def"
#undef OP
};

Op op_by_name(const char *name) {
    Op op = 0;
    while (op < OPS && (op_table[op].signature == NULL || strcmp(op_table[op].name, name) != 0))
        op++;
    return op;
}
