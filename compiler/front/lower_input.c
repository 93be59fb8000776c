/* lower_input.c - declarations: inputs and targets with their shapes, outputs, shared layers. */
#include "front/lower_state.h"
#include "ir/labels.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <string.h>

static const char *const kinds[] = {[KIND_IMAGE] = "image",
                                    [KIND_VOLUME] = "volume",
                                    [KIND_SIGNAL] = "signal",
                                    [KIND_NUMBER] = "number",
                                    [KIND_LABELS] = "labels"};

enum { FEW = 4 }; /* channels: more of them are rather a height or a width */
static const int64_t MAX_EXTENT = INT64_C(1) << 24;

/* ---- inputs and targets ---- */

static void report_type(Lower *l, const Stmt *stmt, const char *name) {
    static const char *const types[] = {"image", "volume", "signal", "number", "labels", "index"};
    const char *near = unet_nearest_word(name, types, (int)(sizeof types / sizeof *types));
    diag_begin(l->diag, ERROR, "U0212", stmt->value->mark, "there is no type `%s`", name);
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    diag_note(l->diag, "the types are: image(channels, height, width), volume(channels, depth, height, "
                       "width), signal(channels, length), number, labels(classes)");
    diag_end(l->diag);
}

static bool report_labels_read(Lower *l, const Stmt *stmt) {
    diag_begin(l->diag, ERROR, "U0213", stmt->value->mark,
               "an input cannot be labels: the network reads numbers");
    diag_help(l->diag, "write `target %s : %s`", stmt->name, expr_text(l->pool, stmt->value));
    diag_end(l->diag);
    return false;
}

static bool find_kind(Lower *l, const Stmt *stmt, Kind *kind) {
    const char *name = stmt->value->text;
    for (*kind = KIND_IMAGE; *kind <= KIND_LABELS; ++*kind)
        if (strcmp(name, kinds[*kind]) == 0)
            return *kind != KIND_LABELS || stmt->kind == STMT_TARGET || report_labels_read(l, stmt);
    if (strcmp(name, "index") == 0) {
        diag_begin(l->diag, ERROR, "U0202", stmt->value->mark, "`%s` is not in this version of unetc",
                   name);
        diag_note(l->diag, "this version has: image volume signal number labels");
        diag_end(l->diag);
    } else {
        report_type(l, stmt, name);
    }
    return false;
}

/* `ignore = 255` of labels; another named argument is no size. */
static bool is_ignore(const Arg *arg, Kind kind) {
    return kind == KIND_LABELS && arg->name != NULL && strcmp(arg->name, "ignore") == 0;
}

static bool read_ignore(Lower *l, const Arg *arg, int64_t *ignore) {
    const Datum d = eval(l, arg->value);
    *ignore = d.integer;
    if (d.kind == DATUM_INTEGER && d.integer >= 0 && d.integer <= UINT16_MAX)
        return true;
    if (d.kind != DATUM_ERROR) {
        diag_begin(l->diag, ERROR, "U0213", arg->span,
                   "`ignore` is a value in the files, a whole number from 0 to %d", UINT16_MAX);
        diag_end(l->diag);
    }
    return false;
}

/* A declaration has sizes; the section `data` says how files are read. */
static bool report_named(Lower *l, const Expr *type, const Arg *arg, Kind kind) {
    static const char *const of_files[] = {"values",  "others", "colours", "round", "channels",
                                           "missing", "exif",   "page",    "entry", "alpha"};
    static const char *const plural[] = {[KIND_IMAGE] = "images",
                                         [KIND_VOLUME] = "volumes",
                                         [KIND_SIGNAL] = "signals",
                                         [KIND_LABELS] = "labels"};
    bool in_files = false;
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        in_files |= strcmp(arg->name, of_files[i]) == 0;
    diag_begin(l->diag, ERROR, "U0213", arg->span, "`%s` has no argument `%s`", type->text, arg->name);
    if (in_files)
        diag_help(l->diag,
                  "it says how files are read: in the section `data` write `%s(\"folder/*.png\", %s = %s)`",
                  plural[kind], arg->name, expr_text(l->pool, arg->value));
    else
        diag_help(l->diag, kind == KIND_LABELS ? "it takes the number of classes, `ignore`, and sizes"
                                               : "it takes channels and sizes");
    diag_end(l->diag);
    return false;
}

