/* lower.c - runs the statements of a file and leaves the graph and settings they make.
 *
 * requires   a syntax tree without errors
 * provides   Model: graph of the forward pass, inputs, outputs, results, sections; parameters carry their
 * names
 *
 * `let`, `if`, `for` and blocks run here and are gone afterwards.  After an error the names it concerns are
 * bound to DATUM_ERROR and the run goes on, so that one run reports several independent errors.
 */
#include "front/lower_state.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORK = 2000000, MAX_NODES = 100000 };

bool charge(Lower *l, int64_t work, Span span) {
    if (l->stop)
        return false;
    l->work += work;
    bool layers = l->graph->nnode > MAX_NODES;
    if (l->work <= MAX_WORK && !layers)
        return true;
    l->stop = true;
    for (const Via *via = l->via; via != NULL; via = via->outer)
        if (!via->is_call)
            span = via->span;
    diag_begin(l->diag, ERROR, "U0314", span, "%s",
               layers ? "the network has more than 100,000 layers"
                      : "the file takes more than 2,000,000 steps to compile");
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

/* True if NAME may be set in this way.  A `let` never changes, but inside a loop it lasts for one
 * iteration. */
static bool rebinds(const Frame *frame, const Binding *binding, BindingKind kind) {
    if (binding->kind == BINDING_SET)
        return kind == BINDING_SET;
    if (binding->kind == BINDING_ARGUMENT)
        return kind == BINDING_SET && contains_tensor(binding->value);
    return kind != BINDING_SET && binding->in_loop && frame->in_loop && !binding->running;
}

bool may_bind(Lower *l, const char *name, BindingKind kind, Span span) {
    const Binding *binding = find_binding(l->frame, name);
    if (binding == NULL || binding->value.kind == DATUM_ERROR || rebinds(l->frame, binding, kind))
        return true;
    diag_begin(l->diag, ERROR, "U0204", span, "`%s` has a value already", name);
    diag_also(l->diag, binding->span, binding->kind == BINDING_ARGUMENT ? "an argument" : "first set here");
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
    if (!may_bind(l, stmt->name, BINDING_LET, stmt->name_span))
        return;
    if (contains_tensor(value)) {
        diag_begin(l->diag, ERROR, "U0207", stmt->value->span, "`let` sets a value, and this is a tensor");
        diag_label(l->diag, "%s", datum_text(l, value));
        diag_help(l->diag, "write `%s = %s`", stmt->name, expr_text(l->pool, stmt->value));
        diag_end(l->diag);
        value.kind = DATUM_ERROR;
    }
    bind_name(l, stmt->name, BINDING_LET, value, stmt->name_span);
}

/* Sets a name, or an element of a list: the list and those around it are replaced. */
static void store(Lower *l, const Expr *target, Datum value) {
    if (target->kind == EXPR_NAME) {
        if (may_bind(l, target->text, BINDING_SET, target->span)) {
            const Binding *before = find_binding(l->frame, target->text);
            bool used = before != NULL && before->used;
            bind_name(l, target->text, BINDING_SET, value, target->span)->used = used;
        }
        return;
    }
    Datum list = eval(l, target->left), index = eval(l, target->right);
    if (list.kind == DATUM_ERROR || index.kind == DATUM_ERROR || eval(l, target).kind == DATUM_ERROR)
        return; /* the error was told when the element was read */
    if (!charge(l, list.count, target->span))
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
    diag_begin(l->diag, ERROR, "U0206", stmt->value->span, "`=` sets a tensor, and this is %s",
               datum_text(l, value));
    diag_label(l->diag, "%s",
               value.kind == DATUM_LIST    ? "values"
               : value.kind == DATUM_TRUTH ? "true or false"
                                           : datum_text(l, value) + 2 /* without "a " */);
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
            bind_name(l, name, BINDING_SET, (Datum){.kind = DATUM_ERROR}, stmt->targets.item[i]->span);
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
        Span names = stmt->targets.item[0]->span, last = stmt->targets.item[count - 1]->span;
        names.width = last.column + last.width - names.column;
        diag_begin(l->diag, ERROR, "U0311", names, "%d name%s on the left, %d value%s on the right", count,
                   unet_plural(count), given, given == 1 ? "" : "s");
        diag_also(l->diag, stmt->value->span, "gives %d", given);
        note_via(l);
        diag_end(l->diag);
        forget(l, stmt);
        return;
    }
    for (int i = 0; i < count; i++)
        store(l, stmt->targets.item[i], value.items->item[i]);
}

