/* instances.c FOLDER CASES f32|bf16|f16 auto|direct|winograd|fast [SHARE] - from cases to C, by the
 * compiler's own passes and emitter.
 *
 * CASES (cases.py writes it) names operators, the sizes of their operands and their attributes.  Each case
 * becomes a graph, which is completed, laid out and emitted as the graph of a program is: the row of an
 * operator says in which order its kernel takes the operands and what it does to them, the target what the
 * kernel needs beside them, the operator's rules which constants it has.  So a kernel is tested as a
 * program calls it, and none of this is written a second time.
 *
 * The words behind CASES are the type of tensors and how convolutions are computed.  With SHARE another
 * build has the other cases, so an operator may have none here.
 *
 * Writes the kernels of templates/cpu (fast_*.c) and of templates/reference (reference_kernels.c), and
 * cases.c, the table of kernels.h.  A case is lines of words:
 *
 *     case WORDS             a new one, and what it is called
 *     set KEY=VALUE ...      members of Case; bands: at most so many; zero_halo: the first operand's, too
 *     value NAME KIND C D H W ...    tensor, staged, bytes, shorts or labels; then the halo in front of the
 * axes, and behind value NAME KIND COUNT  numbers or doubles; vectors, sums: so many numbers, doubles for
 * each sample node OPERATOR OPERAND=VALUE ... ; ATTRIBUTE=NUMBERS ...
 *
 * VALUE is a name, or names with + between them, a concat, or -, which is none.
 */
#include "base/diag.h"
#include "cpu/emit_halo.h"
#include "emit/emit.h"
#include "emit/template.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "ir/verify.h"
#include "passes/passes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 16, MAX_WORDS = 64, MOST_THREADS = 4 /* of kernels.c */ };

/* ---- a case as it is read ---- */

typedef struct {
    char *word[MAX_WORDS];
    int count;
} Line;

typedef struct {
    const char *name, *settings;
    bool has_halo;
    int64_t bands; /* 0: the target's choice */
    int64_t samples;
    Line value[MAX_VALUES], node[MAX_VALUES];
    int nvalue, nnode;
} Case;

static Line words_of(Pool *pool, const char *text) {
    Line line = {.count = 0};
    char *rest = NULL, *copy = pool_copy(pool, text, strlen(text));
    for (char *w = strtok_r(copy, " \n", &rest); w != NULL; w = strtok_r(NULL, " \n", &rest)) {
        CHECK(line.count < MAX_WORDS);
        line.word[line.count++] = w;
    }
    return line;
}

/* The text behind KEY=, or NULL. */
static const char *setting(const Line *line, const char *key) {
    const size_t length = strlen(key);
    for (int i = 0; i < line->count; i++)
        if (strncmp(line->word[i], key, length) == 0 && line->word[i][length] == '=')
            return line->word[i] + length + 1;
    return NULL;
}

static int64_t number(const Line *line, const char *key) {
    const char *text = setting(line, key);
    return text == NULL ? 0 : strtoll(text, NULL, 10);
}

static double real_number(const Line *line, const char *key) {
    const char *text = setting(line, key);
    return text == NULL ? 0 : strtod(text, NULL);
}

