/* lower.c - runs the statements of a file and leaves the graph and settings they make.
 *
 * requires   a syntax tree without errors
 * provides   Model: graph of the forward pass, inputs, outputs, results, sections; parameters carry their
 * names
 *
 * `let`, `if`, `for` and blocks run here and are gone afterwards.  After an error the names it concerns are
 * bound to DATUM_ERROR and the run goes on, so that one run reports several independent errors.
 */
#include "lower_state.h"
#include "ops.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORK = 2000000, MAX_NODES = 100000 };

static const int64_t MAX_EXTENT = INT64_C(1) << 24;

bool charge(Lower *l, int64_t work, Place place) {
    if (l->stop)
        return false;
    l->work += work;
    bool layers = l->graph->nnode > MAX_NODES;
    if (l->work <= MAX_WORK && !layers)
        return true;
    l->stop = true;
    for (const Via *via = l->via; via != NULL; via = via->outer)
        if (strncmp(via->text, "in turn", 7) == 0)
            place = via->place;
    diag_begin(l->diag, ERROR, "U0314", place, "%s",
               layers ? "the loop would make more than 100,000 layers"
                      : "this takes too many steps to compile");
    diag_end(l->diag);
    return false;
}

/* ---- let and = ---- */

static bool contains_tensor(Datum d) {
    for (int i = 0; d.kind == DATUM_LIST && i < d.count; i++)
        if (contains_tensor(d.items->item[i]))
            return true;
    return d.kind == DATUM_TENSOR || d.kind == DATUM_LOSS;
}

static bool contains_value(Datum d) {
    for (int i = 0; d.kind == DATUM_LIST && i < d.count; i++)
        if (contains_value(d.items->item[i]))
            return true;
    return d.kind != DATUM_LIST && d.kind != DATUM_TENSOR && d.kind != DATUM_ERROR;
}

/* May NAME be set in this way?  What `let` has set stays as it is, but inside a loop it lasts for a turn.
 */
static bool rebinds(const Frame *frame, const Binding *binding, BindingKind kind) {
    if (binding->kind == BINDING_SET)
        return kind == BINDING_SET;
    if (binding->kind == BINDING_ARGUMENT)
        return kind == BINDING_SET && contains_tensor(binding->value);
    return kind != BINDING_SET && binding->in_loop && frame->in_loop && !binding->running;
}

static bool may_bind(Lower *l, const char *name, BindingKind kind, Place place) {
    const Binding *binding = find_binding(l->frame, name);
    if (binding == NULL || binding->value.kind == DATUM_ERROR || rebinds(l->frame, binding, kind))
        return true;
    diag_begin(l->diag, ERROR, "U0204", place, "`%s` has a value already", name);
    diag_also(l->diag, binding->place,
              binding->kind == BINDING_ARGUMENT ? "an argument" : "first set here");
    if (binding->kind == BINDING_SET)
        diag_note(l->diag, "it is a tensor; choose another name for the value");
    else
        diag_note(l->diag, "a `let` never changes; a tensor may be set again");
    diag_end(l->diag);
    return false;
}

static Datum overridden(Lower *l, const Stmt *stmt, Datum value) {
    if (l->frame != l->file || l->section != NULL || l->nesting > 1)
        return value;
    for (int i = l->options->ndefine - 1; i >= 0; i--) {
        const Define *define = &l->options->define[i];
        if (strcmp(define->name, stmt->name) != 0)
            continue;
        return l->define[i];
    }
    return value;
}

static void run_let(Lower *l, const Stmt *stmt) {
    Datum value = overridden(l, stmt, eval(l, stmt->value));
    if (!may_bind(l, stmt->name, BINDING_LET, stmt->name_place))
        return;
    if (contains_tensor(value)) {
        diag_begin(l->diag, ERROR, "U0207", stmt->value->place,
                   "`let` sets a number, and this is a tensor");
        diag_label(l->diag, "%s", datum_text(l, value));
        diag_help(l->diag, "write `%s = %s`", stmt->name, expr_text(l->pool, stmt->value));
        diag_end(l->diag);
        value.kind = DATUM_ERROR;
    }
    bind_name(l, stmt->name, BINDING_LET, value, stmt->name_place);
}

