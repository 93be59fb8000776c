/* lower_suggest.c - suggestions for unknown names: nearly right ones, names from PyTorch, names set
 * elsewhere. */
#include "front/lower_state.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void note_via(Lower *l) {
    int notes = 0;
    for (const Via *via = l->via; via != NULL && notes < 3; via = via->outer, notes++)
        diag_note(l->diag, "%s", via->text);
}

/* ---- calls ---- */

static const struct {
    const char *torch, *ours;
} torch_names[] = {
    {"Conv2d", "conv"},
    {"Conv3d", "conv"},
    {"conv2d", "conv"},
    {"conv3d", "conv"},
    {"Conv", "conv"},
    {"ConvTranspose2d", "upconv"},
    {"ConvTranspose3d", "upconv"},
    {"conv_transpose2d", "upconv"},
    {"MaxPool2d", "max_pool"},
    {"MaxPool3d", "max_pool"},
    {"max_pool2d", "max_pool"},
    {"max_pool3d", "max_pool"},
    {"maxpool", "max_pool"},
    {"ReLU", "relu"},
    {"Relu", "relu"},
    {"cat", "concat"},
    {"concatenate", "concat"},
    {"MSELoss", "mse"},
    {"mse_loss", "mse"},
    {"L1Loss", "l1"},
    {"l1_loss", "l1"},
    {"BatchNorm2d", "batch_norm"},
    {"BatchNorm3d", "batch_norm"},
    {"InstanceNorm2d", "instance_norm"},
    {"GroupNorm", "group_norm"},
    {"LayerNorm", "layer_norm"},
    {"LayerNorm2d", "layer_norm"},
    {"MaxUnpool2d", "max_unpool"},
    {"max_unpool2d", "max_unpool"},
    {"Linear", "linear"},
    {"interpolate", "resize"},
    {"Upsample", "resize"},
    {"AvgPool2d", "avg_pool"},
    {"avg_pool2d", "avg_pool"},
    {"AdaptiveAvgPool2d", "adaptive_avg_pool"},
    {"LeakyReLU", "leaky_relu"},
    {"PReLU", "prelu"},
    {"SiLU", "silu"},
    {"GELU", "gelu"},
    {"ELU", "elu"},
    {"Sigmoid", "sigmoid"},
    {"Softmax", "softmax"},
    {"Dropout", "dropout"},
    {"Dropout2d", "dropout_channels"},
    {"PixelShuffle", "pixel_shuffle"},
    {"CharbonnierLoss", "charbonnier"},
    {"CrossEntropyLoss", "cross_entropy"},
    {"OhemCrossEntropyLoss", "ohem_cross_entropy"},
    {"LovaszSoftmaxLoss", "lovasz_loss"},
    {"LovaszHingeLoss", "lovasz_loss"},
    {"DiceLoss", "dice_loss"},
    {"TverskyLoss", "tversky_loss"},
    {"FocalLoss", "focal_loss"},
    {"sigmoid_focal_loss", "focal_loss"},
    {"SmoothL1Loss", "smooth_l1"},
    {"PSNRLoss", "psnr_loss"},
    {"SSIM", "ssim_loss"},
    {"SSIMLoss", "ssim_loss"},
    {"pad", "match"},
};

/* Operators of the language that not every version has: those without a row are not in this one. */
static const char *const later[] = {
    "linear",        "parameter",
    "batch_norm",    "instance_norm",
    "group_norm",    "layer_norm",
    "silu",          "gelu",
    "elu",           "sigmoid",
    "tanh",          "softmax",
    "leaky_relu",    "prelu",
    "avg_pool",      "adaptive_avg_pool",
    "resize",        "match",
    "pixel_shuffle", "pixel_unshuffle",
    "channel_mean",  "channel_max",
    "dropout",       "dropout_channels",
    "attention",     "timestep_embedding",
    "argmax",        "smooth_l1",
    "charbonnier",   "psnr_loss",
    "cross_entropy", "bce_with_logits",
    "dice_loss",     "ohem_cross_entropy",
    "ssim",          "mae",
    "accuracy",      "dice",
    "iou",           "miou",
};

enum { TORCH_NAMES = sizeof torch_names / sizeof *torch_names, LATER = sizeof later / sizeof *later };

static bool comes_later(const char *name) {
    for (int i = 0; i < LATER && op_by_name(name) == OPS; i++)
        if (strcmp(later[i], name) == 0)
            return true;
    return false;
}

static void note_operators(Lower *l) {
    const char *list = "";
    for (Op op = 0; op < OPS; op++)
        if (op_table[op].signature != NULL)
            list = pool_text(l->pool, "%s%s%s", list, *list == '\0' ? "" : " ", op_table[op].name);
    diag_note(l->diag, "this version has: %s chunk, and `+ - *`", list);
}

static const char *nearest_call(Lower *l, const char *name) {
    const char **names = NULL;
    int count = 0;
    for (Op op = 0; op < OPS; op++)
        if (op_table[op].signature != NULL)
            PUSH(l->pool, names, count, op_table[op].name);
    for (int i = 0; i < l->ast->body.count; i++)
        if (l->ast->body.item[i]->kind == STMT_BLOCK)
            PUSH(l->pool, names, count, l->ast->body.item[i]->name);
    for (int i = 0; i < l->frame->nlayer; i++)
        PUSH(l->pool, names, count, l->frame->layer[i].name);
    return unet_nearest_word(name, names, count);
}

