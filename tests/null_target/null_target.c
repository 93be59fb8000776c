/* null_target.c - the smallest target: tensors without halo or blocks, kernels that need nothing, and one
 * file that lists the steps of each program.  It shows what a new target is: a folder, and a line in
 * targets.def (here in more_targets.def). */
#include "null_target.h"
#include "base/size_math.h"
#include "emit/sources.h"
#include "ir/ops.h"

enum { ALIGN = 16 };

static const KernelRow kernels[OPS];

/* Dense, in the order of PyTorch; a halo is not stored. */
static void lay_out(const Value *value, int64_t batch, Layout *s) {
    const Shape shape = value->shape;
    *s = (Layout){.block = 1};
    s->blocks = value->per_sample ? shape_channels(shape) : shape_elements(shape);
    s->row = shape_extent(shape, 2);
    s->depth = size_product(shape_extent(shape, 1), s->row);
    s->plane = size_product(shape_extent(shape, 0), s->depth);
    s->sample = shape_elements(shape);
    s->bytes = size_rounded(size_product(size_product(s->sample, batch), type_bytes(value->type)), ALIGN);
}

static const char *refuses(const Options *options, bool builds) {
    (void)options;
    return builds ? "--target=null writes text: give it a folder with -S" : NULL;
}

static void list_steps(const Program *program, const Step *step, int nstep, int depth, Text *out) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            text_line(out, "%*s%lld %s:", depth, "", (long long)step[i].times, loop_text(step[i].axis));
            list_steps(program, step[i].body, step[i].nbody, depth + 4, out);
            continue;
        }
        const Node *node = &program->graph->node[step[i].node];
        text_line(out, "%*s%s %s", depth, "", op_table[node->op].name, node->name);
    }
}

static void emit(const Plan *plan, Sources *sources) {
    Text *out = source_new(plan->pool, sources, pool_text(plan->pool, "%s.txt", plan->model->name));
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1)) {
        text_line(out, "%s, %lld bytes:", p->name, (long long)p->extent);
        list_steps(p, p->step, p->nstep, 4, out);
    }
}

static const char *c_flags(const Options *options) {
    (void)options;
    return "";
}

const Target target_null = {.name = "null",
                            .align = ALIGN,
                            .slice_align = ALIGN,
                            .byte_cost = 1,
                            .kernel = kernels,
                            .refuses = refuses,
                            .lay_out = lay_out,
                            .emit = emit,
                            .c_flags = c_flags};
