/* lower_call.c - calls of blocks, operators, layers and functions. */
#include "front/lower_state.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <string.h>

static const Datum failed = {.kind = DATUM_ERROR};

/* ---- blocks ---- */

/* The blocks from the call of BLOCK before this one to this one: "`a`, line 4 -> `b`, line 9 -> `a`". */
static const char *chain_text(Lower *l, const Stmt *block) {
    const char *chain = pool_text(l->pool, "`%s`", block->name);
    for (const Frame *frame = l->frame; frame != NULL; frame = frame->caller) {
        chain =
            pool_text(l->pool, "`%s`, line %d -> %s", frame->block->name, frame->block->span.line, chain);
        if (frame->block == block)
            break;
    }
    return chain;
}

/* A block may call itself where something ends that; else it would go on for ever. */
static bool calls_itself_too_often(Lower *l, const Expr *expr, const Stmt *block) {
    enum { MOST = 64 };
    int depth = 0;
    for (const Frame *frame = l->frame; frame != NULL; frame = frame->caller)
        depth += frame->block == block;
    if (depth < MOST)
        return false;
    diag_begin(l->diag, ERROR, "U0208", expr->mark,
               "`%s` calls itself more than %d times, each in the other", block->name, MOST);
    diag_note(l->diag, "the chain is %s", chain_text(l, block));
    diag_help(l->diag, "end it with `if`: `if n > 0 { x = %s(x, n - 1) }`", block->name);
    diag_end(l->diag);
    l->stop = true;
    return true;
}

static void bind_parameters(const Call *call, const Stmt *block) {
    Lower *l = call->l;
    for (int i = 0; i < call->nargument; i++) {
        const Param *param = &block->params.item[i];
        bind_name(l, param->name, BINDING_ARGUMENT, call->argument[i].value, param->span);
        const Binding *hidden = find_binding(l->file, param->name);
        if (hidden != NULL && hidden->kind == BINDING_LET && !hidden->in_loop) {
            diag_begin(l->diag, WARNING, "U0806", param->span, "the argument `%s` hides `let %s`",
                       param->name, param->name);
            diag_also(l->diag, hidden->span, "hidden");
            diag_help(l->diag, "rename one of them");
            diag_end(l->diag);
        }
    }
}

static void report_no_return(Lower *l, const Stmt *block) {
    const StmtList *body = &block->body;
    const Stmt *last = body->count > 0 ? body->item[body->count - 1] : NULL;
    if (last != NULL && last->kind == STMT_IF && last->arms.item[last->arms.count - 1].condition != NULL)
        diag_begin(l->diag, ERROR, "U0313", block->name_span,
                   "`%s` ends without a `return` when `%s` is false", block->name,
                   expr_text(l->pool, last->arms.item[0].condition));
    else
        diag_begin(l->diag, ERROR, "U0313", block->name_span, "`%s` ends without a `return`", block->name);
    note_via(l);
    diag_end(l->diag);
}