/* A list grows by a list: `skips += [x]`. */
static bool report_no_list(Lower *l, const Stmt *stmt, Datum before, Datum more) {
    const char *name = expr_text(l->pool, stmt->targets.item[0]);
    if (before.kind != DATUM_LIST || more.kind == DATUM_LIST || more.kind == DATUM_ERROR)
        return false;
    diag_begin(l->diag, ERROR, "U0319", stmt->value->span, "`%s` is a list, and this is %s", name,
               datum_text(l, more));
    diag_help(l->diag, "write `%s += [%s]` to append it", name, expr_text(l->pool, stmt->value));
    note_via(l);
    diag_end(l->diag);
    return true;
}

/* a += b */
static void run_extend(Lower *l, const Stmt *stmt) {
    const Expr *target = stmt->targets.item[0];
    Expr plus = {.kind = EXPR_BINARY, .op = OPERATOR_ADD, .span = stmt->span, .mark = stmt->span};
    plus.left = stmt->targets.item[0];
    plus.right = stmt->value;
    Datum before = eval(l, target), more = eval(l, stmt->value);
    if (before.kind != DATUM_ERROR && before.kind != DATUM_LIST && before.kind != DATUM_TENSOR) {
        diag_begin(l->diag, ERROR, "U0204", target->span, "`%s` has a value already",
                   expr_text(l->pool, target));
        diag_note(l->diag, "a `let` never changes; `+=` adds to a tensor or appends to a list");
        diag_end(l->diag);
        return;
    }
    Datum sum = {.kind = DATUM_ERROR};
    if (!report_no_list(l, stmt, before, more))
        sum = apply_binary(l, &plus, before, more);
    if (sum.kind == DATUM_ERROR) {
        forget(l, stmt);
        return;
    }
    Binding *binding = find_binding(l->frame, target_name(target));
    bool all_tensors =
        binding != NULL && binding->kind == BINDING_SET; /* so far: checked when it was set */
    if (report_value(l, stmt, all_tensors ? more : sum))
        return;
    store(l, target, sum);
    binding = find_binding(l->frame, target_name(target));
    if (binding != NULL && sum.kind == DATUM_LIST) {
        binding->pushed += more.count;
        binding->push_span = stmt->span;
    }
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

static const char *iteration_text(Lower *l, const Stmt *stmt, Datum item) {
    if (item.kind == DATUM_INTEGER)
        return pool_text(l->pool, "in iteration %s = %lld of the loop on line %d", stmt->name,
                         (long long)item.integer, stmt->span.line);
    return pool_text(l->pool, "in an iteration of the loop on line %d", stmt->span.line);
}

/* Binds the names of the loop to ITEM, or to its elements. */
static bool bind_item(Lower *l, const Stmt *stmt, Datum item) {
    const int count = stmt->targets.count + 1;
    if (count > 1 && (item.kind != DATUM_LIST || item.count != count)) {
        const char *found =
            item.kind == DATUM_LIST ? pool_text(l->pool, "a list of %d", item.count) : datum_text(l, item);
        diag_begin(l->diag, ERROR, "U0319", stmt->value->span,
                   "a loop over %d names takes lists of %d, and an element is %s", count, count, found);
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    const Datum *each = count > 1 ? item.items->item : &item;
    bind_name(l, stmt->name, BINDING_LOOP, each[0], stmt->name_span)->running = true;
    for (int k = 1; k < count; k++) {
        const Expr *name = stmt->targets.item[k - 1];
        bind_name(l, name->text, BINDING_LOOP, each[k], name->span)->running = true;
    }
    return true;
}

static bool may_bind_names(Lower *l, const Stmt *stmt) {
    bool good = may_bind(l, stmt->name, BINDING_LOOP, stmt->name_span);
    for (int k = 0; good && k < stmt->targets.count; k++)
        good = may_bind(l, stmt->targets.item[k]->text, BINDING_LOOP, stmt->targets.item[k]->span);
    return good;
}

static void unbind_names(Lower *l, const Stmt *stmt) {
    find_binding(l->frame, stmt->name)->running = false;
    for (int k = 0; k < stmt->targets.count; k++)
        find_binding(l->frame, stmt->targets.item[k]->text)->running = false;
}

static void run_for(Lower *l, const Stmt *stmt) {
    Datum list = eval(l, stmt->value);
    if (list.kind != DATUM_LIST) {
        if (list.kind == DATUM_ERROR)
            return;
        diag_begin(l->diag, ERROR, "U0319", stmt->value->span, "a loop runs over a list, and this is %s",
                   datum_text(l, list));
        if (list.kind == DATUM_INTEGER)
            diag_help(l->diag, "write `range(%s)`", expr_text(l->pool, stmt->value));
        diag_end(l->diag);
        return;
    }
    const Via *outer = l->via;
    bool in_loop = l->frame->in_loop;
    l->frame->in_loop = true;
    bool good = may_bind_names(l, stmt);
    for (int i = 0; good && i < list.count && !l->stop && !l->frame->returned; i++) {
        Via *via = NEW(l->pool, Via);
        *via = (Via){outer, stmt->value->span, iteration_text(l, stmt, list.items->item[i]), false};
        l->via = via;
        if (!bind_item(l, stmt, list.items->item[i]))
            break;
        run_statements(l, &stmt->body);
        unbind_names(l, stmt);
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

/* `input` and sections belong to the file, outside loops, and `return` to a block. */
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
        diag_begin(l->diag, ERROR, "U0114", stmt->span, "`%s` belongs %s", name, belongs);
        if (stmt->kind == STMT_RETURN)
            diag_help(l->diag, "what the network gives is an output: `output result = ...`");
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
    if (!charge(l, 1, stmt->span) || misplaced(l, stmt))
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
        diag_begin(l->diag, ERROR, "U0205", stmt->name_span,
                   first != stmt ? "`%s` is defined twice" : "`%s` is an operator of the language",
                   stmt->name);
        if (first != stmt)
            diag_also(l->diag, first->name_span, "first here");
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
        diag_begin(l->diag, WARNING, let ? "U0802" : "U0801", binding->span, "`%s%s` is never used",
                   let ? "let " : "", binding->name);
        if (!let)
            diag_help(l->diag, "remove the line, or use `%s`", binding->name);
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
    diag_begin(l->diag, ERROR, "U0610", last == NULL ? (Span){1, 1, 1} : last->targets.item[0]->span,
               "the file has no `output`");
    if (last != NULL)
        diag_help(l->diag, "write `output %s = %s`", last->targets.item[0]->text,
                  expr_text(l->pool, last->value));
    diag_end(l->diag);
}

/* C has no names that begin with a digit, and unet_embed_init() and others like it are the runtime's. */
static bool needs_underscore(const char *name) {
    return isdigit((unsigned char)*name) || strcmp(name, "unet_embed") == 0;
}

/* "photos/tiny-unet.unet": the source is tiny-unet.unet, the model tiny_unet. */
static void name_model(Lower *l) {
    const char *path = l->options->path, *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1, *dot = strrchr(file, '.');
    size_t length = dot == NULL || dot == file ? strlen(file) : (size_t)(dot - file);
    char *name = pool_copy(l->pool, file, length);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    l->model->name = *name == '\0'            ? "model"
                     : needs_underscore(name) ? pool_text(l->pool, "_%s", name)
                                              : name;
    l->model->source = file;
    l->model->text = l->options->text;
}

static void run_file(Lower *l) {
    Slot slot = {.taken = true};
    l->slot = &slot;
    name_model(l);
    find_blocks(l);
    check_blocks(l);
    begin_sections(l);
    read_defines(l);
    run_statements(l, &l->ast->body);
    check_defines(l);
    if (l->stop || diag_errors(l->diag) > 0)
        return;
    check_outputs(l);
    end_sections(l);
    check_sections(l);
    finish_names(l);
    if (diag_errors(l->diag) > 0)
        return;
    check_names(l);
    check_trained(l);
}

static Model *run(Pool *pool, Diag *diag, const Ast *ast, const LowerOptions *options, int only_axis) {
    Model *model = NEW(pool, Model);
    Frame file = {.body = &ast->body, .module = NEW(pool, Module)};
    Lower l = {.pool = pool,
               .diag = diag,
               .ast = ast,
               .options = options,
               .model = model,
               .only_axis = only_axis,
               .tries_size = only_axis >= 0};
    model->pool = pool;
    model->diag = diag;
    model->graph = l.graph = graph_new(pool);
    l.file = l.frame = &file;
    l.define = NEW_ARRAY(pool, Datum, options->ndefine);
    run_file(&l);
    return diag_errors(diag) > 0 || l.unequal ? NULL : model;
}

bool lower_axis(Pool *pool, const Ast *ast, const LowerOptions *options, int axis) {
    return run(pool, diag_quiet(pool), ast, options, axis) != NULL;
}

Model *lower(Pool *pool, Diag *diag, const Ast *ast, const LowerOptions *options) {
    return run(pool, diag, ast, options, -1);
}
