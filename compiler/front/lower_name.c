/* lower_name.c - the meaning of names, and the names of weights in the state dict.
 *
 * Two trees of names.  Bindings: a block sees its arguments, what it sets itself, and the `let`s of the
 * file. Modules: the path of a weight is the names of the calls around it, as PyTorch's modules have them;
 * a name given more than once, or in a loop, gets numbers, which are known only when the whole file has
 * run.
 */
#include "base/text.h"
#include "front/lower_state.h"
#include "ir/ops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- bindings ---- */

Binding *find_binding(Frame *frame, const char *name) {
    int i = table_find(&frame->binding_of, name);
    return i < 0 ? NULL : &frame->binding[i];
}

Binding *bind_name(Lower *l, const char *name, BindingKind kind, Datum value, Span span) {
    Frame *frame = l->frame;
    Binding *binding = find_binding(frame, name);
    if (binding == NULL) {
        table_set(l->pool, &frame->binding_of, name, frame->nbinding);
        PUSH(l->pool, frame->binding, frame->nbinding, ((Binding){.name = name, .span = span}));
        binding = &frame->binding[frame->nbinding - 1];
    }
    binding->kind = kind;
    binding->value = value;
    binding->span = span;
    binding->in_loop = frame->in_loop;
    return binding;
}

static Datum report_file_tensor(Lower *l, const Binding *binding, Span span) {
    const Stmt *block = l->frame->block;
    diag_begin(l->diag, ERROR, "U0203", span, "a block sees only its own arguments");
    diag_label(l->diag, "this tensor belongs to the file");
    if (block->span.line != span.line)
        diag_also(l->diag, (Span){block->span.line, 1, 0}, "%s", "");
    diag_note(l->diag, "numbers and lists set by `let` at the top of the file may be used");
    Text params = text_new(l->pool);
    for (int i = 0; i < block->params.count; i++)
        text_add(&params, "%s, ", block->params.item[i].name);
    text_add(&params, "%s", binding->name);
    diag_help(l->diag, "take it as an argument: `block %s(%s) {`", block->name, params.bytes);
    diag_end(l->diag);
    return (Datum){.kind = DATUM_ERROR};
}

Datum look_up(Lower *l, const char *name, Span span) {
    Binding *binding = find_binding(l->frame, name);
    if (binding == NULL && l->frame != l->file) {
        binding = find_binding(l->file, name);
        if (binding != NULL && binding->kind != BINDING_LET)
            return binding->value.kind == DATUM_ERROR ? binding->value
                                                      : report_file_tensor(l, binding, span);
    }
    if (binding == NULL) {
        if (l->frame != l->file || table_find(&l->unknown, name) < 0) /* once is enough */
            report_unknown_name(l, name, span);
        table_set(l->pool, &l->unknown, name, 0);
        return (Datum){.kind = DATUM_ERROR};
    }
    binding->used = true;
    return binding->value;
}

Layer *find_layer(const Frame *frame, const char *name) {
    int i = table_find(&frame->layer_of, name);
    return i < 0 ? NULL : &frame->layer[i];
}

const Stmt *find_block(const Lower *l, const char *name) {
    int i = table_find(&l->block, name);
    return i < 0 ? NULL : l->ast->body.item[i];
}

/* ---- which calls have weights ---- */

static bool name_has_weights(const Lower *l, const char *name) {
    int block = table_find(&l->block, name);
    if (block >= 0)
        return l->weighted[block];
    const Op op = op_by_name(name);
    return op != OPS && (op_table[op].traits & TRAIT_WEIGHTS) != 0;
}

/* The blocks that call a block. */
typedef struct {
    int *caller;
    int count;
} Callers;

typedef struct {
    Lower *l;
    Callers *callers;   /* per statement of the file */
    int *found, nfound; /* blocks with weights whose callers are not marked yet */
} Search;

static void mark_weighted(Search *s, int block) {
    if (s->l->weighted[block])
        return;
    s->l->weighted[block] = true;
    PUSH(s->l->pool, s->found, s->nfound, block);
}

static void note_calls(Search *s, int block, const Expr *expr) {
    if (expr == NULL)
        return;
    int called = expr->kind == EXPR_CALL ? table_find(&s->l->block, expr->text) : -1;
    if (called >= 0)
        PUSH(s->l->pool, s->callers[called].caller, s->callers[called].count, block);
    else if (expr->kind == EXPR_CALL && name_has_weights(s->l, expr->text))
        mark_weighted(s, block);
    for (int i = 0; i < expr->args.count; i++)
        note_calls(s, block, expr->args.item[i].value);
    for (int i = 0; i < expr->items.count; i++)
        note_calls(s, block, expr->items.item[i]);
    note_calls(s, block, expr->left);
    note_calls(s, block, expr->right);
}