/* The list in CONTAINER with its element INDEX replaced; the lists around it are replaced too. */
static void store(Lower *l, const Expr *target, Datum value) {
    if (target->kind == EXPR_NAME) {
        if (may_bind(l, target->text, BINDING_SET, target->place)) {
            const Binding *before = find_binding(l->frame, target->text);
            bool used = before != NULL && before->used;
            bind_name(l, target->text, BINDING_SET, value, target->place)->used = used;
        }
        return;
    }
    Datum list = eval(l, target->left), index = eval(l, target->right);
    if (list.kind == DATUM_ERROR || index.kind == DATUM_ERROR || eval(l, target).kind == DATUM_ERROR)
        return; /* reading the element has told what is wrong */
    if (!charge(l, list.count, target->place))
        return;
    Datum copy = datum_list(l, list.items->item, list.count);
    copy.items->item[index.integer < 0 ? index.integer + list.count : index.integer] = value;
    store(l, target->left, copy);
}

static const char *target_name(const Expr *target) {
    while (target->kind == EXPR_INDEX)
        target = target->left;
    return target->text;
}

static bool report_value(Lower *l, const Stmt *stmt, Datum value) {
    if (!contains_value(value))
        return false;
    diag_begin(l->diag, ERROR, "U0206", stmt->value->place, "`=` sets a tensor, and this is %s",
               datum_text(l, value));
    diag_label(l->diag, "%s", value.kind == DATUM_LIST ? "values" : datum_text(l, value) + 2);
    diag_help(l->diag, "write `let %s = %s`", target_name(stmt->targets.item[0]),
              expr_text(l->pool, stmt->value));
    diag_end(l->diag);
    return true;
}

static void forget(Lower *l, const Stmt *stmt) {
    for (int i = 0; i < stmt->targets.count; i++) {
        const char *name = target_name(stmt->targets.item[i]);
        const Binding *binding = find_binding(l->frame, name);
        if (binding == NULL || binding->kind == BINDING_SET)
            bind_name(l, name, BINDING_SET, (Datum){.kind = DATUM_ERROR}, stmt->targets.item[i]->place);
    }
}

static void run_set(Lower *l, const Stmt *stmt) {
    Datum value = eval(l, stmt->value);
    int count = stmt->targets.count;
    if (value.kind == DATUM_ERROR || report_value(l, stmt, value)) {
        forget(l, stmt);
        return;
    }
    if (count == 1) {
        store(l, stmt->targets.item[0], value);
        return;
    }
    int given = value.kind == DATUM_LIST ? value.count : 1;
    if (given != count) {
        Place names = stmt->targets.item[0]->place, last = stmt->targets.item[count - 1]->place;
        names.width = last.column + last.width - names.column;
        diag_begin(l->diag, ERROR, "U0311", names, "%d value%s for %d names", given, given == 1 ? "" : "s",
                   count);
        diag_also(l->diag, stmt->value->place, "gives %d", given);
        note_via(l);
        diag_end(l->diag);
        forget(l, stmt);
        return;
    }
    for (int i = 0; i < count; i++)
        store(l, stmt->targets.item[i], value.items->item[i]);
}

/* a += b */
static void run_extend(Lower *l, const Stmt *stmt) {
    const Expr *target = stmt->targets.item[0];
    Expr plus = {.kind = EXPR_BINARY, .op = OPERATOR_ADD, .place = stmt->place, .mark = stmt->place};
    plus.left = stmt->targets.item[0];
    plus.right = stmt->value;
    Datum before = eval(l, target), more = eval(l, stmt->value);
    if (before.kind != DATUM_ERROR && before.kind != DATUM_LIST && before.kind != DATUM_TENSOR) {
        diag_begin(l->diag, ERROR, "U0204", target->place, "`%s` has a value already",
                   expr_text(l->pool, target));
        diag_note(l->diag, "a `let` never changes; `+=` adds to a tensor or appends to a list");
        diag_end(l->diag);
        return;
    }
    Datum sum = apply_binary(l, &plus, before, more);
    if (sum.kind == DATUM_ERROR) {
        forget(l, stmt);
        return;
    }
    if (report_value(l, stmt, sum))
        return;
    store(l, target, sum);
    Binding *binding = find_binding(l->frame, target_name(target));
    if (binding != NULL && sum.kind == DATUM_LIST) {
        binding->pushed += more.count;
        binding->push_place = stmt->place;
    }
}

/* ---- inputs, outputs, layers ---- */