/* "1,3,3" */
static void three(const Line *line, const char *key, int64_t out[AXES]) {
    const char *text = setting(line, key);
    for (int k = 0; k < AXES && text != NULL; k++) {
        char *end;
        out[k] = strtoll(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
}

static void read_settings(Case *c, Pool *pool, const Line *line) {
    c->has_halo = number(line, "zero_halo") != 0;
    c->bands = number(line, "bands");
    c->samples = number(line, "samples");
    const char *members = "";
    for (int i = 1; i < line->count; i++)
        if (strncmp(line->word[i], "zero_halo", 9) != 0 && strncmp(line->word[i], "bands", 5) != 0)
            members = pool_text(pool, "%s.%s, ", members, line->word[i]);
    c->settings = members;
}

static int read_cases(Pool *pool, FILE *file, Case **all) {
    int count = 0;
    char text[8192];
    while (fgets(text, sizeof text, file) != NULL) {
        const Line line = words_of(pool, text);
        text[strcspn(text, "\n")] = '\0';
        if (strcmp(line.word[0], "case") == 0) {
            const Case new = {.name = pool_copy(pool, text + 5, strlen(text + 5)), .settings = ""};
            PUSH(pool, *all, count, new);
            continue;
        }
        Case *c = &(*all)[count - 1];
        CHECK(c->nvalue < MAX_VALUES && c->nnode < MAX_VALUES);
        if (strcmp(line.word[0], "set") == 0)
            read_settings(c, pool, &line);
        else if (strcmp(line.word[0], "value") == 0)
            c->value[c->nvalue++] = line;
        else
            c->node[c->nnode++] = line;
    }
    return count;
}

/* ---- its graph ---- */

static Value value_of(const Line *line, const Options *options) {
    const char *kind = line->word[2];
    Value v = {.name = line->word[1], .class = CLASS_PARAMETER_GRADIENT, .type = options->real};
    v.shape = (Shape){.rank = 1, .dim = {strtoll(line->word[3], NULL, 10)}};
    if (strcmp(kind, "numbers") == 0 && line->count > 4) { /* the rows of a matrix */
        v.shape.rank = 2;
        v.shape.dim[1] = strtoll(line->word[4], NULL, 10);
    }
    if (strcmp(kind, "doubles") == 0 || strcmp(kind, "sums") == 0) {
        v.class = CLASS_METRIC;
        v.type = TYPE_F64;
        v.per_sample = strcmp(kind, "sums") == 0;
    } else if (strcmp(kind, "vectors") == 0) {
        v.class = CLASS_BATCH_STATISTIC;
        v.per_sample = true;
    } else if (strcmp(kind, "numbers") != 0) {
        const bool labels = strcmp(kind, "labels") == 0, bytes = strcmp(kind, "bytes") == 0,
                   shorts = strcmp(kind, "shorts") == 0,
                   staged = bytes || shorts || strcmp(kind, "staged") == 0;
        v.class = labels || staged ? CLASS_STAGING : CLASS_ACTIVATION;
        v.type = labels || strcmp(kind, "codes") == 0 ? TYPE_U8
                 : bytes                              ? TYPE_UNORM8
                 : shorts                             ? TYPE_UNORM16
                 : staged                             ? options->real
                                                      : options->stored;
        v.per_sample = true;
        v.shape.rank = 4;
        for (int k = 1; k <= AXES; k++)
            v.shape.dim[k] = strtoll(line->word[3 + k], NULL, 10);
    }
    return v;
}

static ValueId find_value(const Graph *g, const char *name, size_t length) {
    for (ValueId v = 0; v < g->nvalue; v++)
        if (strlen(g->value[v].name) == length && strncmp(g->value[v].name, name, length) == 0)
            return v;
    BUG("a case has no value `%.*s`", (int)length, name);
}

/* Whatever TEXT stands for: see above. */
static ValueId operand_value(Graph *g, const char *text, const Operand *row) {
    ValueId *segment = NULL;
    int count = 0;
    if (text == NULL || strcmp(text, "-") == 0)
        return -1;
    for (const char *s = text; *s != '\0'; s += *s == '+') {
        const size_t length = strcspn(s, "+");
        ValueId v = find_value(g, s, length);
        if (row->access == ACCESS_UPDATE)
            g->value[v].class = CLASS_STATE;
        PUSH(g->pool, segment, count, v);
        s += length;
    }
    return count == 1 ? segment[0] : value_concat(g, segment, count, text, (Span){0});
}

static const char *row_text(Pool *pool, const Operand *row) {
    return pool_copy(pool, row->name, (size_t)row->length);
}

/* Fills ID in the order of the row; operands that the case does not name are left off at its end. */
static int operand_values(Graph *g, const Line *line, const Operand *row, int count, ValueId *id) {
    int used = 0;
    for (int k = 0; k < count; k++) {
        const char *text = setting(line, row_text(g->pool, &row[k]));
        id[k] = operand_value(g, text, &row[k]);
        used = text != NULL ? k + 1 : used;
    }
    return used;
}

static Op op_named(const char *name) {
    for (Op op = 0; op < OPS; op++)
        if (strcmp(op_table[op].name, name) == 0)
            return op;
    BUG("ops.def has no `%s`", name);
}

static Window window_of(const Line *line) {
    Window w = {.dilation = {1, 1, 1}};
    three(line, "kernel", w.kernel);
    three(line, "stride", w.stride);
    three(line, "dilation", w.dilation);
    three(line, "padding", w.before);
    return w;
}

/* NULL where no classes are told. */
static const LabelAttributes *labels_of(Pool *pool, const Line *line) {
    LabelAttributes *a = NEW(pool, LabelAttributes);
    *a = (LabelAttributes){.classes = number(line, "classes"),
                           .smoothing = real_number(line, "smoothing"),
                           .gamma = real_number(line, "gamma")};
    a->numbers = number(line, "numbers") != 0;
    a->ignore = number(line, "ignore") - 1;
    a->overlap = (OverlapAttributes){.over_both = real_number(line, "over"),
                                     .under_both = real_number(line, "both"),
                                     .under_predicted = real_number(line, "predicted"),
                                     .under_truly = real_number(line, "truly"),
                                     .smooth = real_number(line, "smooth"),
                                     .epsilon = real_number(line, "epsilon"),
                                     .background = number(line, "background") != 0,
                                     .batch = number(line, "batch") != 0,
                                     .squared = number(line, "squared") != 0,
                                     .joint = number(line, "joint") != 0};
    a->hard = (HardAttributes){.threshold = real_number(line, "threshold"),
                               .share = real_number(line, "share"),
                               .least = real_number(line, "least")};
    a->sums_itself = setting(line, "smooth") != NULL || setting(line, "threshold") != NULL ||
                     setting(line, "sorts") != NULL;
    double *weight = NEW_ARRAY(pool, double, a->classes);
    for (int64_t k = 0; k < a->classes; k++)
        weight[k] = 0.5 + (double)k / 4;
    a->class_weight = number(line, "weighted") != 0 ? weight : NULL;
    return a->classes == 0 ? NULL : a;
}

/* "axis of y, step there, extent, axis of x, step there, ...": five numbers for each part of the axes. */
static Rearrangement *rearrangement_of(Pool *pool, const Line *line) {
    Rearrangement *r = NEW(pool, Rearrangement);
    for (const char *text = setting(line, "split"); text != NULL && *text != '\0'; r->count++) {
        int64_t of_part[5];
        for (int k = 0; k < 5; k++) {
            char *end;
            of_part[k] = strtoll(text, &end, 10);
            text = *end == ',' ? end + 1 : end;
        }
        r->part[r->count] = (AxisPart){.y_axis = (int)of_part[0],
                                       .y_step = of_part[1],
                                       .extent = of_part[2],
                                       .x_axis = (int)of_part[3],
                                       .x_step = of_part[4]};
    }
    return r;
}

static Attributes attributes_of(Pool *pool, const Line *line, Op op) {
    Attributes a = {.kind = op_table[op].attributes};
    switch (a.kind) {
    case ATTRIBUTES_NONE:
    case ATTRIBUTES_HEAD: /* made by fuse.c */
        break;
    case ATTRIBUTES_CONV:
        a.conv.window = window_of(line);
        a.conv.channel_begin = number(line, "channel_begin");
        a.conv.channels = number(line, "channels");
        a.conv.phase = number(line, "phase");
        a.conv.groups = number(line, "groups");
        break;
    case ATTRIBUTES_POOL:
        a.pool.window = window_of(line);
        a.pool.inside = number(line, "inside") != 0;
        break;
    case ATTRIBUTES_SLICE:
        a.slice.channel_begin = number(line, "channel_begin");
        break;
    case ATTRIBUTES_PART:
        a.part.begin = number(line, "begin");
        break;
    case ATTRIBUTES_REDUCTION:
        a.reduction.limit = real_number(line, "limit");
        break;
    case ATTRIBUTES_LOSS:
        a.loss.weight = real_number(line, "weight");
        a.loss.epsilon = real_number(line, "eps");
        a.loss.beta = real_number(line, "beta");
        a.loss.range = real_number(line, "range");
        a.loss.labels = labels_of(pool, line);
        break;
    case ATTRIBUTES_NORM:
        a.norm = (NormAttributes){.epsilon = real_number(line, "epsilon"),
                                  .leaky = number(line, "leaky") != 0,
                                  .slope = real_number(line, "slope"),
                                  .momentum = real_number(line, "momentum"),
                                  .groups = number(line, "groups"),
                                  .root_mean = number(line, "root_mean") != 0,
                                  .batch = number(line, "batch") != 0,
                                  .points = number(line, "points"),
                                  .transposed = number(line, "transposed") != 0};
        break;
    case ATTRIBUTES_MAP:
        a.map.parameter = real_number(line, "parameter");
        a.map.second = real_number(line, "second");
        a.map.function = (UnetFunction)number(line, "function");
        break;
    case ATTRIBUTES_RESIZE:
        three(line, "step", a.resize.step);
        three(line, "offset", a.resize.offset);
        three(line, "unit", a.resize.unit);
        int64_t border[AXES] = {0};
        three(line, "border", border);
        for (int k = 0; k < AXES; k++)
            a.resize.border[k] = (UnetBorder)border[k];
        a.resize.number = real_number(line, "beyond");
        a.resize.linear = number(line, "linear") != 0;
        a.resize.zero = number(line, "zero") != 0;
        break;
    case ATTRIBUTES_AFFINE:
        a.affine.factor = real_number(line, "factor");
        a.affine.term = real_number(line, "term");
        break;
    case ATTRIBUTES_VALUES:
        a.values.count = (int)number(line, "count");
        double *value = NEW_ARRAY(pool, double, a.values.count);
        for (int i = 0; i < a.values.count; i++)
            value[i] = 0.5 - (double)i / 4;
        a.values.value = value;
        a.values.cosines_first = number(line, "cosines_first") != 0;
        break;
    case ATTRIBUTES_ATTENTION:
        a.attention = (AttentionAttributes){.heads = number(line, "heads"),
                                            .scale = real_number(line, "scale"),
                                            .causal = number(line, "causal") != 0,
                                            .normalize = number(line, "normalize") != 0,
                                            .linear = number(line, "linear") != 0,
                                            .pairs = number(line, "pairs")};
        three(line, "window", a.attention.window);
        three(line, "shift", a.attention.shift);
        break;
    case ATTRIBUTES_REARRANGE:
        a.rearrange = rearrangement_of(pool, line);
        break;
    case ATTRIBUTES_DROPOUT:
        a.dropout.rate = real_number(line, "rate");
        a.dropout.number = number(line, "number");
        break;
    case ATTRIBUTES_COMPRESS:
        a.compress.bits = number(line, "bits");
        a.compress.signs = (UnetGroupSigns)number(line, "signs");
        a.compress.number = number(line, "number");
        a.compress.slope = real_number(line, "slope");
        break;
    case ATTRIBUTES_DIFFUSION:
        a.diffusion.times = (int)number(line, "times");
        a.diffusion.makes = (UnetDiffused)number(line, "makes");
        a.diffusion.evaluates = number(line, "evaluates") != 0;
        double *kept = NEW_ARRAY(pool, double, a.diffusion.times);
        for (int i = 0; i < a.diffusion.times; i++)
            kept[i] = 1 - (double)(i + 1) / (a.diffusion.times + 1);
        a.diffusion.kept = kept;
        a.diffusion.root = number(line, "weighted") != 0 ? kept : NULL;
        break;
    case ATTRIBUTES_UPDATE:
        a.update.optimizer = (Optimizer){.kind = (OptimizerKind)number(line, "optimizer"),
                                         .beta1 = real_number(line, "beta1"),
                                         .beta2 = real_number(line, "beta2"),
                                         .epsilon = real_number(line, "epsilon"),
                                         .weight_decay = real_number(line, "weight_decay"),
                                         .momentum = real_number(line, "momentum"),
                                         .dampening = real_number(line, "dampening"),
                                         .alpha = real_number(line, "alpha"),
                                         .nesterov = number(line, "nesterov") != 0,
                                         .amsgrad = number(line, "amsgrad") != 0,
                                         .centered = number(line, "centered") != 0};
        a.update.clip = real_number(line, "clip");
        a.update.average = real_number(line, "average");
        break;
    }
    return a;
}

/* The words in front of `;`, or those behind it. */
static Line part_of(const Line *line, bool behind) {
    int end = 0;
    Line part = {.count = 0};
    while (end < line->count && strcmp(line->word[end], ";") != 0)
        end++;
    for (int i = behind ? end + 1 : 0; i < (behind ? line->count : end); i++)
        part.word[part.count++] = line->word[i];
    return part;
}

static bool has_operand(const Operand *row, int count, const char *word) {
    const size_t length = strcspn(word, "=");
    for (int k = 0; k < count; k++)
        if ((size_t)row[k].length == length && strncmp(row[k].name, word, length) == 0)
            return true;
    return false;
}

static void add_node(Graph *g, const Line *line) {
    ValueId out[MAX_OUTPUTS], in[MAX_INPUTS];
    const Op op = op_named(line->word[1]);
    const Operands *row = &g->operands[op];
    const Line operands = part_of(line, false), attributes = part_of(line, true);
    Node node = {.op = op, .name = line->word[1], .a = attributes_of(g->pool, &attributes, op)};
    for (int i = 2; i < operands.count; i++)
        if (!has_operand(row->out, row->nout, operands.word[i]) &&
            !has_operand(row->in, row->nin, operands.word[i]))
            BUG("the row of `%s` has no operand for %s", node.name, operands.word[i]);
    node.nout = operand_values(g, &operands, row->out, row->nout, out);
    node.nin = operand_values(g, &operands, row->in, row->nin, in);
    node_new(g, node, in, out);
}

/* ---- the ways in which it is computed ---- */

typedef enum { SIDE_REFERENCE, SIDE_FAST, SIDE_FUSED, SIDE_ADDS, SIDES } SideKind;

typedef struct {
    Pool *pool;
    Emitter *emitter[2]; /* of the reference kernels, and of the fast ones, */
    bool *called[2];     /*   and per operator: some case calls its kernel */
    Choices choices;
} Work;

static Emitter *emitter_of(const Work *work, SideKind side) {
    return work->emitter[side != SIDE_REFERENCE];
}

static bool is_sum(const Graph *g, const Node *node) {
    return node->nout > 0 && g->operands[node->op].out[0].access == ACCESS_SUM;
}

static bool has_sums(const Graph *g) {
    bool sums = false;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            sums |= t.operand->access == ACCESS_SUM;
    return sums;
}

/* A result without samples, of operands with samples, is a sum over these; its row has to say so, or that
 * it sees the whole batch. */
static void check_sums(const Graph *g) {
    for (int i = 0; i < g->nnode; i++) {
        bool samples = false;
        if (has_trait(&g->node[i], TRAIT_WHOLE_BATCH))
            continue;
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            samples |= !t.is_output && g->value[t.value].per_sample;
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (samples && t.is_output && t.operand->access == ACCESS_WRITE &&
                !g->value[t.value].per_sample)
                BUG("the row of `%s` does not say that `%.*s` is a sum", g->node[i].name, t.operand->length,
                    t.operand->name);
    }
}

/* Fewer bands than the target would choose, so that the scratch is large enough. */
static void set_bands(const Case *c, Graph *g) {
    for (int i = 0; i < g->nnode && c->bands > 0; i++) {
        Attributes *a = &g->node[i].a;
        int64_t *bands = a->kind == ATTRIBUTES_CONV ? &a->conv.bands : &a->loss.bands;
        if (is_sum(g, &g->node[i]) && *bands > c->bands)
            *bands = c->bands;
    }
}

/* Has a kernel do what the next one does, too, where the target can; returns whether there is such a pair.
 */
static bool join_nodes(const Program *program) {
    Graph *g = program->graph;
    bool *stays = NEW_ARRAY(g->pool, bool, g->nnode), joins = false;
    for (int i = 0; i < g->nnode; i++) {
        JoinRule *rule = program->target->kernel[g->node[i].op].join;
        Node joined = g->node[i > 0 ? i - 1 : 0];
        stays[i] = i == 0 || rule == NULL || !rule(g, &g->node[i - 1], &g->node[i], &joined);
        if (!stays[i])
            g->node[i - 1] = joined;
        joins |= !stays[i];
    }
    graph_compact(g, stays);
    return joins;
}

/* The program of CASE, in its final form but for layouts; NULL: there is no such way to compute it. */
static Program *program_for(const Work *work, const Case *c, SideKind side) {
    const Plan *plan = emitter_of(work, side)->plan;
    Program *program = NEW(work->pool, Program);
    Graph *g = graph_new(work->pool);
    *program = (Program){.options = plan->options,
                         .choices = &work->choices,
                         .target = plan->target,
                         .model = plan->model,
                         .graph = g,
                         .batch = c->samples,
                         .micro_batch = c->samples,
                         .control = -1};
    for (int i = 0; i < c->nvalue; i++)
        value_new(g, value_of(&c->value[i], plan->options));
    for (int i = 0; i < c->nnode; i++)
        add_node(g, &c->node[i]);
    verify_graph(g, c->name, NULL, 0);
    check_sums(g);
    if (side == SIDE_FUSED || side == SIDE_ADDS)
        fuse(program);
    const bool fused = g->nnode < c->nnode;
    if (side == SIDE_ADDS && !has_sums(g))
        return NULL;
    for (int i = 0; i < g->nnode; i++)
        g->node[i].accumulates = side == SIDE_ADDS;
    prepare(program);
    if (side == SIDE_FUSED && !join_nodes(program) && !fused)
        return NULL;
    set_bands(c, g);
    verify_graph(g, c->name, NULL, 0);
    choose_layouts(program);
    return program;
}

/* Has it points in each sample? */
static bool is_tensor(const Value *value) {
    return value->per_sample && value->shape.rank > 1;
}

/* Operands lie alike on all sides: as the program wants that fuses nothing, with a halo that others might
 * want. */
static void widen_layouts(const Case *c, Program *program) {
    const Graph *g = program->graph;
    for (ValueId v = 0; v < c->nvalue; v++) {
        Layout *s = &program->layout[v];
        for (int k = 0; k < AXES && is_tensor(&g->value[v]); k++) {
            const int64_t before = strtoll(c->value[v].word[7 + k], NULL, 10);
            const int64_t after = strtoll(c->value[v].word[7 + AXES + k], NULL, 10);
            s->before[k] = before > s->before[k] ? before : s->before[k];
            s->after[k] = after > s->after[k] ? after : s->after[k];
        }
        program->target->lay_out(&g->value[v], c->samples, s);
    }
}

/* The buffers of an optimiser end with their last number here: they have no padding. */
static void trim_updated(const Program *program) {
    const Graph *g = program->graph;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]);
             has_trait(&g->node[i], TRAIT_UPDATES) && touch_next(&t);)
            program->layout[t.value].bytes =
                shape_elements(g->value[t.value].shape) * type_bytes(g->value[t.value].type);
}