static void note_calls_in_body(Search *s, int block, const StmtList *body) {
    for (int i = 0; i < body->count; i++) {
        const Stmt *stmt = body->item[i];
        note_calls(s, block, stmt->value);
        note_calls_in_body(s, block, &stmt->body);
        for (int k = 0; k < stmt->targets.count; k++)
            note_calls(s, block, stmt->targets.item[k]);
        for (int k = 0; k < stmt->arms.count; k++)
            note_calls_in_body(s, block, &stmt->arms.item[k].body);
    }
}

/* A block has weights if it calls what has some.  Blocks may call blocks that come later. */
void find_blocks(Lower *l) {
    const StmtList *body = &l->ast->body;
    Search s = {.l = l, .callers = NEW_ARRAY(l->pool, Callers, body->count)};
    l->weighted = NEW_ARRAY(l->pool, bool, body->count);
    for (int i = body->count - 1; i >= 0; i--)
        if (body->item[i]->kind == STMT_BLOCK)
            table_set(l->pool, &l->block, body->item[i]->name, i);
    for (int i = 0; i < body->count; i++)
        if (body->item[i]->kind == STMT_BLOCK)
            note_calls_in_body(&s, i, &body->item[i]->body);
    while (s.nfound > 0) {
        const Callers *callers = &s.callers[s.found[--s.nfound]];
        for (int i = 0; i < callers->count; i++)
            mark_weighted(&s, callers->caller[i]);
    }
}

bool has_weights(const Lower *l, const char *name) {
    return find_layer(l->frame, name) == NULL && name_has_weights(l, name);
}

/* ---- modules ---- */

Module *module_enter(Lower *l, Module *parent, const char *name, bool automatic, Span span) {
    Module *module;
    if (parent->again && parent->next < parent->nchild) {
        module = parent->child[parent->next++];
        module->again = true;
        module->next = 0;
        return module;
    }
    module = NEW(l->pool, Module);
    *module = (Module){.parent = parent, .name = name, .automatic = automatic, .span = span};
    module->in_loop = l->frame->in_loop;
    module->first = module;
    int last = automatic ? table_find(&parent->last, name) : -1;
    if (last >= 0) {
        module->first = parent->child[last]->first;
        module->index = parent->child[last]->index + 1;
    }
    module->first->alike++;
    if (automatic)
        table_set(l->pool, &parent->last, name, parent->nchild);
    PUSH(l->pool, parent->child, parent->nchild, module);
    return module;
}

static const char *own_name(Pool *pool, const Module *module) {
    if (!module->automatic || (module->first->alike == 1 && !module->in_loop))
        return module->name;
    return pool_text(pool, "%s.%d", module->name, module->index);
}

const char *module_path(Pool *pool, const Module *module) {
    if (module->parent == NULL)
        return "";
    const char *before = module_path(pool, module->parent), *name = own_name(pool, module);
    return *before == '\0' ? name : pool_text(pool, "%s.%s", before, name);
}

/* ---- `name = "..."` ---- */

static bool well_formed(const char *name) {
    bool start = true;
    for (; *name != '\0'; name++) {
        if (*name == '.' ? start : !isalnum((unsigned char)*name) && *name != '_')
            return false;
        start = *name == '.';
    }
    return !start;
}

const char *module_name(Lower *l, const Expr *expr) {
    const Datum name = eval(l, expr);
    if (name.kind == DATUM_ERROR)
        return NULL;
    if (name.kind == DATUM_TEXT && well_formed(name.text))
        return name.text;
    if (name.kind != DATUM_TEXT) {
        diag_begin(l->diag, ERROR, "U0504", expr->span, "`name` must be a text, and this is %s",
                   datum_text(l, name));
    } else {
        diag_begin(l->diag, ERROR, "U0504", expr->span, "\"%s\" is not a valid name", name.text);
        diag_help(l->diag, "use letters, digits, `_`, and dots between parts, such as \"enc.0.conv1\"");
    }
    diag_end(l->diag);
    return NULL;
}

/* ---- weights ---- */

/* A value of the layer, with a name in the state dict; see weight_new(). */
static ValueId layer_value(const Call *call, const char *suffix, Value value) {
    Lower *l = call->l;
    Module *module = call->module;
    for (int i = 0; i < module->nweight; i++)
        if (strcmp(module->weight[i].suffix, suffix) == 0)
            return shape_equal(l->graph->value[module->weight[i].value].shape, value.shape)
                       ? module->weight[i].value
                       : -1;
    if (module->again) /* the first use of the layer made no such weight */
        return -1;
    value.type = TYPE_F32;
    value.span = call->span;
    value.name = pool_text(l->pool, "%s.%s", call->name, suffix);
    const ValueId id = value_new(l->graph, value);
    CHECK(module->nweight < (int)(sizeof module->weight / sizeof *module->weight));
    module->weight[module->nweight].suffix = suffix;
    module->weight[module->nweight++].value = id;
    PUSH(l->pool, l->plan_name, l->nplan_name, ((PlanName){module, suffix, id}));
    return id;
}