static void report_type(Lower *l, const Stmt *stmt, const char *name) {
    static const char *const types[] = {"image", "volume", "labels", "index"};
    const char *near = nearest_name(name, types, 4);
    diag_begin(l->diag, ERROR, "U0212", stmt->value->mark, "there is no type `%s`", name);
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    diag_note(l->diag,
              "the types are: image(channels, height, width), volume(channels, depth, height, width)");
    diag_end(l->diag);
}

static bool find_kind(Lower *l, const Stmt *stmt, Kind *kind) {
    const char *name = stmt->value->text;
    *kind = strcmp(name, "volume") == 0 ? KIND_VOLUME : KIND_IMAGE;
    if (strcmp(name, "image") == 0 || strcmp(name, "volume") == 0)
        return true;
    if (strcmp(name, "labels") == 0 || strcmp(name, "index") == 0) {
        diag_begin(l->diag, ERROR, "U0202", stmt->value->mark, "`%s` is not in this version of unetc",
                   name);
        diag_note(l->diag, "this version has: image volume");
        diag_end(l->diag);
    } else {
        report_type(l, stmt, name);
    }
    return false;
}

static bool read_dimensions(Lower *l, const Expr *type, Shape *shape) {
    for (int i = 0; i < type->args.count; i++) {
        const Arg *arg = &type->args.item[i];
        Datum d = eval(l, arg->value);
        if (d.kind == DATUM_ERROR)
            return false;
        bool good =
            d.kind == DATUM_INTEGER && d.integer >= 1 && d.integer <= MAX_EXTENT && arg->name == NULL;
        if (!good || i == MAX_RANK) {
            diag_begin(l->diag, ERROR, "U0213", arg->place,
                       i == MAX_RANK ? "too many sizes" : "a size is a whole number from 1 to %lld",
                       (long long)MAX_EXTENT);
            diag_end(l->diag);
            return false;
        }
        shape->dim[shape->rank++] = d.integer;
    }
    return true;
}

static bool report_sizes(Lower *l, const Stmt *stmt, Kind kind) {
    const char *type = kind == KIND_IMAGE ? "image(3, 256, 256)" : "volume(1, 64, 128, 128)";
    diag_begin(l->diag, ERROR, "U0213", stmt->value->place, "`%s` needs its channels and %s", stmt->name,
               kind == KIND_IMAGE ? "height and width" : "depth, height and width");
    diag_help(l->diag, "write `%s : %s`", stmt->name, type);
    diag_end(l->diag);
    return false;
}

/* Sizes come from the declaration, else from the first input; --size replaces those of inputs. */
static bool complete_shape(Lower *l, const Stmt *stmt, Kind kind, Shape *shape) {
    int rank = kind == KIND_IMAGE ? 3 : 4;
    bool own_size = shape->rank == rank;
    const Model *model = l->model;
    if (!own_size && (shape->rank != 1 || model->ninput == 0))
        return report_sizes(l, stmt, kind);
    if (!own_size) {
        Shape first = l->graph->value[model->input[0].value].shape;
        if (first.rank != rank)
            return report_sizes(l, stmt, kind);
        for (int i = 1; i < rank; i++)
            shape->dim[i] = first.dim[i];
        shape->rank = rank;
    }
    for (int i = 1; i < rank && (stmt->kind == STMT_INPUT && own_size); i++) {
        int64_t size = l->options->size[AXES - rank + i];
        if (size > 0)
            shape->dim[i] = size;
    }
    return true;
}

static void run_input(Lower *l, const Stmt *stmt) {
    Kind kind;
    Shape shape = {0};
    bool target = stmt->kind == STMT_TARGET;
    bool good = find_kind(l, stmt, &kind) && read_dimensions(l, stmt->value, &shape) &&
                complete_shape(l, stmt, kind, &shape) &&
                may_bind(l, stmt->name, BINDING_SET, stmt->name_place);
    if (!good) {
        bind_name(l, stmt->name, BINDING_SET, (Datum){.kind = DATUM_ERROR}, stmt->name_place);
        return;
    }
    Value value = {
        .name = stmt->name, .class = CLASS_STAGING, .type = TYPE_F32, .shape = shape, .per_sample = true};
    value.place = stmt->name_place;
    value.input = l->model->ninput;
    Input input = {
        .name = stmt->name, .kind = kind, .is_target = target, .ignore = -1, .place = stmt->name_place};
    input.value = value_new(l->graph, value);
    if (stmt->value->args.count > 1)
        input.size_place = stmt->value->place;
    PUSH(l->pool, l->model->input, l->model->ninput, input);
    bind_name(l, stmt->name, BINDING_SET, datum_tensor(input.value), stmt->name_place)->used = true;
}