/* The first of labels is how many classes there are. */
static bool read_dimensions(Lower *l, const Expr *type, Kind kind, Shape *shape, int64_t *ignore) {
    for (int i = 0; i < type->args.count; i++) {
        const Arg *arg = &type->args.item[i];
        if (is_ignore(arg, kind)) {
            if (!read_ignore(l, arg, ignore))
                return false;
            continue;
        }
        if (arg->name != NULL)
            return report_named(l, type, arg, kind);
        Datum d = eval(l, arg->value);
        if (d.kind == DATUM_ERROR)
            return false;
        const bool classes = kind == KIND_LABELS && shape->rank == 0;
        const int64_t least = classes ? 2 : 1, most = classes ? MOST_CLASSES : MAX_EXTENT;
        bool good = d.kind == DATUM_INTEGER && d.integer >= least && d.integer <= most;
        if (!good || shape->rank == MAX_RANK) {
            diag_begin(l->diag, ERROR, "U0213", arg->span,
                       shape->rank == MAX_RANK ? "too many sizes: a signal has 2, an image 3, a volume 4"
                       : classes               ? "the number of classes is a whole number from %lld to %lld"
                                               : "a size is a whole number from %lld to %lld",
                       (long long)least, (long long)most);
            if (classes && d.kind == DATUM_INTEGER && d.integer == 1)
                diag_help(
                    l->diag,
                    "the class and the rest of the picture are two: write `labels(2)`; a network with one "
                    "channel is compared by `bce_with_logits`, one with two by `cross_entropy`");
            diag_end(l->diag);
            return false;
        }
        shape->dim[shape->rank++] = d.integer;
    }
    return true;
}

/* How many sizes KIND has, channels or classes among them; labels are as the first input is. */
static int sizes_of(const Lower *l, Kind kind, const Shape *given) {
    static const int ranks[] = {[KIND_IMAGE] = IMAGE_RANK,
                                [KIND_VOLUME] = VOLUME_RANK,
                                [KIND_SIGNAL] = SIGNAL_RANK,
                                [KIND_LABELS] = IMAGE_RANK};
    const Model *model = l->model;
    if (kind == KIND_LABELS && model->ninput > 0)
        return l->graph->value[model->input[0].value].shape.rank;
    return kind == KIND_LABELS && given->rank == VOLUME_RANK ? VOLUME_RANK : ranks[kind];
}

/* "image(3, 64, 64)" of what was given: sizes alone, or a batch in front; else an example. */
static const char *meant(Lower *l, const Shape *given, Kind kind) {
    static const char *const example[] = {[KIND_IMAGE] = "image(3, 256, 256)",
                                          [KIND_VOLUME] = "volume(1, 64, 128, 128)",
                                          [KIND_SIGNAL] = "signal(1, 16384)",
                                          [KIND_LABELS] = "labels(2, 256, 256)"};
    const int64_t *dim = given->dim;
    if (kind == KIND_IMAGE && given->rank == 4)
        return pool_text(l->pool, "image(%lld, %lld, %lld)", (long long)dim[1], (long long)dim[2],
                         (long long)dim[3]);
    if (kind == KIND_IMAGE && given->rank == 2 && dim[0] <= FEW) /* and the side of a square */
        return pool_text(l->pool, "image(%lld, %lld, %lld)", (long long)dim[0], (long long)dim[1],
                         (long long)dim[1]);
    if (kind == KIND_IMAGE && given->rank == 2)
        return pool_text(l->pool, "image(3, %lld, %lld)", (long long)dim[0], (long long)dim[1]);
    if (kind == KIND_SIGNAL && given->rank == 3)
        return pool_text(l->pool, "signal(%lld, %lld)", (long long)dim[1], (long long)dim[2]);
    if (kind == KIND_SIGNAL && given->rank == 1 && dim[0] > FEW)
        return pool_text(l->pool, "signal(1, %lld)", (long long)dim[0]);
    if (kind == KIND_LABELS && sizes_of(l, kind, given) == VOLUME_RANK)
        return "labels(2, 64, 128, 128)";
    if (kind == KIND_LABELS && sizes_of(l, kind, given) == SIGNAL_RANK)
        return "labels(2, 16384)";
    return example[kind];
}