void report_unknown_call(Lower *l, const Expr *call) {
    if (comes_later(call->text)) {
        diag_begin(l->diag, ERROR, "U0202", call->mark, "`%s` is not in this version of unetc", call->text);
        note_operators(l);
        diag_end(l->diag);
        return;
    }
    diag_begin(l->diag, ERROR, "U0202", call->mark, "there is no operator or block `%s`", call->text);
    for (int i = 0; i < TORCH_NAMES; i++) {
        if (strcmp(torch_names[i].torch, call->text) != 0)
            continue;
        Expr ours = *call;
        ours.text = torch_names[i].ours;
        const char *module = isupper((unsigned char)*call->text) ? "nn." : "";
        if (comes_later(ours.text))
            diag_help(l->diag, "PyTorch's `%s%s` is `%s`, which is not in this version of unetc", module,
                      call->text, ours.text);
        else
            diag_help(l->diag, "PyTorch's `%s%s` is `%s`: `%s`", module, call->text, ours.text,
                      expr_text(l->pool, &ours));
        diag_end(l->diag);
        return;
    }
    const char *near = nearest_call(l, call->text);
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    else if (find_binding(l->frame, call->text) != NULL)
        diag_help(l->diag, "`%s` is a tensor or value; to index a list write `%s[...]`", call->text,
                  call->text);
    else
        note_operators(l);
    note_via(l);
    diag_end(l->diag);
}

/* ---- names ---- */

typedef struct {
    const Stmt *stmt;      /* that sets the name */
    const Expr *condition; /* of the `if` under which it stands, or NULL */
    int arm;               /* of it */
} Setter;

static bool sets(const Stmt *stmt, const char *name) {
    if (stmt->kind == STMT_LET || stmt->kind == STMT_INPUT || stmt->kind == STMT_TARGET ||
        stmt->kind == STMT_OUTPUT)
        return strcmp(stmt->name, name) == 0;
    for (int i = 0; stmt->kind == STMT_SET && i < stmt->targets.count; i++)
        if (stmt->targets.item[i]->kind == EXPR_NAME && strcmp(stmt->targets.item[i]->text, name) == 0)
            return true;
    return false;
}

static Setter find_setter(const StmtList *body, const char *name, const Expr *condition, int in_arm) {
    Setter found = {NULL, NULL, 0};
    for (int i = 0; i < body->count && found.stmt == NULL; i++) {
        const Stmt *stmt = body->item[i];
        if (sets(stmt, name))
            return (Setter){stmt, condition, in_arm};
        if (stmt->kind == STMT_FOR)
            found = find_setter(&stmt->body, name, condition, in_arm);
        for (int k = 0; k < stmt->arms.count && found.stmt == NULL; k++)
            found = find_setter(&stmt->arms.item[k].body, name, stmt->arms.item[0].condition, k);
    }
    return found;
}

static bool report_not_set(Lower *l, const char *name, Span span) {
    Setter setter = find_setter(l->frame->body, name, NULL, 0);
    if (setter.stmt == NULL)
        return false;
    bool later_on = setter.stmt->span.line >= span.line;
    if (setter.condition != NULL && !later_on) {
        const char *condition = expr_text(l->pool, setter.condition);
        bool first = setter.arm == 0;
        diag_begin(l->diag, ERROR, "U0210", span, "`%s` is set only when `%s` is %s", name, condition,
                   first ? "true" : "false");
        diag_label(l->diag, "not set: `%s` is %s", condition, first ? "false" : "true");
        diag_also(l->diag, setter.stmt->span, "set here");
        if (first)
            diag_help(l->diag, "add `else { %s = ... }`", name);
    } else {
        diag_begin(l->diag, ERROR, "U0210", span, "`%s` is not set yet", name);
        diag_also(l->diag, setter.stmt->span, "set here");
    }
    note_via(l);
    diag_end(l->diag);
    return true;
}

static const Binding *nearest_binding(Lower *l, const char *name) {
    const char **names = NULL;
    int count = 0;
    for (int i = 0; i < l->frame->nbinding; i++)
        PUSH(l->pool, names, count, l->frame->binding[i].name);
    for (int i = 0; l->frame != l->file && i < l->file->nbinding; i++)
        if (l->file->binding[i].kind == BINDING_LET)
            PUSH(l->pool, names, count, l->file->binding[i].name);
    const char *near = unet_nearest_word(name, names, count);
    if (near == NULL)
        return NULL;
    const Binding *binding = find_binding(l->frame, near);
    return binding != NULL ? binding : find_binding(l->file, near);
}

void report_unknown_name(Lower *l, const char *name, Span span) {
    static const char *const python[][2] = {{"True", "true"}, {"False", "false"}};
    if (report_not_set(l, name, span))
        return;
    diag_begin(l->diag, ERROR, "U0201", span, "there is no `%s` here", name);
    const Binding *near = nearest_binding(l, name);
    for (int i = 0; i < 2; i++)
        if (strcmp(name, python[i][0]) == 0) {
            diag_help(l->diag, "write `%s`", python[i][1]);
            near = NULL;
        }
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`? (set on line %d)", near->name, near->span.line);
    else if (find_block(l, name) != NULL || op_by_name(name) != OPS)
        diag_help(l->diag, "`%s` is called with its input: `%s(x)`, or `x -> %s`", name, name, name);
    note_via(l);
    diag_end(l->diag);
}