static void run_output(Lower *l, const Stmt *stmt) {
    Datum value = eval(l, stmt->value);
    if (value.kind != DATUM_TENSOR) {
        if (value.kind != DATUM_ERROR) {
            diag_begin(l->diag, ERROR, "U0206", stmt->value->place, "an output is a tensor, and this is %s",
                       datum_text(l, value));
            diag_end(l->diag);
        }
        bind_name(l, stmt->name, BINDING_SET, (Datum){.kind = DATUM_ERROR}, stmt->name_place);
        return;
    }
    ValueId joined = value_joined(l->graph, value.tensor, stmt->place);
    Output output = {stmt->name, joined, stmt->name_place};
    PUSH(l->pool, l->model->output, l->model->noutput, output);
    if (may_bind(l, stmt->name, BINDING_SET, stmt->name_place))
        bind_name(l, stmt->name, BINDING_SET, datum_tensor(joined), stmt->name_place)->used = true;
}

static const char *layer_path(Lower *l, const Stmt *stmt, Place *place) {
    const ArgList *args = &stmt->value->args;
    for (int i = 0; i < args->count; i++) {
        const Expr *value = expr_inside(args->item[i].value);
        if (args->item[i].name != NULL && strcmp(args->item[i].name, "name") == 0 &&
            value->kind == EXPR_TEXT) {
            *place = value->place;
            return module_name(l, value->text, value->place);
        }
    }
    return stmt->name;
}

static void run_layer(Lower *l, const Stmt *stmt) {
    Place place = stmt->name_place;
    if (!has_weights(l, stmt->value->text)) {
        if (find_block(l, stmt->value->text) == NULL && op_by_name(stmt->value->text) == OPS) {
            report_unknown_call(l, stmt->value);
            return;
        }
        diag_begin(l->diag, ERROR, "U0505", stmt->value->place, "`%s` has no weights to share",
                   stmt->value->text);
        diag_help(l->diag, "call it where it is needed");
        diag_end(l->diag);
        return;
    }
    const char *path = layer_path(l, stmt, &place);
    if (path == NULL)
        return;
    Layer layer = {.name = stmt->name, .link = stmt->value, .place = stmt->name_place};
    layer.module = module_enter(l, l->frame->module, path, path == stmt->name, place);
    PUSH(l->pool, l->frame->layer, l->frame->nlayer, layer);
}

/* ---- if, for, return ---- */

static void run_if(Lower *l, const Stmt *stmt) {
    for (int i = 0; i < stmt->arms.count; i++) {
        const Arm *arm = &stmt->arms.item[i];
        if (arm->condition != NULL) {
            Datum condition = eval(l, arm->condition);
            int errors = diag_errors(l->diag);
            bool chosen = datum_true(l, condition, arm->condition);
            if (condition.kind == DATUM_ERROR || diag_errors(l->diag) != errors)
                return;
            if (!chosen)
                continue;
        }
        run_statements(l, &arm->body);
        return;
    }
}

static const char *turn_text(Lower *l, const Stmt *stmt, Datum item) {
    if (item.kind == DATUM_INTEGER)
        return pool_text(l->pool, "in turn %s = %lld of the loop on line %d", stmt->name,
                         (long long)item.integer, stmt->place.line);
    return pool_text(l->pool, "in a turn of the loop on line %d", stmt->place.line);
}

static void run_for(Lower *l, const Stmt *stmt) {
    Datum list = eval(l, stmt->value);
    if (list.kind != DATUM_LIST) {
        if (list.kind == DATUM_ERROR)
            return;
        diag_begin(l->diag, ERROR, "U0319", stmt->value->place, "a loop runs over a list, and this is %s",
                   datum_text(l, list));
        if (list.kind == DATUM_INTEGER)
            diag_help(l->diag, "write `range(%s)`", expr_text(l->pool, stmt->value));
        diag_end(l->diag);
        return;
    }
    const Via *outer = l->via;
    bool in_loop = l->frame->in_loop;
    l->frame->in_loop = true;
    bool good = may_bind(l, stmt->name, BINDING_LOOP, stmt->name_place);
    for (int i = 0; good && i < list.count && !l->stop && !l->frame->returned; i++) {
        Via *via = NEW(l->pool, Via);
        *via = (Via){outer, stmt->value->place, turn_text(l, stmt, list.items->item[i]), false};
        l->via = via;
        bind_name(l, stmt->name, BINDING_LOOP, list.items->item[i], stmt->name_place)->running = true;
        run_statements(l, &stmt->body);
        find_binding(l->frame, stmt->name)->running = false;
    }
    l->frame->in_loop = in_loop;
    l->via = outer;
}