static bool report_sizes(Lower *l, const Stmt *stmt, Kind kind, const Shape *given) {
    static const char *const axes[] = {[SIGNAL_RANK] = "length",
                                       [IMAGE_RANK] = "height and width",
                                       [VOLUME_RANK] = "depth, height and width"};
    const int rank = sizes_of(l, kind, given);
    diag_begin(l->diag, ERROR, "U0213", stmt->value->span, "`%s` needs its %s and %s", stmt->name,
               kind == KIND_LABELS ? "classes" : "channels", axes[rank]);
    if (kind != KIND_LABELS && given->rank == rank + 1)
        diag_note(l->diag, "the batch is not part of the shape: `train` has the setting `batch`");
    diag_help(l->diag, "write `%s : %s`", stmt->name, meant(l, given, kind));
    diag_end(l->diag);
    return false;
}

/* Sizes as NumPy has them, channels last, are right sizes too, and hardly meant. */
static void ask_for_order(Lower *l, const Stmt *stmt, Shape given) {
    const int64_t last = given.dim[given.rank - 1];
    const char *type = stmt->value->text, *sizes = pool_text(l->pool, "%lld", (long long)last);
    for (int i = 0; i < given.rank - 1; i++) {
        if (given.dim[i] <= FEW)
            return;
        sizes = pool_text(l->pool, "%s, %lld", sizes, (long long)given.dim[i]);
    }
    if (last > FEW || given.rank < 3)
        return;
    diag_begin(l->diag, WARNING, "U0803", stmt->value->span, "`%s` has %lld channels and is %lld wide",
               stmt->name, (long long)given.dim[0], (long long)last);
    diag_help(l->diag, "channels come first, as in PyTorch: is `%s(%s)` meant?", type, sizes);
    diag_end(l->diag);
}

/* Sets the size of an input or target that has a size of its own.  If --size or the program changes the
 * size of the first input, both change in proportion. */
static void give_size(Lower *l, Shape *shape) {
    const bool first = l->model->ninput == 0;
    for (int i = 1; i < shape->rank; i++) {
        const int axis = AXES - shape->rank + i;
        const int64_t size = l->options->size[axis];
        if (first)
            l->declared[axis] = shape->dim[i];
        if (size > 0 && l->declared[axis] > 0 && shape->dim[i] * size % l->declared[axis] == 0)
            shape->dim[i] = shape->dim[i] * size / l->declared[axis];
    }
}

/* A signal has one size in --size, an image or a volume has more. */
static bool is_right_size(Lower *l, const Stmt *stmt, Shape shape) {
    const int given = l->options->nsize;
    if (given == 0 || l->model->ninput > 0 || (given == 1) == (shape.rank == SIGNAL_RANK))
        return true;
    diag_begin(l->diag, ERROR, "U0315", stmt->value->span, "--size gives %d size%s, and `%s` is %s", given,
               given == 1 ? "" : "s", stmt->name, map_text(shape));
    diag_help(l->diag, "write --size=%s",
              shape.rank == SIGNAL_RANK  ? "LENGTH"
              : shape.rank == IMAGE_RANK ? "HEIGHTxWIDTH"
                                         : "DEPTHxHEIGHTxWIDTH");
    diag_end(l->diag);
    return false;
}

/* Sizes come from the declaration, else from the first input. */
static bool complete_shape(Lower *l, const Stmt *stmt, Kind kind, Shape *shape) {
    const int rank = sizes_of(l, kind, shape);
    bool own_size = shape->rank == rank;
    const Model *model = l->model;
    if (!own_size && (shape->rank != 1 || model->ninput == 0))
        return report_sizes(l, stmt, kind, shape);
    if (!own_size) {
        Shape first = l->graph->value[model->input[0].value].shape;
        if (first.rank != rank)
            return report_sizes(l, stmt, kind, shape);
        for (int i = 1; i < rank; i++)
            shape->dim[i] = first.dim[i];
        shape->rank = rank;
    }
    if (own_size && kind != KIND_LABELS)
        ask_for_order(l, stmt, *shape);
    if (own_size && is_right_size(l, stmt, *shape))
        give_size(l, shape);
    return true;
}

