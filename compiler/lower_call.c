/* lower_call.c - calls of blocks, operators and layers.
 *
 * Signatures are written in the language itself and read by its own parser, so operators, blocks, settings
 * and sources bind their arguments by the same rules: by position, then by name, as in Python.
 */
#include "lower_state.h"
#include "ops.h"

#include <string.h>

static const Datum failed = {.kind = DATUM_ERROR};

/* ---- signatures ---- */

const Signature *signature_of(Lower *l, const char *text, bool setting) {
    for (int i = 0; i < l->nsignature; i++)
        if (l->signature[i]->text == text)
            return l->signature[i];
    const char *dots = strstr(text, ", ...");
    char *source = dots == NULL ? pool_text(l->pool, "block %s {}\n", text)
                                : pool_text(l->pool, "block %.*s) {}\n", (int)(dots - text), text);
    const Ast *ast =
        parse(l->pool, diag_new(l->pool, "signature", source, FORMAT_HUMAN, COLOR_NEVER), source);
    CHECK(ast != NULL && ast->body.count == 1);
    const Stmt *block = ast->body.item[0];
    Signature *signature = NEW(l->pool, Signature);
    *signature = (Signature){block->name, text, block->params, dots != NULL, setting};
    PUSH(l->pool, l->signature, l->nsignature, signature);
    return signature;
}

static const char *block_text(Lower *l, const Stmt *block) {
    const char *text = pool_text(l->pool, "%s(", block->name);
    for (int i = 0; i < block->params.count; i++) {
        const Param *param = &block->params.item[i];
        text = pool_text(l->pool, "%s%s%s", text, i > 0 ? ", " : "", param->name);
        if (param->value != NULL)
            text = pool_text(l->pool, "%s = %s", text, expr_text(l->pool, param->value));
    }
    return pool_text(l->pool, "%s)", text);
}

/* ---- binding arguments ---- */

static void end_with_signature(const Call *call) {
    diag_note(call->l->diag, "%s", call->signature->text);
    note_via(call->l);
    diag_end(call->l->diag);
}

static const char *counted(Lower *l, int count) {
    return pool_text(l->pool, "%d argument%s", count, count == 1 ? "" : "s");
}

static bool report_too_many(const Call *call, const Argument *extra, int found) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0302", extra->place, "`%s` takes %s, found %d", call->signature->name,
               counted(l, call->signature->params.count), found);
    diag_label(l->diag, "one too many");
    end_with_signature(call);
    return false;
}

static bool report_unknown_argument(const Call *call, const Arg *arg) {
    Lower *l = call->l;
    const ParamList *params = &call->signature->params;
    const char **name = NEW_ARRAY(l->pool, const char *, params->count + 1);
    for (int i = 0; i < params->count; i++)
        name[i] = params->item[i].name;
    const char *near = nearest_name(arg->name, name, params->count);
    diag_begin(l->diag, ERROR, "U0303", arg->name_place, "`%s` has no argument `%s`", call->signature->name,
               arg->name);
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    end_with_signature(call);
    return false;
}