static void run_return(Lower *l, const Stmt *stmt) {
    const ExprList *values = &stmt->targets;
    const Expr *first = expr_inside(values->item[0]);
    l->frame->returned = true;
    if (values->count == 1 && first->kind == EXPR_CHAIN) {
        l->frame->result = eval_chain(l, first, true);
        return;
    }
    Datum *value = NEW_ARRAY(l->pool, Datum, values->count);
    bool good = true;
    for (int i = 0; i < values->count; i++) {
        value[i] = eval(l, values->item[i]);
        good &= value[i].kind != DATUM_ERROR;
    }
    l->frame->result = !good                ? (Datum){.kind = DATUM_ERROR}
                       : values->count == 1 ? value[0]
                                            : datum_list(l, value, values->count);
}

/* ---- statements ---- */

/* `input` and sections stand in the file, `return` in a block; a loop around them makes no sense either. */
static bool misplaced(Lower *l, const Stmt *stmt) {
    static const char *const word[] = {
        [STMT_INPUT] = "input", [STMT_TARGET] = "target", [STMT_OUTPUT] = "output",
        [STMT_BLOCK] = "block", [STMT_RETURN] = "return", [STMT_SECTION] = "section"};
    bool in_block = l->frame != l->file;
    bool wrong = false;
    const char *belongs = "at the top of the file";
    switch (stmt->kind) {
    case STMT_RETURN:
        wrong = !in_block;
        belongs = "in a block";
        break;
    case STMT_OUTPUT:
        wrong = in_block;
        break;
    case STMT_INPUT:
    case STMT_TARGET:
    case STMT_BLOCK:
    case STMT_SECTION:
        wrong = in_block || l->nesting > 1;
        break;
    default:
        break;
    }
    if (wrong) {
        const char *name = stmt->kind == STMT_SECTION ? stmt->name : word[stmt->kind];
        diag_begin(l->diag, ERROR, "U0114", stmt->place, "`%s` stands %s", name, belongs);
        diag_end(l->diag);
    }
    return wrong;
}

static const char *slot_name(const Stmt *stmt) {
    if (stmt->kind == STMT_OUTPUT)
        return stmt->name;
    bool sets = (stmt->kind == STMT_SET && stmt->targets.count == 1) || stmt->kind == STMT_EXTEND;
    return sets ? target_name(stmt->targets.item[0]) : NULL;
}

static void run_here(Lower *l, const Stmt *stmt) {
    switch (stmt->kind) {
    case STMT_LET:
        run_let(l, stmt);
        break;
    case STMT_INPUT:
    case STMT_TARGET:
        run_input(l, stmt);
        break;
    case STMT_OUTPUT:
        run_output(l, stmt);
        break;
    case STMT_LAYER:
        run_layer(l, stmt);
        break;
    case STMT_BLOCK:
        break; /* found by its name when it is called */
    case STMT_RETURN:
        run_return(l, stmt);
        break;
    case STMT_SET:
        if (!run_source(l, stmt))
            run_set(l, stmt);
        break;
    case STMT_EXTEND:
        run_extend(l, stmt);
        break;
    case STMT_FOR:
        run_for(l, stmt);
        break;
    case STMT_IF:
        run_if(l, stmt);
        break;
    case STMT_SECTION:
        run_section(l, stmt);
        break;
    case STMT_SETTING:
        run_setting(l, stmt);
        break;
    }
}

static void run_statement(Lower *l, const Stmt *stmt) {
    if (!charge(l, 1, stmt->place) || misplaced(l, stmt))
        return;
    Slot slot = {.name = slot_name(stmt)}, *outer = l->slot;
    l->slot = &slot;
    run_here(l, stmt);
    l->slot = outer;
    l->stop |= diag_full(l->diag);
}