/* A buffer for each value, numbered alike. */
static void set_buffers(Emitter *e, Program *program) {
    const Graph *g = program->graph;
    Plan *plan = NEW(e->pool, Plan);
    *plan = *e->plan;
    plan->buffer = NULL;
    plan->nbuffer = 0;
    plan->region_elements = shape_elements(g->value[0].shape);
    program->buffer_of = NEW_ARRAY(g->pool, int, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++) {
        const Buffer new = {.name = "", .space = SPACE_DEVICE, .offset = v, .same = -1, .slice = -1};
        PUSH(g->pool, plan->buffer, plan->nbuffer, new);
        program->buffer_of[v] = v;
    }
    e->plan = plan;
}

/* ---- what becomes of it ---- */

static void begin_function(Emitter *e, Text *out, const char *name) {
    e->out = out;
    text_line(out, "static void %s(const Call *call, void *const *at) {", name);
    out->depth++;
    text_line(out, "TOLD(call);");
}

static void end_function(Emitter *e) {
    e->out->depth--;
    text_line(e->out, "}");
}

/* The rows of a range that a kernel computes, 0: it computes none, and the rows where ranges may begin: row
 * tile * k - phase of a plane, which has `height`. */
typedef struct {
    int64_t rows, height, tile, phase;
} Ranges;