static Datum run_block(const Call *call, const Stmt *block) {
    Lower *l = call->l;
    Frame frame = {.caller = l->frame, .block = block, .body = &block->body};
    frame.module = call->module != NULL ? call->module : l->frame->module;
    Via *via = NEW(l->pool, Via);
    *via = (Via){l->via, call->span,
                 pool_text(l->pool, "in `%s`, called on line %d", block->name, call->span.line), true};
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

/* The position of a call: alone, or link INDEX of a chain, which holds the weights of its links. */
typedef struct {
    const Argument *flow;
    Module *chain;
    int index;
    bool takes_name; /* it is the first call with weights of its statement */
    bool outermost;  /* the first call of its statement, with weights or not */
} Position;

static bool enter_module(Call *call, const Position *position) {
    Lower *l = call->l;
    const Arg *arg = module_name_argument(call);
    Module *parent = position->chain != NULL ? position->chain : l->frame->module;
    if (arg != NULL) {
        const Expr *text = expr_inside(arg->value);
        const char *name = module_name(l, text);
        if (name == NULL)
            return false;
        call->module = module_enter(l, parent, name, false, text->span);
    } else if (position->chain != NULL) {
        call->module =
            module_enter(l, parent, pool_text(l->pool, "%d", position->index), false, call->span);
    } else {
        const char *name = position->takes_name ? l->slot->name : call->expr->text;
        call->module = module_enter(l, parent, name, true, call->span);
    }
    return true;
}

/* A call with weights has the name of its module; another is named after its statement, operator and path.
 */
static bool name_call(Call *call, const Position *position) {
    Lower *l = call->l;
    const char *statement = l->slot->name;
    if (has_weights(l, call->expr->text) && call->module == NULL && !enter_module(call, position))
        return false;
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

/* Asked after the call: an unknown operator inside a block is the reason why the block has no weights. */
static Datum refuse_name(const Call *call, Datum result) {
    Lower *l = call->l;
    const Arg *arg = module_name_argument(call);
    if (arg == NULL || result.kind == DATUM_ERROR || has_weights(l, call->expr->text))
        return result;
    diag_begin(l->diag, ERROR, "U0505", arg->span, "`%s` has no weights, so it takes no `name`",
               call->expr->text);
    diag_end(l->diag);
    return failed;
}

/* ---- calls ---- */

static bool forbidden_here(Lower *l, const Expr *expr) {
    if (l->section == NULL || !has_weights(l, expr->text))
        return false;
    diag_begin(l->diag, ERROR, "U0506", expr->span, "`%s` cannot contain a layer with weights",
               l->section->name);
    diag_help(l->diag, "make it above the section: `head = %s`", expr_text(l->pool, expr));
    diag_end(l->diag);
    return true;
}

static Expr *number_expr(Pool *pool, int64_t number) {
    Expr *expr = NEW(pool, Expr);
    *expr = (Expr){.kind = EXPR_INTEGER, .integer = number};
    return expr;
}

/* `heads[d]` as `heads[0]`.  EXPR was evaluated, so its names are known. */
static Expr *with_numbers(Lower *l, Expr *expr) {
    if (expr == NULL || expr->kind < EXPR_INDEX || expr->kind > EXPR_BINARY)
        return expr;
    Expr *copy = NEW(l->pool, Expr);
    *copy = *expr;
    Expr **part[] = {&copy->left, &copy->right};
    for (int i = 0; i < 2; i++) {
        const bool named = *part[i] != NULL && (*part[i])->kind == EXPR_NAME;
        const Datum value = named ? look_up(l, (*part[i])->text, (*part[i])->span) : failed;
        *part[i] =
            value.kind == DATUM_INTEGER ? number_expr(l->pool, value.integer) : with_numbers(l, *part[i]);
    }
    return copy;
}

/* The call as it is written, but for whole numbers that have a name: in a loop they are others each time.
 */
static const char *result_text(const Call *call) {
    Lower *l = call->l;
    Expr written = *call->expr;
    written.args.item = NEW_ARRAY(l->pool, Arg, written.args.count);
    for (int i = 0; i < written.args.count; i++) {
        Arg *arg = &written.args.item[i];
        *arg = call->expr->args.item[i];
        arg->value = with_numbers(l, arg->value);
        for (int k = 0; k < call->nargument; k++)
            if (call->argument[k].expr == call->expr->args.item[i].value &&
                call->argument[k].value.kind == DATUM_INTEGER)
                arg->value = number_expr(l->pool, call->argument[k].value.integer);
    }
    return expr_text(l->pool, &written);
}

/* Said before the arguments are read: these may be missing for another error. */
static bool is_metric_as_loss(Lower *l, const Expr *expr, Op op, Span span) {
    if (!l->in_loss || (op_table[op].traits & TRAIT_MORE_IS_BETTER) == 0)
        return false;
    report_metric(l, span, expr_text(l->pool, expr), op_table[op].name);
    return true;
}

static Datum call_operator(Call *call, Op op) {
    Lower *l = call->l;
    call->op = op;
    if (!charge(l, 1, call->span))
        return failed;
    ValueId value = build_rules[op](call);
    if (value < 0 || l->graph->value[value].class != CLASS_METRIC)
        return datum_tensor(value);
    LossTerm *term = NEW(l->pool, LossTerm);
    *term = (LossTerm){result_text(call), value, 1, call->span};
    return (Datum){.kind = DATUM_LOSS, .count = 1, .term = term};
}

/* EXPR calls a block or an operator; MODULE is NULL unless it is the link of a layer. */
static Datum call_link(Lower *l, const Expr *expr, const Position *position, Span span,
                       const Layer *layer) {
    const Stmt *block = find_block(l, expr->text);
    Op op = block == NULL ? op_by_name(expr->text) : OPS;
    if (block == NULL && op == OPS) {
        report_unknown_call(l, expr);
        return failed;
    }
    if (forbidden_here(l, expr) || (block != NULL && calls_itself_too_often(l, expr, block)))
        return failed;
    if (block == NULL && is_metric_as_loss(l, expr, op, span))
        return failed;
    const Signature of_block = {.name = expr->text,
                                .params = block == NULL ? (ParamList){NULL, 0} : block->params};
    Call call = {.l = l, .expr = expr, .span = span, .layer = layer};
    call.signature = block != NULL ? &of_block : signature_of(l, op_table[op].signature, false);
    call.module = layer == NULL ? NULL : layer->module;
    if (!bind_arguments(&call, position->flow, &expr->args) || !name_call(&call, position))
        return failed;
    return refuse_name(&call, block != NULL ? run_block(&call, block) : call_operator(&call, op));
}

static Datum call_layer(Lower *l, Layer *layer, const Expr *expr, const Argument *flow) {
    if (layer->link == NULL)
        return failed;
    Argument input = {failed, expr->span, NULL, true};
    if (flow != NULL) {
        input = *flow;
    } else if (expr->args.count > 0) {
        input.expr = expr->args.item[0].value;
        input.span = input.expr->span;
        input.value = eval(l, input.expr);
    }
    if (expr->args.count != (flow == NULL) || (flow == NULL && expr->args.item[0].name != NULL)) {
        diag_begin(l->diag, ERROR, "U0302", expr->span, "the layer `%s` takes 1 argument, its input",
                   layer->name);
        diag_end(l->diag);
        return failed;
    }
    if (input.value.kind != DATUM_TENSOR && input.value.kind != DATUM_ERROR) {
        diag_begin(l->diag, ERROR, "U0319", input.span, "a layer is given a tensor, and this is %s",
                   datum_text(l, input.value));
        diag_end(l->diag);
    }
    if (input.value.kind != DATUM_TENSOR)
        return failed;
    int64_t channels = shape_channels(l->graph->value[input.value.tensor].shape);
    if (layer->channels != 0 && layer->channels != channels) {
        diag_begin(l->diag, ERROR, "U0502", expr->span,
                   "`%s` was made for %lld channel%s and is now given %lld", layer->name,
                   (long long)layer->channels, unet_plural(layer->channels), (long long)channels);
        diag_also(l->diag, layer->first_use, "%lld channel%s", (long long)layer->channels,
                  unet_plural(layer->channels));
        diag_note(l->diag, "a `layer` has one set of weights; its first use fixes their shape");
        diag_end(l->diag);
        return failed;
    }
    layer->module->again |= layer->channels != 0;
    layer->module->next = 0;
    if (layer->channels == 0)
        layer->first_use = expr->span;
    layer->channels = channels;
    const Datum result = call_link(l, layer->link, &(Position){.flow = &input}, expr->span, layer);
    return result.kind == DATUM_ERROR || shares_weights(l, layer->link) ? result : failed;
}

static Datum call_function(Lower *l, Function *function, const Expr *expr, const Argument *flow) {
    int count = 0;
    Datum *value = NEW_ARRAY(l->pool, Datum, expr->args.count + 1);
    bool good = true;
    if (flow != NULL)
        value[count++] = flow->value;
    for (int i = 0; i < expr->args.count; i++) {
        if (expr->args.item[i].name != NULL) {
            diag_begin(l->diag, ERROR, "U0303", expr->args.item[i].name_span, "`%s` has no argument `%s`",
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
    return call_link(l, expr, &position, expr->span, NULL);
}

Datum eval_call(Lower *l, const Expr *expr) {
    Position position = {.outermost = !l->slot->begun};
    l->slot->begun = true;
    if (!l->slot->taken && l->slot->name != NULL && has_weights(l, expr->text))
        position.takes_name = l->slot->taken = true;
    return call_any(l, expr, position);
}

Datum eval_chain(Lower *l, const Expr *chain, bool returned) {
    bool weights = false;
    for (int i = 0; i < chain->items.count; i++)
        weights |= has_weights(l, chain->items.item[i]->text);
    bool takes_name = weights && !l->slot->taken && l->slot->name != NULL;
    l->slot->begun = true;
    l->slot->taken |= takes_name;
    Argument flow = {eval(l, chain->left), chain->left->span, chain->left, true};
    Module *sequence = NULL;
    if (weights && returned)
        sequence = l->frame->module;
    else if (takes_name)
        sequence = module_enter(l, l->frame->module, l->slot->name, true, chain->span);
    for (int i = 0; i < chain->items.count && flow.value.kind != DATUM_ERROR; i++) {
        const Expr *link = chain->items.item[i];
        flow.value = call_any(l, link, (Position){.flow = &flow, .chain = sequence, .index = i});
        flow.span = link->span;
        flow.expr = link;
    }
    return flow.value;
}