void run_statements(Lower *l, const StmtList *body) {
    l->nesting++;
    for (int i = 0; i < body->count && !l->stop && !l->frame->returned; i++)
        run_statement(l, body->item[i]);
    l->nesting--;
}

/* ---- the whole file ---- */

static void check_blocks(Lower *l) {
    for (int i = 0; i < l->ast->body.count; i++) {
        const Stmt *stmt = l->ast->body.item[i];
        if (stmt->kind != STMT_BLOCK)
            continue;
        const Stmt *first = find_block(l, stmt->name);
        bool known = op_by_name(stmt->name) != OPS || function_by_name(stmt->name) != NULL;
        if (first == stmt && !known)
            continue;
        diag_begin(l->diag, ERROR, "U0205", stmt->name_place,
                   first != stmt ? "`%s` is defined twice" : "`%s` is an operator of the language",
                   stmt->name);
        if (first != stmt)
            diag_also(l->diag, first->name_place, "first here");
        else
            diag_help(l->diag, "choose another name");
        diag_end(l->diag);
    }
}

static void check_names(Lower *l) {
    for (int i = 0; i < l->file->nbinding; i++) {
        const Binding *binding = &l->file->binding[i];
        if (binding->used || binding->value.kind == DATUM_ERROR || binding->kind == BINDING_LOOP)
            continue;
        bool let = binding->kind == BINDING_LET;
        diag_begin(l->diag, WARNING, let ? "U0802" : "U0801", binding->place, "`%s%s` is never used",
                   let ? "let " : "", binding->name);
        if (!let)
            diag_help(l->diag, "remove the line; its layer would be in no program");
        diag_end(l->diag);
    }
}

static void check_outputs(Lower *l) {
    const StmtList *body = &l->ast->body;
    if (l->model->noutput > 0)
        return;
    const Stmt *last = NULL;
    for (int i = 0; i < body->count; i++)
        if (body->item[i]->kind == STMT_SET && body->item[i]->targets.item[0]->kind == EXPR_NAME)
            last = body->item[i];
    diag_begin(l->diag, ERROR, "U0610", last == NULL ? (Place){1, 1, 1} : last->targets.item[0]->place,
               "the file has no `output`");
    if (last != NULL)
        diag_help(l->diag, "write `output %s = %s`", last->targets.item[0]->text,
                  expr_text(l->pool, last->value));
    diag_end(l->diag);
}

/* "photos/tiny-unet.unet": the source is tiny-unet.unet, the model tiny_unet. */
static void name_model(Lower *l) {
    const char *path = l->options->path, *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1, *dot = strrchr(file, '.');
    size_t length = dot == NULL || dot == file ? strlen(file) : (size_t)(dot - file);
    char *name = pool_text(l->pool, "%s%.*s", isdigit((unsigned char)*file) ? "_" : "", (int)length, file);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    l->model->name = *name == '\0' ? "model" : name;
    l->model->source = file;
    l->model->text = l->options->text;
}

static void run_file(Lower *l) {
    Slot slot = {.taken = true};
    l->slot = &slot;
    name_model(l);
    find_weighted_blocks(l);
    check_blocks(l);
    begin_sections(l);
    read_defines(l);
    run_statements(l, &l->ast->body);
    check_defines(l);
    if (l->stop || diag_errors(l->diag) > 0)
        return;
    check_outputs(l);
    check_sections(l);
    finish_names(l);
    if (diag_errors(l->diag) == 0)
        check_names(l);
}

static Model *run(Pool *pool, Diag *diag, const Ast *ast, const LowerOptions *options, int only_axis) {
    Model *model = NEW(pool, Model);
    Frame file = {.body = &ast->body, .module = NEW(pool, Module)};
    Lower l = {
        .pool = pool, .diag = diag, .ast = ast, .options = options, .model = model, .only_axis = only_axis};
    model->pool = pool;
    model->diag = diag;
    model->graph = l.graph = graph_new(pool);
    l.file = l.frame = &file;
    l.define = NEW_ARRAY(pool, Datum, options->ndefine);
    run_file(&l);
    return diag_errors(diag) > 0 ? NULL : model;
}

bool lower_axis(Pool *pool, const Ast *ast, const LowerOptions *options, int axis) {
    return run(pool, diag_quiet(pool), ast, options, axis) != NULL;
}

Model *lower(Pool *pool, Diag *diag, const Ast *ast, const LowerOptions *options) {
    return run(pool, diag, ast, options, -1);
}