/* The node that has samples, if it is the only one; others pack weights for it. NULL: there is none. */
static const Node *node_with_samples(const Graph *g) {
    const Node *found = NULL;
    for (int i = 0; i < g->nnode; i++) {
        if (found != NULL && has_samples(g, &g->node[i]))
            return NULL;
        found = has_samples(g, &g->node[i]) ? &g->node[i] : found;
    }
    return found;
}

/* The ranges that the kernel of NODE computes, which are rows of V. */
static Ranges ranges_of(const Graph *g, const Node *node, ValueId v) {
    enum { TILE = 4 };
    const Shape shape = g->value[v].shape;
    const bool tiles = node->a.kind == ATTRIBUTES_CONV && node->a.conv.tiles > 0;
    return (Ranges){shape_rows(shape), shape_extent(shape, 1), tiles ? TILE : 1,
                    tiles ? node->a.conv.phase : 0};
}

/* Appends the function NAME, which calls the kernels of PROGRAM; returns the ranges that the only one that
 * works on samples computes, if it does. */
static Ranges emit_side(Emitter *e, const Program *program, bool *called, Text *out, const char *name) {
    const Graph *g = program->graph;
    const Step step = {.rows = 1}; /* so that calls ask for their rows */
    Ranges ranges = {.tile = 1};
    e->step = &step;
    begin_function(e, out, name);
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        const char *template = template_of(e, node);
        called[node->op] = true;
        Constants c = constants_new(e, program, node, template);
        op_table[node->op].constants(&c, node);
        emit_call(e, &c, instance_for(e, template, &c), c.before, c.after);
        if (c.rows_of >= 0 && node == node_with_samples(g) && !node->whole_rows)
            ranges = ranges_of(g, node, c.rows_of);
    }
    end_function(e);
    e->step = NULL;
    return ranges;
}