static bool report_given_twice(const Call *call, const Arg *arg, int index) {
    static const char *const ordinal[] = {"first", "second", "third", "fourth", "fifth"};
    Lower *l = call->l;
    const Argument *before = &call->argument[index];
    diag_begin(l->diag, ERROR, "U0304", arg->place, "`%s` is given twice", arg->name);
    if (before->expr == NULL)
        diag_note(l->diag, "the chain gives it already");
    else if (index < 5)
        diag_also(l->diag, before->place, "the %s argument is the %s", ordinal[index], arg->name);
    else
        diag_also(l->diag, before->place, "first here");
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool report_order(const Call *call, const Arg *arg) {
    Lower *l = call->l;
    const ParamList *params = &call->signature->params;
    diag_begin(l->diag, ERROR, "U0305", arg->place, "an argument without a name after one with a name");
    int free = 0;
    while (free < call->nargument && call->argument[free].given)
        free++;
    if (free < params->count)
        diag_help(l->diag, "write `%s = %s`", params->item[free].name, expr_text(l->pool, arg->value));
    note_via(l);
    diag_end(l->diag);
    return false;
}

static int parameter_index(const Signature *signature, const char *name) {
    for (int i = 0; i < signature->params.count; i++)
        if (strcmp(signature->params.item[i].name, name) == 0)
            return i;
    return -1;
}

/* `name = "..."` belongs to the call itself, unless a block has such an argument. */
static bool is_module_name(const Signature *signature, const Arg *arg) {
    return arg->name != NULL && strcmp(arg->name, "name") == 0 && !signature->setting &&
           parameter_index(signature, "name") < 0;
}

static bool bind_argument(Call *call, const Arg *arg, int *position, bool *named) {
    Argument value = {failed, arg->place, arg->value, true};
    int index = *position;
    if (arg->name != NULL) {
        index = call->signature->variadic ? -1 : parameter_index(call->signature, arg->name);
        *named = true;
        if (index < 0)
            return report_unknown_argument(call, arg);
        if (call->argument[index].given)
            return report_given_twice(call, arg, index);
    } else {
        if (*named)
            return report_order(call, arg);
        if (index == call->nargument)
            return report_too_many(call, &value, index + 1);
        ++*position;
    }
    value.place = arg->value->place;
    value.value = eval(call->l, arg->value);
    call->argument[index] = value;
    return value.value.kind != DATUM_ERROR;
}

static bool report_missing(const Call *call, const Param *param) {
    static const struct {
        const char *name, *value;
    } usual[] = {{"kernel", "3"}, {"channels", "64"}, {"truth", "clean"}, {"sigma", "25/255"}, {"n", "50"}};
    Lower *l = call->l;
    const char *sample = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(param->name, usual[i].name) == 0)
            sample = usual[i].value;
    diag_begin(l->diag, ERROR, "U0301", call->place, "`%s` needs a `%s`", call->signature->name,
               param->name);
    if (!call->signature->setting && sample != NULL && call->expr->kind == EXPR_CALL) {
        const char *text = expr_text(l->pool, call->expr);
        int open = (int)strlen(text) - 1;
        const char *comma = call->expr->args.count > 0 ? ", " : "";
        diag_help(l->diag, "write `%.*s%s%s)`", open, text, comma, sample);
    }
    end_with_signature(call);
    return false;
}

/* Defaults may name the arguments before them: `stride = kernel`. */
static Datum eval_default(const Call *call, const Expr *value) {
    Lower *l = call->l;
    if (value->kind == EXPR_NAME && strcmp(value->text, "none") == 0)
        return (Datum){.kind = DATUM_NONE};
    Frame frame = {
        .caller = l->frame, .block = l->frame->block, .body = l->frame->body, .module = l->frame->module};
    Frame *caller = l->frame;
    l->frame = &frame;
    for (int i = 0; i < call->signature->params.count; i++)
        if (call->argument[i].value.kind != DATUM_ERROR)
            bind_name(l, call->signature->params.item[i].name, BINDING_ARGUMENT, call->argument[i].value,
                      call->argument[i].place);
    Datum result = eval(l, value);
    l->frame = caller;
    return result;
}

bool bind_arguments(Call *call, const Argument *flow, const ArgList *args) {
    const ParamList *params = &call->signature->params;
    int position = 0;
    bool named = false, good = true;
    call->nargument = call->signature->variadic ? args->count + (flow != NULL) : params->count;
    call->argument = NEW_ARRAY(call->l->pool, Argument, call->nargument);
    if (flow != NULL) {
        if (call->nargument == 0)
            return report_too_many(call, flow, 1);
        call->argument[position++] = *flow;
    }
    for (int i = 0; i < args->count; i++)
        if (!is_module_name(call->signature, &args->item[i]))
            good &= bind_argument(call, &args->item[i], &position, &named);
    if (call->signature->variadic)
        call->nargument = position;
    for (int i = 0; good && !call->signature->variadic && i < params->count; i++) {
        Argument *argument = &call->argument[i];
        if (argument->given)
            continue;
        if (params->item[i].value == NULL)
            return report_missing(call, &params->item[i]);
        argument->place = call->place;
        argument->value = eval_default(call, params->item[i].value);
        good &= argument->value.kind != DATUM_ERROR;
    }
    return good;
}