/* A number is a map of one point, with the axes of the first input. */
static bool number_shape(Lower *l, const Stmt *stmt, Shape *shape) {
    const bool sized = stmt->value->args.count > 0;
    if (!sized && l->model->ninput > 0) {
        *shape = (Shape){.rank = l->graph->value[l->model->input[0].value].shape.rank, .dim = {1, 1, 1, 1}};
        return true;
    }
    diag_begin(l->diag, ERROR, "U0213", stmt->value->span,
               sized ? "a number has no sizes" : "the first input is a map, and `%s` is a number",
               stmt->name);
    if (sized)
        diag_help(l->diag, "write `%s : number`", stmt->name);
    else
        diag_help(l->diag, "put this line behind the input that says how large maps are");
    diag_end(l->diag);
    return false;
}

/* The shape of one sample, and of labels what counts nowhere. */
static bool input_shape(Lower *l, const Stmt *stmt, Kind kind, Shape *shape, int64_t *ignore) {
    *ignore = -1;
    if (kind == KIND_NUMBER)
        return number_shape(l, stmt, shape);
    return read_dimensions(l, stmt->value, kind, shape, ignore) && complete_shape(l, stmt, kind, shape);
}

static bool is_new_input(Lower *l, const Stmt *stmt) {
    const int first = table_find(&l->model->input_of, stmt->name);
    if (first < 0)
        return true;
    diag_begin(l->diag, ERROR, "U0204", stmt->name_span, "`%s` has a value already", stmt->name);
    diag_also(l->diag, l->model->input[first].span, "first an input here");
    diag_help(l->diag, "choose another name: the data section finds inputs by theirs");
    diag_end(l->diag);
    return false;
}

void run_input(Lower *l, const Stmt *stmt) {
    Kind kind;
    Shape shape = {0};
    bool target = stmt->kind == STMT_TARGET;
    int64_t ignore;
    bool good = find_kind(l, stmt, &kind) && input_shape(l, stmt, kind, &shape, &ignore) &&
                is_new_input(l, stmt) && may_bind(l, stmt->name, BINDING_SET, stmt->name_span);
    if (!good) {
        bind_name(l, stmt->name, BINDING_SET, (Datum){.kind = DATUM_ERROR}, stmt->name_span);
        return;
    }
    Input input = {
        .name = stmt->name, .kind = kind, .is_target = target, .ignore = ignore, .span = stmt->name_span};
    if (kind == KIND_LABELS) { /* a byte for each point */
        input.classes = shape.dim[0];
        shape.dim[0] = 1;
    }
    Value value = {.name = stmt->name, .class = CLASS_STAGING, .shape = shape, .per_sample = true};
    value.type = kind == KIND_LABELS ? TYPE_U8 : TYPE_F32;
    value.span = stmt->name_span;
    value.input = l->model->ninput;
    input.value = value_new(l->graph, value);
    if (stmt->value->args.count > 1 + (ignore >= 0))
        input.size_span = stmt->value->span;
    table_set(l->pool, &l->model->input_of, stmt->name, l->model->ninput);
    PUSH(l->pool, l->model->input, l->model->ninput, input);
    bind_name(l, stmt->name, BINDING_SET, datum_tensor(input.value), stmt->name_span)->used = true;
}

/* ---- outputs ---- */

/* An input lies where the loader left it, outside the arena that outputs are read from. */
static void check_computed(Lower *l, const Stmt *stmt, ValueId output) {
    const Value *value = &l->graph->value[output];
    if (value->class != CLASS_STAGING)
        return;
    diag_begin(l->diag, ERROR, "U0215", stmt->value->span, "the output `%s` is the %s `%s`, unchanged",
               stmt->name, l->model->input[value->input].is_target ? "target" : "input", value->name);
    diag_help(l->diag, "remove the line, or name what a layer computes");
    diag_end(l->diag);
}