static void emit_halo(Emitter *e, const Program *program, Text *out, const char *name) {
    const Step step = {.rows = 1};
    e->step = &step;
    begin_function(e, out, name);
    cpu_emit_zero_halo(e, program, &program->graph->node[0], program->graph->node[0].out[0]);
    end_function(e);
    e->step = NULL;
}

/* "{run, ranges, bytes of what it needs beside the operands, rings}" */
static const char *side_text(Pool *pool, const Case *c, const Program *program, const char *name, Ranges r,
                             const char *rings) {
    const Graph *g = program->graph;
    const char *beside = "";
    for (ValueId v = c->nvalue; v < g->nvalue; v++) {
        const Value *value = &g->value[v];
        const bool concat = value->nsegments > 0;
        beside =
            pool_text(pool, "%s%lld, ", beside,
                      concat ? 1LL : (long long)(shape_elements(value->shape) * type_bytes(value->type)));
    }
    return pool_text(pool, "{%s, {%lld, %lld, %lld, %lld}, %d, {%s}, %s}", name, (long long)r.rows,
                     (long long)r.height, (long long)r.tile, (long long)r.phase, g->nvalue - c->nvalue,
                     beside, rings);
}

/* ---- the operands ---- */

typedef struct {
    bool computed, updated, is_read;
    ValueId place; /* that it may take the place of, or -1 */
} Use;