/* ---- reading arguments ---- */

const Argument *argument(const Call *call, const char *name) {
    int index = parameter_index(call->signature, name);
    CHECK(index >= 0);
    return &call->argument[index];
}

/* What a message calls an argument: that of `batch 6` is the batch. */
static const char *label_of(const Call *call, const char *name) {
    return call->signature->setting && parameter_index(call->signature, name) == 0 ? call->signature->name
                                                                                   : name;
}

static void report_type(const Call *call, const char *name, const char *wanted) {
    Lower *l = call->l;
    const Argument *a = argument(call, name);
    diag_begin(l->diag, ERROR, "U0319", a->place, "`%s` must be %s, and this is %s", label_of(call, name),
               wanted, datum_text(l, a->value));
    end_with_signature(call);
}

bool argument_integer(const Call *call, const char *name, int64_t minimum, int64_t *value) {
    Lower *l = call->l;
    const Argument *a = argument(call, name);
    if (a->value.kind == DATUM_REAL) {
        const Expr number = {.kind = EXPR_REAL, .real = a->value.real};
        diag_begin(l->diag, ERROR, "U0306", a->place, "`%s` must be a whole number, and this is %s",
                   label_of(call, name), expr_text(l->pool, &number));
        const Expr *expr = a->expr == NULL ? NULL : expr_inside(a->expr);
        if (expr != NULL && expr->kind == EXPR_BINARY && expr->op == OPERATOR_DIVIDE)
            diag_help(l->diag, "`/` gives a fraction; write `%s // %s`", expr_text(l->pool, expr->left),
                      expr_text(l->pool, expr->right));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    if (a->value.kind != DATUM_INTEGER) {
        report_type(call, name, "a whole number");
        return false;
    }
    if (a->value.integer < minimum) {
        diag_begin(l->diag, ERROR, "U0316", a->place, "`%s` must be at least %lld, and this is %lld",
                   label_of(call, name), (long long)minimum, (long long)a->value.integer);
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    *value = a->value.integer;
    return true;
}

bool argument_number(const Call *call, const char *name, double *value) {
    if (datum_number(argument(call, name)->value, value))
        return true;
    report_type(call, name, "a number");
    return false;
}

bool argument_truth(const Call *call, const char *name, bool *value) {
    const Argument *a = argument(call, name);
    *value = a->value.integer != 0;
    if (a->value.kind == DATUM_TRUTH)
        return true;
    report_type(call, name, "true or false");
    return false;
}

bool argument_tensor(const Call *call, const char *name, ValueId *value) {
    const Argument *a = argument(call, name);
    *value = a->value.tensor;
    if (a->value.kind == DATUM_TENSOR)
        return true;
    report_type(call, name, "a tensor");
    return false;
}

bool argument_choice(const Call *call, const char *name, const char *const *choices, int *index) {
    Lower *l = call->l;
    const Argument *a = argument(call, name);
    const char *list = "";
    if (a->value.kind != DATUM_TEXT) {
        report_type(call, name, "a text");
        return false;
    }
    for (*index = 0; choices[*index] != NULL; ++*index) {
        if (strcmp(choices[*index], a->value.text) == 0)
            return true;
        list = pool_text(l->pool, "%s%s\"%s\"", list, *index > 0 ? ", " : "", choices[*index]);
    }
    diag_begin(l->diag, ERROR, "U0307", a->place, "`%s` cannot be \"%s\"", label_of(call, name),
               a->value.text);
    diag_help(l->diag, "one of %s", list);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* ---- blocks ---- */

static bool calls_itself(Lower *l, const Expr *expr, const Stmt *block) {
    for (const Frame *frame = l->frame; frame != NULL; frame = frame->caller)
        if (frame->block == block) {
            diag_begin(l->diag, ERROR, "U0208", expr->mark, "`%s` calls itself", block->name);
            diag_help(l->diag, "write a loop: `for i in range(n) { x = ... }`");
            diag_end(l->diag);
            return true;
        }
    return false;
}

static void bind_parameters(const Call *call, const Stmt *block) {
    Lower *l = call->l;
    for (int i = 0; i < call->nargument; i++) {
        const Param *param = &block->params.item[i];
        bind_name(l, param->name, BINDING_ARGUMENT, call->argument[i].value, param->place);
        const Binding *hidden = find_binding(l->file, param->name);
        if (hidden != NULL && hidden->kind == BINDING_LET && !hidden->in_loop) {
            diag_begin(l->diag, WARNING, "U0806", param->place, "the argument `%s` hides `let %s`",
                       param->name, param->name);
            diag_also(l->diag, hidden->place, "hidden");
            diag_help(l->diag, "rename one of them");
            diag_end(l->diag);
        }
    }
}

static void report_no_return(Lower *l, const Stmt *block) {
    const StmtList *body = &block->body;
    const Stmt *last = body->count > 0 ? body->item[body->count - 1] : NULL;
    if (last != NULL && last->kind == STMT_IF && last->arms.item[last->arms.count - 1].condition != NULL)
        diag_begin(l->diag, ERROR, "U0313", block->name_place,
                   "`%s` ends without a `return` when `%s` is false", block->name,
                   expr_text(l->pool, last->arms.item[0].condition));
    else
        diag_begin(l->diag, ERROR, "U0313", block->name_place, "`%s` ends without a `return`", block->name);
    note_via(l);
    diag_end(l->diag);
}

static Datum run_block(const Call *call, const Stmt *block) {
    Lower *l = call->l;
    Frame frame = {.caller = l->frame, .block = block, .body = &block->body};
    frame.module = call->module != NULL ? call->module : l->frame->module;
    Via *via = NEW(l->pool, Via);
    *via = (Via){l->via, call->place,
                 pool_text(l->pool, "in `%s`, called on line %d", block->name, call->place.line), true};
    const Via *outer = l->via;
    Frame *caller = l->frame;
    int errors = diag_errors(l->diag);
    l->frame = &frame;
    bind_parameters(call, block);
    l->via = via;
    run_statements(l, &block->body);
    if (!frame.returned && !l->stop && diag_errors(l->diag) == errors)
        report_no_return(l, block);
    l->frame = caller;
    l->via = outer;
    return frame.returned ? frame.result : failed;
}

/* ---- names of calls ---- */

/* Where a call stands: alone, or as link INDEX of a chain, which holds its links' weights if it has any. */
typedef struct {
    const Argument *flow;
    Module *chain;
    int index;
    bool takes_name; /* it is the first call with weights of its statement */
    bool outermost;  /* the first call of its statement, with weights or not */
} Position;

static const Arg *module_name_argument(const Call *call) {
    const ArgList *args = &call->expr->args;
    for (int i = 0; i < args->count; i++)
        if (is_module_name(call->signature, &args->item[i]))
            return &args->item[i];
    return NULL;
}

static bool enter_module(Call *call, const Position *position) {
    Lower *l = call->l;
    const Arg *arg = module_name_argument(call);
    Module *parent = position->chain != NULL ? position->chain : l->frame->module;
    if (arg != NULL) {
        const Expr *text = expr_inside(arg->value);
        if (text->kind != EXPR_TEXT) {
            diag_begin(l->diag, ERROR, "U0504", text->place, "not a name: a name is a text in quotes");
            diag_end(l->diag);
            return false;
        }
        const char *name = module_name(l, text->text, text->place);
        if (name == NULL)
            return false;
        call->module = module_enter(l, parent, name, false, text->place);
    } else if (position->chain != NULL) {
        call->module =
            module_enter(l, parent, pool_text(l->pool, "%d", position->index), false, call->place);
    } else {
        const char *name = position->takes_name ? l->slot->name : call->expr->text;
        call->module = module_enter(l, parent, name, true, call->place);
    }
    return true;
}

/* A call with weights is called as its weights are; another as the statement, the function and the path
 * say. */
static bool name_call(Call *call, const Position *position) {
    Lower *l = call->l;
    const Arg *arg = module_name_argument(call);
    const char *statement = l->slot->name;
    if (has_weights(l, call->expr->text)) {
        if (call->module == NULL && !enter_module(call, position))
            return false;
    } else if (arg != NULL) {
        diag_begin(l->diag, ERROR, "U0505", arg->place, "`%s` has no weights to name", call->expr->text);
        diag_end(l->diag);
        return false;
    }
    if (call->module != NULL)
        call->plan_name = (PlanName){call->module, "", -1};
    else if (position->chain != NULL)
        call->plan_name = (PlanName){position->chain, pool_text(l->pool, "%d", position->index), -1};
    else if (statement == NULL)
        call->plan_name = (PlanName){l->frame->module, call->expr->text, -1};
    else if (position->outermost && !l->slot->taken)
        call->plan_name = (PlanName){l->frame->module, statement, -1};
    else
        call->plan_name =
            (PlanName){l->frame->module, pool_text(l->pool, "%s.%s", statement, call->expr->text), -1};
    const char *path = module_path(l->pool, call->plan_name.module), *suffix = call->plan_name.suffix;
    call->name = pool_text(l->pool, "%s%s%s", path, *path != '\0' && *suffix != '\0' ? "." : "", suffix);
    return true;
}

/* ---- calls ---- */

static bool forbidden_here(Lower *l, const Expr *expr) {
    if (l->section == NULL || !has_weights(l, expr->text))
        return false;
    diag_begin(l->diag, ERROR, "U0506", expr->place, "a layer with weights inside `%s`", l->section->name);
    diag_help(l->diag, "make it above the section: `head = %s`", expr_text(l->pool, expr));
    diag_end(l->diag);
    return true;
}

static Datum call_operator(Call *call, Op op) {
    Lower *l = call->l;
    call->op = op;
    if (!charge(l, 1, call->place))
        return failed;
    ValueId value = op_table[op].build(call);
    if (value < 0 || l->graph->value[value].class != CLASS_METRIC)
        return datum_tensor(value);
    LossTerm *term = NEW(l->pool, LossTerm);
    *term = (LossTerm){expr_text(l->pool, call->expr), value, 1, call->place};
    return (Datum){.kind = DATUM_LOSS, .count = 1, .term = term};
}

/* EXPR calls a block or an operator; MODULE is NULL unless it is the link of a layer. */
static Datum call_link(Lower *l, const Expr *expr, const Position *position, Place place,
                       const Layer *layer) {
    const Stmt *block = find_block(l, expr->text);
    Op op = block == NULL ? op_by_name(expr->text) : OPS;
    if (block == NULL && op == OPS) {
        report_unknown_call(l, expr);
        return failed;
    }
    if (forbidden_here(l, expr) || (block != NULL && calls_itself(l, expr, block)))
        return failed;
    const Signature of_block = {expr->text, block == NULL ? NULL : block_text(l, block),
                                block == NULL ? (ParamList){NULL, 0} : block->params, false, false};
    Call call = {.l = l, .expr = expr, .place = place, .layer = layer};
    call.signature = block != NULL ? &of_block : signature_of(l, op_table[op].signature, false);
    call.module = layer == NULL ? NULL : layer->module;
    if (!bind_arguments(&call, position->flow, &expr->args) || !name_call(&call, position))
        return failed;
    return block != NULL ? run_block(&call, block) : call_operator(&call, op);
}

static Datum call_layer(Lower *l, Layer *layer, const Expr *expr, const Argument *flow) {
    Argument input = {failed, expr->place, NULL, true};
    if (flow != NULL) {
        input = *flow;
    } else if (expr->args.count > 0) {
        input.expr = expr->args.item[0].value;
        input.place = input.expr->place;
        input.value = eval(l, input.expr);
    }
    if (expr->args.count != (flow == NULL) || (flow == NULL && expr->args.item[0].name != NULL)) {
        diag_begin(l->diag, ERROR, "U0302", expr->place, "the layer `%s` takes 1 argument, its input",
                   layer->name);
        diag_end(l->diag);
        return failed;
    }
    if (input.value.kind != DATUM_TENSOR && input.value.kind != DATUM_ERROR) {
        diag_begin(l->diag, ERROR, "U0319", input.place, "a layer is given a tensor, and this is %s",
                   datum_text(l, input.value));
        diag_end(l->diag);
    }
    if (input.value.kind != DATUM_TENSOR)
        return failed;
    int64_t channels = shape_channels(l->graph->value[input.value.tensor].shape);
    if (layer->channels != 0 && layer->channels != channels) {
        diag_begin(l->diag, ERROR, "U0502", expr->place,
                   "`%s` was made for %lld channels and is now given %lld", layer->name,
                   (long long)layer->channels, (long long)channels);
        diag_also(l->diag, layer->first_use, "%lld channels", (long long)layer->channels);
        diag_note(l->diag, "a `layer` has one set of weights; its first use fixes their shape");
        diag_end(l->diag);
        return failed;
    }
    layer->module->again |= layer->channels != 0;
    layer->module->next = 0;
    if (layer->channels == 0)
        layer->first_use = expr->place;
    layer->channels = channels;
    return call_link(l, layer->link, &(Position){.flow = &input}, expr->place, layer);
}

static Datum call_function(Lower *l, Function *function, const Expr *expr, const Argument *flow) {
    int count = 0;
    Datum *value = NEW_ARRAY(l->pool, Datum, expr->args.count + 1);
    bool good = true;
    if (flow != NULL)
        value[count++] = flow->value;
    for (int i = 0; i < expr->args.count; i++) {
        if (expr->args.item[i].name != NULL) {
            diag_begin(l->diag, ERROR, "U0303", expr->args.item[i].name_place, "`%s` has no argument `%s`",
                       expr->text, expr->args.item[i].name);
            diag_end(l->diag);
            good = false;
            continue;
        }
        value[count] = eval(l, expr->args.item[i].value);
        good &= value[count++].kind != DATUM_ERROR;
    }
    return good ? function(l, expr, value, count) : failed;
}

static Datum call_any(Lower *l, const Expr *expr, Position position) {
    Layer *layer = find_layer(l->frame, expr->text);
    if (layer != NULL)
        return call_layer(l, layer, expr, position.flow);
    Function *function = function_by_name(expr->text);
    if (function != NULL)
        return call_function(l, function, expr, position.flow);
    return call_link(l, expr, &position, expr->place, NULL);
}

Datum eval_call(Lower *l, const Expr *expr) {
    Position position = {.outermost = !l->slot->begun};
    l->slot->begun = true;
    if (!l->slot->taken && l->slot->name != NULL && has_weights(l, expr->text))
        position.takes_name = l->slot->taken = true;
    return call_any(l, expr, position);
}

/* RETURNED: the chain stands behind `return`, so the block itself is the Sequential. */
Datum eval_chain(Lower *l, const Expr *chain, bool returned) {
    bool weights = false;
    for (int i = 0; i < chain->items.count; i++)
        weights |= has_weights(l, chain->items.item[i]->text);
    bool takes_name = weights && !l->slot->taken && l->slot->name != NULL;
    l->slot->begun = true;
    l->slot->taken |= takes_name;
    Argument flow = {eval(l, chain->left), chain->left->place, chain->left, true};
    Module *sequence = NULL;
    if (weights && returned)
        sequence = l->frame->module;
    else if (takes_name)
        sequence = module_enter(l, l->frame->module, l->slot->name, true, chain->place);
    for (int i = 0; i < chain->items.count && flow.value.kind != DATUM_ERROR; i++) {
        const Expr *link = chain->items.item[i];
        flow.value = call_any(l, link, (Position){.flow = &flow, .chain = sequence, .index = i});
        flow.place = link->place;
        flow.expr = link;
    }
    return flow.value;
}