ValueId weight_new(const Call *call, const char *suffix, Shape shape, Init init, double bound) {
    return layer_value(call, suffix,
                       (Value){.class = CLASS_PARAMETER, .shape = shape, .init = init, .bound = bound});
}

ValueId statistic_new(const Call *call, const char *suffix, Shape shape, Init init) {
    return fixed_weight_new(call, suffix, shape, init, 0);
}

ValueId fixed_weight_new(const Call *call, const char *suffix, Shape shape, Init init, double bound) {
    return layer_value(
        call, suffix,
        (Value){.class = CLASS_RUNNING_STATISTIC, .shape = shape, .init = init, .bound = bound});
}

/* ---- at the end ---- */

typedef struct {
    const char *name;
    ValueId value;
} Named;

static int by_name(const void *a, const void *b) {
    const Named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->value - y->value;
}

static void report_twice(Lower *l, const Module *first, const Module *second, const char *path) {
    diag_begin(l->diag, ERROR, "U0501", second->span, "two layers are called `%s`", path);
    if (first->span.line != second->span.line || first->span.column != second->span.column)
        diag_also(l->diag, first->span, "first here");
    diag_help(l->diag, "give them different names");
    if (strpbrk(path, ".") == NULL)
        diag_help(
            l->diag,
            "or, to use the same weights twice, make a `layer %s` of it, and call `%s(x)` and `%s(y)`",
            path, path, path);
    diag_end(l->diag);
}

/* The part of the two paths that was meant to be different: the outermost modules that are not the same. */
static void report_same_weights(Lower *l, const Module *a, const Module *b) {
    const char *path = module_path(l->pool, b);
    while (a->parent != b->parent && a->parent != NULL && b->parent != NULL &&
           strcmp(module_path(l->pool, a->parent), module_path(l->pool, b->parent)) == 0 &&
           b->parent->parent != NULL) {
        a = a->parent;
        b = b->parent;
        path = module_path(l->pool, b);
    }
    report_twice(l, a, b, path);
}

static const Module *module_of(const Lower *l, ValueId value) {
    for (int i = 0; i < l->nplan_name; i++)
        if (l->plan_name[i].value == value)
            return l->plan_name[i].module;
    return NULL;
}

static void check_twice(Lower *l) {
    Named *named = NULL;
    int count = 0;
    for (ValueId v = 0; v < l->graph->nvalue; v++)
        if (l->graph->value[v].class == CLASS_PARAMETER)
            PUSH(l->pool, named, count, ((Named){l->graph->value[v].name, v}));
    if (count > 1)
        qsort(named, (size_t)count, sizeof *named, by_name);
    for (int i = 1; i < count && !diag_full(l->diag); i++)
        if (strcmp(named[i].name, named[i - 1].name) == 0)
            report_same_weights(l, module_of(l, named[i - 1].value), module_of(l, named[i].value));
}

/* Values without weights may share a name (three poolings in one loop): the later ones get a number. */
static void number_values(Lower *l) {
    Named *named = NULL;
    int count = 0, alike = 0;
    for (ValueId v = 0; v < l->graph->nvalue; v++)
        if (l->graph->value[v].class == CLASS_ACTIVATION)
            PUSH(l->pool, named, count, ((Named){l->graph->value[v].name, v}));
    if (count > 1)
        qsort(named, (size_t)count, sizeof *named, by_name);
    for (int i = 1; i < count; i++) {
        alike = strcmp(named[i].name, named[i - 1].name) == 0 ? alike + 1 : 0;
        if (alike > 0)
            l->graph->value[named[i].value].name = pool_text(l->pool, "%s:%d", named[i].name, alike + 1);
    }
}

void finish_names(Lower *l) {
    for (int i = 0; i < l->nplan_name; i++) {
        const PlanName *plan = &l->plan_name[i];
        const char *path = module_path(l->pool, plan->module);
        l->graph->value[plan->value].name = *plan->suffix == '\0' ? path
                                            : *path == '\0'
                                                ? plan->suffix
                                                : pool_text(l->pool, "%s.%s", path, plan->suffix);
    }
    for (int i = 0; i < l->graph->nnode; i++) { /* a joined concat has the name of the concat */
        const Node *node = &l->graph->node[i];
        if (node->op == OP_CONCAT)
            l->graph->value[node->out[0]].name = l->graph->value[node->in[0]].name;
    }
    check_twice(l);
    number_values(l);
    for (int i = 0; i < l->graph->nnode; i++) {
        Node *node = &l->graph->node[i];
        if (node->nout > 0 && node->out[0] >= 0 && l->graph->value[node->out[0]].class == CLASS_ACTIVATION)
            node->name = l->graph->value[node->out[0]].name;
    }
}