static Use use_of(const Program *program, ValueId v) {
    const Graph *g = program->graph;
    Use use = {.place = -1};
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);) {
            if (t.value != v)
                continue;
            use.computed |= t.is_output;
            use.updated |= !t.is_output && t.writes;
            use.is_read |= !t.is_output && t.reads;
            if (t.is_output && t.operand->in_place >= 0 && t.operand->in_place < g->node[i].nin)
                use.place = g->node[i].in[t.operand->in_place];
        }
    if (use.place >= 0 && (g->value[use.place].type != g->value[v].type ||
                           !same_layout(&program->layout[use.place], &program->layout[v])))
        use.place = -1;
    return use;
}

static const char *layout_text(Pool *pool, const Program *program, ValueId v) {
    const Value *value = &program->graph->value[v];
    const Layout *s = &program->layout[v];
    return !is_tensor(value)
               ? "{0}"
               : pool_text(pool, "{%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld}",
                           (long long)shape_channels(value->shape), (long long)s->block,
                           (long long)s->blocks, (long long)s->origin, (long long)s->sample,
                           (long long)s->plane, (long long)s->depth, (long long)s->row, (long long)s->ring);
}

/* FUSED: the program in which as much is fused as can be. */
static const char *operand_text(Pool *pool, const Program *program, const Program *fused, ValueId v) {
    static const char *const kind[] = {
        [CLASS_ACTIVATION] = "TENSOR", [CLASS_STAGING] = "STAGED", [CLASS_METRIC] = "DOUBLES"};
    const Value *value = &program->graph->value[v];
    const Use use = use_of(program, v);
    const long long elements = value->per_sample ? (long long)(program->batch * program->layout[v].sample)
                                                 : (long long)shape_elements(value->shape);
    return pool_text(pool, "{\"%s\", %s, %s, %s, {%lld, %lld, %lld}, %lld, %d},", value->name,
                     use.updated    ? "UPDATED"
                     : use.computed ? (use.is_read ? "INNER" : "COMPUTED")
                                    : "GIVEN",
                     value->type == TYPE_F64       ? (value->per_sample ? "EACH" : "DOUBLES")
                     : value->type == TYPE_U8      ? "LABELS"
                     : value->type == TYPE_UNORM8  ? "BYTES"
                     : value->type == TYPE_UNORM16 ? "SHORTS"
                     : is_tensor(value)            ? kind[value->class]
                     : value->per_sample           ? "VECTORS"
                                                   : "NUMBERS",
                     layout_text(pool, program, v), (long long)shape_extent(value->shape, 0),
                     (long long)shape_extent(value->shape, 1), (long long)shape_extent(value->shape, 2),
                     elements, use_of(fused, v).place);
}

/* ---- rings ---- */

/* The rows of V that NODE touches to compute the rows OUT. */
static RowRange rows_touched(const Graph *g, const Node *node, ValueId v, RowRange out) {
    RowRange all = {0, 0};
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        if (t.value != v || !is_tensor(&g->value[v]))
            continue;
        const RowRange rows = t.is_output ? out : op_table[node->op].rows(g, node, t.number, 1, out);
        const bool first = all.begin >= all.end;
        all.begin = first || rows.begin < all.begin ? rows.begin : all.begin;
        all.end = first || rows.end > all.end ? rows.end : all.end;
    }
    return all;
}

/* Rings are for images. */
static bool is_flat(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const Window *w = node_window(node);
    if (w != NULL && (w->kernel[0] > 1 || w->before[0] > 0))
        return false;
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (is_tensor(&g->value[t.value]) && shape_extent(g->value[t.value].shape, 0) > 1)
            return false;
    return true;
}

