/* diffuse.c - makes the operands of a diffusion model in the arena.
 *
 * The loader leaves pictures alone.  For each the program draws a time and noise, and mixes them (a node
 * each, in front of its first reader): the network reads the noisy picture and the time, a loss compares
 * with what the network is asked to tell.  Numbers of time and of targets stay as exact as the numbers
 * of the loader, whatever the type of activations.  Prediction takes the noisy picture and the time from
 * its caller, who samples.
 *
 * Requires: the graph as lowered.  Provides: the same graph with `diffuse` nodes in training and
 * evaluation.
 */
#include "ir/ops.h"
#include "passes/passes.h"

enum { PICTURE, TIME, TRUTH, PARTS };
enum { PREDICTION_OF_LOSS, TRUTH_OF_LOSS };

typedef struct {
    Program *program;
    Graph *g;
    ValueId given[PARTS]; /* the inputs and the target as declared, */
    ValueId made[PARTS];  /*   and what stands for them; -1: nobody has read it yet */
    ValueId root;         /* by which what a loss compares is multiplied; -1: nobody has read it yet */
} Diffuse;

static ValueId new_value(const Diffuse *d, int part) {
    Value value = d->g->value[d->given[part]];
    value.class = part == PICTURE ? CLASS_ACTIVATION : CLASS_STAGING;
    value.input = -1;
    value.name = pool_text(d->g->pool, "%s drawn", value.name);
    return value_new(d->g, value);
}

static ValueId make_time(const Diffuse *d, const double *root) {
    const Diffusion *diffusion = &d->program->model->diffusion;
    const Attributes a = {.kind = ATTRIBUTES_DIFFUSION,
                          .diffusion = {.times = diffusion->times,
                                        .root = root,
                                        .evaluates = d->program->kind == PROGRAM_EVAL}};
    const ValueId y = new_value(d, TIME);
    if (root != NULL) /* a factor has a number for each channel */
        d->g->value[y].shape.dim[0] = shape_channels(d->g->value[d->given[PICTURE]].shape);
    node_new(
        d->g,
        (Node){
            .op = OP_DIFFUSE_TIME, .nout = 1, .a = a, .name = d->g->value[y].name, .span = diffusion->span},
        NULL, &y);
    return y;
}

static ValueId make(const Diffuse *d, int part) {
    const Diffusion *diffusion = &d->program->model->diffusion;
    if (part == TRUTH && diffusion->objective == OBJECTIVE_PICTURE)
        return d->given[PICTURE];
    const UnetDiffused makes = part == PICTURE                           ? UNET_DIFFUSED_PICTURE
                               : diffusion->objective == OBJECTIVE_NOISE ? UNET_DIFFUSED_NOISE
                                                                         : UNET_DIFFUSED_VELOCITY;
    const Attributes a = {.kind = ATTRIBUTES_DIFFUSION,
                          .diffusion = {.kept = diffusion->kept,
                                        .times = diffusion->times,
                                        .makes = makes,
                                        .evaluates = d->program->kind == PROGRAM_EVAL}};
    const ValueId y = new_value(d, part), x = makes == UNET_DIFFUSED_NOISE ? -1 : d->given[PICTURE];
    node_new(d->g,
             (Node){.op = OP_DIFFUSE,
                    .nin = 1,
                    .nout = 1,
                    .a = a,
                    .name = d->g->value[y].name,
                    .span = diffusion->span},
             &x, &y);
    return y;
}

/* The value that stands for V. */
static ValueId diffused(Diffuse *d, ValueId v) {
    for (int part = 0; part < PARTS; part++) {
        if (v != d->given[part])
            continue;
        if (d->made[part] < 0)
            d->made[part] = part == TIME ? make_time(d, NULL) : make(d, part);
        return d->made[part];
    }
    return v;
}

static ValueId diffused_segments(Diffuse *d, ValueId v) {
    const Value concat = d->g->value[v];
    ValueId *segment = NEW_ARRAY(d->g->pool, ValueId, concat.nsegments);
    for (int p = 0; p < concat.nsegments; p++)
        segment[p] = diffused(d, concat.segment[p]);
    return value_concat_like(d->g, segment, concat.nsegments, concat);
}

static void change_inputs(Diffuse *d, Node *node) {
    ValueId *in = NEW_ARRAY(d->g->pool, ValueId, node->nin);
    for (int k = 0; k < node->nin; k++) {
        const bool concat = node->in[k] >= 0 && d->g->value[node->in[k]].nsegments > 0;
        in[k] = concat ? diffused_segments(d, node->in[k]) : diffused(d, node->in[k]);
    }
    node->in = in;
}

/* Is NODE a loss that compares with the truth? */
static bool is_weighted(const Diffuse *d, const Node *node) {
    const Model *model = d->program->model;
    bool found = false;
    for (int i = 0; i < model->nresult; i++)
        found |= model->result[i].is_loss && model->result[i].value == node->out[0] &&
                 node->in[TRUTH_OF_LOSS] == d->given[TRUTH];
    return found && model->diffusion.root != NULL;
}

/* V times the root of the weight: then its square has the weight. */
static ValueId weighted(Diffuse *d, const Node *loss, ValueId v) {
    if (d->root < 0)
        d->root = make_time(d, d->program->model->diffusion.root);
    Value value = d->g->value[v];
    value.class = CLASS_ACTIVATION;
    value.name = pool_text(d->g->pool, "%s weighted", value.name);
    const ValueId in[] = {v, d->root}, y = value_new(d->g, value);
    node_new(d->g, (Node){.op = OP_MULTIPLY, .nin = 2, .nout = 1, .name = value.name, .span = loss->span},
             in, &y);
    return y;
}

/* Walks the old list of nodes and appends each, with what it reads in front, to a new one. */
void diffuse_inputs(Program *program) {
    Model *model = program->model;
    const Diffusion *diffusion = &model->diffusion;
    if (program->kind == PROGRAM_PREDICT || !diffusion->present)
        return;
    Graph *g = program->graph;
    Diffuse d = {.program = program,
                 .g = g,
                 .given = {model->input[diffusion->picture].value, model->input[diffusion->time].value,
                           model->input[diffusion->truth].value},
                 .made = {-1, -1, -1},
                 .root = -1};
    const Node *old = g->node;
    const int n = g->nnode;
    g->node = NULL;
    g->nnode = 0;
    for (int i = 0; i < n; i++) {
        Node node = old[i];
        const bool weighs = is_weighted(&d, &node);
        change_inputs(&d, &node);
        for (int k = PREDICTION_OF_LOSS; weighs && k <= TRUTH_OF_LOSS; k++)
            node.in[k] = weighted(&d, &node, node.in[k]);
        node_new(g, node, node.in, node.out);
    }
    for (int i = 0; i < model->nresult; i++)
        if (model->result[i].truth == d.given[TRUTH] && d.made[TRUTH] >= 0)
            model->result[i].truth = d.made[TRUTH];
    pool_drop(g->pool, old);
}