/* An output names a file of `predict`, so each has a name of its own. */
static bool is_new_output(Lower *l, const Stmt *stmt) {
    for (int i = 0; i < l->model->noutput; i++) {
        const Output *other = &l->model->output[i];
        if (strcmp(other->name, stmt->name) != 0)
            continue;
        diag_begin(l->diag, ERROR, "U0204", stmt->name_span, "there is an output `%s` already", stmt->name);
        diag_also(l->diag, other->span, "first an output here");
        diag_help(l->diag, "choose another name: the files of `predict` are named by the outputs");
        diag_end(l->diag);
        return false;
    }
    return true;
}

/* With --probabilities, beside classes goes what each class has. */
static void add_probabilities(Lower *l, const Stmt *stmt, ValueId map) {
    const char *name = pool_text(l->pool, "%s_probabilities", stmt->name);
    const ValueId shares = l->options->probabilities ? probabilities_of(l, map, name) : -1;
    if (shares >= 0)
        PUSH(l->pool, l->model->output, l->model->noutput,
             ((Output){name, shares, map_classes(l->graph, shares), stmt->name_span}));
}

void run_output(Lower *l, const Stmt *stmt) {
    Datum value = eval(l, stmt->value);
    if (value.kind != DATUM_TENSOR) {
        if (value.kind != DATUM_ERROR) {
            diag_begin(l->diag, ERROR, "U0206", stmt->value->span, "an output is a tensor, and this is %s",
                       datum_text(l, value));
            diag_end(l->diag);
        }
        bind_name(l, stmt->name, BINDING_SET, (Datum){.kind = DATUM_ERROR}, stmt->name_span);
        return;
    }
    ValueId joined = value_joined(l->graph, value.tensor, stmt->span);
    check_computed(l, stmt, joined);
    if (!is_new_output(l, stmt))
        return;
    Output output = {stmt->name, joined, map_classes(l->graph, joined), stmt->name_span};
    PUSH(l->pool, l->model->output, l->model->noutput, output);
    add_probabilities(l, stmt, joined);
    if (may_bind(l, stmt->name, BINDING_SET, stmt->name_span))
        bind_name(l, stmt->name, BINDING_SET, datum_tensor(joined), stmt->name_span)->used = true;
}

/* ---- layers ---- */

static const char *layer_path(Lower *l, const Stmt *stmt, Span *span) {
    const ArgList *args = &stmt->value->args;
    for (int i = 0; i < args->count; i++) {
        const Expr *value = expr_inside(args->item[i].value);
        if (args->item[i].name != NULL && strcmp(args->item[i].name, "name") == 0) {
            *span = value->span;
            return module_name(l, value);
        }
    }
    return stmt->name;
}

bool shares_weights(Lower *l, const Expr *link) {
    if (has_weights(l, link->text))
        return true;
    diag_begin(l->diag, ERROR, "U0505", link->span, "`%s` has no weights to share", link->text);
    diag_help(l->diag, "remove the line and call `%s` where it is needed", link->text);
    diag_end(l->diag);
    return false;
}

/* Can weights of LINK be shared?  A block is asked when it is called: its errors come first. */
static bool makes_layer(Lower *l, const Expr *link) {
    if (find_block(l, link->text) != NULL)
        return true;
    if (op_by_name(link->text) != OPS || function_by_name(link->text) != NULL)
        return shares_weights(l, link);
    report_unknown_call(l, link);
    return false;
}

void run_layer(Lower *l, const Stmt *stmt) {
    Span span = stmt->name_span;
    Layer layer = {.name = stmt->name, .span = stmt->name_span};
    const char *path = layer_path(l, stmt, &span);
    if (path != NULL && makes_layer(l, stmt->value)) {
        layer.link = stmt->value;
        layer.module = module_enter(l, l->frame->module, path, path == stmt->name, span);
    }
    table_set(l->pool, &l->frame->layer_of, stmt->name, l->frame->nlayer);
    PUSH(l->pool, l->frame->layer, l->frame->nlayer, layer);
}

/* ---- words ---- */

void list_types(Text *out) {
    for (Kind kind = KIND_IMAGE; kind <= KIND_LABELS; kind++)
        text_line(out, "type\t%s", kinds[kind]);
}