static void lay_out_ring(Layout *s, int64_t rows) {
    enum { ALIGNED = 16 };
    s->ring = rows;
    s->origin = s->before[2] * s->block;
    s->plane = s->depth = rows * s->row;
    s->sample = (s->plane * s->blocks + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Appends what ranges of BAND rows touch of each operand, and makes rings of the operands, which hold that
 * and SPARE rows; where the halo is zeroed, that as well. */
static void emit_needs(const Case *c, Program *program, int64_t rows, int64_t band, int64_t spare,
                       const char *name, Text *out) {
    const Graph *g = program->graph;
    const Node *node = node_with_samples(g);
    int64_t most[MAX_VALUES] = {0};
    text_line(out, "static const Rows %s_need[][MAX_OPERANDS] = {", name);
    for (int64_t at = 0; at < rows; at += band) {
        text_add(out, "    {");
        for (ValueId v = 0; v < c->nvalue; v++) {
            const RowRange need =
                rows_touched(g, node, v, (RowRange){at, at + band < rows ? at + band : rows});
            text_add(out, "{%lld, %lld}, ", (long long)need.begin, (long long)need.end);
            most[v] = need.end - need.begin > most[v] ? need.end - need.begin : most[v];
        }
        text_add(out, "},\n");
    }
    text_line(out, "};");
    text_line(out, "static const Layout %s_layout[] = {", name);
    for (ValueId v = 0; v < c->nvalue; v++) {
        Layout *s = &program->layout[v];
        const int64_t halo = v == 0 && c->has_halo ? s->before[1] + s->after[1] : 0;
        if (is_tensor(&g->value[v]))
            lay_out_ring(s, most[v] + halo + spare > 0 ? most[v] + halo + spare : 1);
        text_line(out, "    %s,", layout_text(program->graph->pool, program, v));
    }
    text_line(out, "};");
}

/* Appends the same on rings, as functions whose names begin with NAME; returns the member of the table. */
static const char *emit_rings(const Work *work, const Case *c, SideKind side, Ranges ranges, int index,
                              const Layout *layout, const char *name, Text *functions) {
    Program *program = program_for(work, c, side);
    Emitter *e = emitter_of(work, side);
    const int64_t band = 1 + index % 4, spare = index % 3;
    const int64_t rows = ranges.rows;
    if (rows == 0 || ranges.tile > 1 || !is_flat(program, node_with_samples(program->graph)))
        return "{0}";
    name = pool_text(work->pool, "%s_rings", name);
    memcpy(program->layout, layout, (size_t)c->nvalue * sizeof *layout);
    emit_needs(c, program, rows, band, spare, name, functions);
    set_buffers(e, program);
    emit_side(e, program, work->called[side != SIDE_REFERENCE], functions, name);
    const char *halo = "NULL";
    if (c->has_halo) {
        halo = pool_text(work->pool, "%s_halo", name);
        emit_halo(e, program, functions, halo);
    }
    return pool_text(work->pool, "{%s, %s, %lld, %lld, %lld, %lld, %s_layout, %s_need}", name, halo,
                     (long long)band, (long long)iterations(rows, band), (long long)layout[0].before[1],
                     (long long)layout[0].after[1], name, name);
}

/* ---- a case ---- */

static void emit_case(const Work *work, const Case *c, int index, Text *functions, Text *table) {
    static const char *const name[SIDES] = {"REFERENCE", "FAST", "FUSED", "ADDS"};
    Pool *pool = work->pool;
    Program *plain = program_for(work, c, SIDE_FAST), *fused = plain;
    Text sides = text_new(pool);
    widen_layouts(c, plain);
    trim_updated(plain);
    for (SideKind side = 0; side < SIDES; side++) {
        Program *program = program_for(work, c, side);
        Emitter *e = emitter_of(work, side);
        if (program == NULL)
            continue;
        memcpy(program->layout, plain->layout, (size_t)c->nvalue * sizeof *plain->layout);
        fused = side == SIDE_FUSED ? program : fused;
        set_buffers(e, program);
        emit_offsets(e, functions);
        const char *function = pool_text(pool, "case%d_%s", index, name[side]);
        const Ranges ranges =
            emit_side(e, program, work->called[side != SIDE_REFERENCE], functions, function);
        const char *rings = emit_rings(work, c, side, ranges, index, plain->layout, function, functions);
        text_line(&sides, "    .side[%s] = %s,", name[side],
                  side_text(pool, c, program, function, ranges, rings));
        if (c->has_halo && side <= SIDE_FAST) {
            function = pool_text(pool, "case%d_%s_halo", index, name[side]);
            emit_halo(e, program, functions, function);
            text_line(&sides, "    .side[%s_HALO] = {%s, {0}, 0, {0}, {0}},", name[side], function);
        }
    }
    text_line(table, "{%s, %s.noperand = %d, .operand = {", c_quoted(pool, c->name), c->settings,
              c->nvalue);
    for (ValueId v = 0; v < c->nvalue; v++)
        text_line(table, "    %s", operand_text(pool, plain, fused, v));
    text_add(table, "},\n%s},\n", sides.bytes);
}

/* ---- the files ---- */

static void write_file(const char *folder, const SourceFile *source) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, source->name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fputs(source->text->bytes, file) == EOF || fclose(file) != 0)
        BUG("cannot write %s: %s", path, strerror(errno));
}

static const char *type_lines(const Plan *plan) {
    return plan->options->stored == TYPE_BF16  ? "#define UNET_REAL float\n#define UNET_STORED_BF16"
           : plan->options->stored == TYPE_F16 ? "#define UNET_REAL float\n#define UNET_STORED_F16"
                                               : "#define UNET_REAL float";
}

static void write_kernels(Emitter *e, Sources *sources) {
    const Plan *plan = e->plan;
    const bool fast = e->dialect->form == FORM_INCLUDED;
    Text declarations = text_new(plan->pool), functions = text_new(plan->pool);
    const char *head = pool_text(plan->pool, "%s_declarations.h", plan->model->name);
    const Hole kernels[] = {{"types", type_lines(plan)}, {"prologue", prologue_text(e)}, {NULL, NULL}};
    emit_declarations(e, &declarations);
    emit_file(plan, sources, "program/kernels.h.in",
              pool_text(plan->pool, "%s_kernels.h", plan->model->name), kernels);
    Text *plan_header = source_new(plan->pool, sources, head);
    text_line(plan_header, "#include \"%s_kernels.h\"\n%s", plan->model->name, declarations.bytes);
    if (!fast) {
        emit_functions(e, &functions);
        const Hole hole[] = {{"functions", functions.bytes}, {NULL, NULL}};
        emit_file(plan, sources, "program/kernels.c.in", "reference_kernels.c", hole);
    }
    if (fast)
        emit_template_files(e, sources);
}

static void write_cases(const Work *work, Sources *sources, const Text *functions, const Text *table) {
    Text *out = source_new(work->pool, sources, "cases.c");
    Text declarations = text_new(work->pool), sizes = text_new(work->pool);
    for (int k = 0; k < 2; k++) {
        emit_declarations(work->emitter[k], &declarations);
        emit_sizes(work->emitter[k], &sizes);
    }
    text_add(out, "#include \"kernels.h\"\n\n%s\n%s\n%s\nconst Case cases[] = {\n%s};\n",
             declarations.bytes, sizes.bytes, functions->bytes, table->bytes);
    text_add(out, "const int case_count = sizeof cases / sizeof *cases;\n");
}

/* Has templates/FOLDER a kernel for OP, or, if FOLDER is NULL, any folder? */
static bool has_kernel(const char *folder, Op op) {
    const char *own = targets[0]->kernel[op].template, *shared = own != NULL ? own : shared_kernel[op],
               *file = shared != NULL ? shared : op_table[op].name;
    const size_t length = strlen(file), prefix = folder == NULL ? 0 : strlen(folder);
    for (const Template *t = templates; t->file != NULL; t++) {
        const char *name = strchr(t->file, '/');
        if (name == NULL || strncmp(name + 1, file, length) != 0 || name[1 + length] != '.')
            continue;
        if (folder == NULL || (t->file + prefix == name && strncmp(t->file, folder, prefix) == 0))
            return true;
    }
    return false;
}

/* Every operator has a kernel somewhere, and what this folder has is called in some case; what ends the
 * sums of a loop over bands stands behind one, in tests/whole/bands.py, and what groups of samples need in
 * tests/whole/ranks.py. */
static bool all_tested(const Emitter *e, const bool *called) {
    int missing = 0;
    for (Op op = 0; op < OPS; op++) {
        const bool there = has_kernel(e->dialect->folder, op);
        if (!has_kernel(NULL, op) && (op_table[op].traits & (TRAIT_OF_RUNTIME | TRAIT_CALLS)) == 0)
            missing += printf("FAILED: templates/ has no kernel for `%s`\n", op_table[op].name) > 0;
        if (there && !called[op] &&
            (op_table[op].traits & (TRAIT_ENDS_SUMS | TRAIT_OF_RANKS | TRAIT_MERGES | TRAIT_CALLS)) == 0)
            missing += printf("FAILED: no case calls the kernel of `%s` in templates/%s\n",
                              op_table[op].name, e->dialect->folder) > 0;
    }
    return missing == 0;
}

/* ---- the two sets of kernels ---- */

static Type stored_type(const char *text) {
    return strcmp(text, "bf16") == 0 ? TYPE_BF16 : strcmp(text, "f16") == 0 ? TYPE_F16 : TYPE_F32;
}

static ConvMethod conv_method(const char *text) {
    return strcmp(text, "direct") == 0     ? CONV_DIRECT
           : strcmp(text, "winograd") == 0 ? CONV_WINOGRAD
           : strcmp(text, "fast") == 0     ? CONV_FAST
                                           : CONV_AUTO;
}

/* An emitter of the reference kernels, or of the fast ones. */
static Emitter *emitter_new(Pool *pool, bool fast, Type stored, ConvMethod conv) {
    static const Dialect reference = {"reference", ".c", "cpu", "UNUSED static void", FORM_CALLED, ""},
                         included = {"cpu", ".c", NULL, "UNUSED static void", FORM_INCLUDED, ""};
    Options *options = NEW(pool, Options);
    Model *model = NEW(pool, Model);
    Plan *plan = NEW(pool, Plan);
    Emitter *e = NEW(pool, Emitter);
    *options = (Options){.target = targets[0],
                         .reference = !fast,
                         .conv = conv,
                         .stored = stored,
                         .max_threads = MOST_THREADS,
                         .command = "",
                         .training = ""};
    *model = (Model){.pool = pool, .name = fast ? "fast" : "reference", .source = "cases"};
    *plan =
        (Plan){.pool = pool, .options = options, .target = targets[0], .model = model, .source_hash = ""};
    *e = (Emitter){.plan = plan, .dialect = fast ? &included : &reference, .pool = pool, .keeps = pool};
    return e;
}

static void write_all(const Work *work, const char *folder, const Text *functions, const Text *table) {
    Sources sources = {0};
    for (int k = 0; k < 2; k++)
        write_kernels(work->emitter[k], &sources);
    write_cases(work, &sources, functions, table);
    for (int i = 0; i < sources.count; i++)
        write_file(folder, &sources.file[i]);
}

int main(int argc, char **argv) {
    const bool all = argc == 5; /* else another build has the other cases */
    FILE *file = all || argc == 6 ? fopen(argv[2], "r") : NULL;
    CHECK(file != NULL);
    Pool *pool = pool_new();
    Case *cases = NULL;
    Work work = {.pool = pool, .called = {NEW_ARRAY(pool, bool, OPS), NEW_ARRAY(pool, bool, OPS)}};
    const int count = read_cases(pool, file, &cases);
    (void)fclose(file);
    for (int k = 0; k < 2; k++)
        work.emitter[k] = emitter_new(pool, k == 1, stored_type(argv[3]), conv_method(argv[4]));
    Text functions = text_new(pool), table = text_new(pool);
    for (int i = 0; i < count; i++)
        emit_case(&work, &cases[i], i, &functions, &table);
    write_all(&work, argv[1], &functions, &table);
    const bool reference = !all || all_tested(work.emitter[0], work.called[0]),
               fast = !all || all_tested(work.emitter[1], work.called[1]);
    pool_free(pool);
    return reference && fast ? 0 : 1;
}
