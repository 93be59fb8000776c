/* settings_train.c - the settings of `train` that say how weights are updated.
 *
 * An optimizer, or a schedule of the learning rate, is a call of its own inside of the setting, with a
 * signature of its own.
 */
#include "front/lower_state.h"
#include "front/foreign.h"
#include "unet/words.h"

#include <string.h>

/* ---- optimizers ---- */

/* A number that is at least 0 and less than 1. */
static bool read_decay(const Call *call, const char *name, double *value) {
    if (!argument_number(call, name, value))
        return false;
    return *value >= 0 && *value < 1
               ? true
               : report_setting(call, name,
                                pool_text(call->l->pool, "`%s` must be at least 0 and less than 1", name));
}

static bool read_betas(const Call *call, Optimizer *o) {
    const Argument *a = argument(call, "betas");
    double *beta[] = {&o->beta1, &o->beta2};
    bool good = a->value.kind == DATUM_LIST && a->value.count == 2;
    for (int i = 0; good && i < 2; i++)
        good = datum_number(a->value.items->item[i], beta[i]) && *beta[i] >= 0 && *beta[i] < 1;
    return good ? true
                : report_setting(call, "betas",
                                 "`betas` must be two numbers, each at least 0 and less than 1");
}

static bool read_sgd(const Call *call, Optimizer *o) {
    if (!read_nonnegative(call, "momentum", &o->momentum) ||
        !argument_number(call, "dampening", &o->dampening) ||
        !argument_truth(call, "nesterov", &o->nesterov))
        return false;
    if (o->nesterov && (o->momentum == 0 || o->dampening != 0))
        return report_setting(call, "nesterov", "`nesterov` needs `momentum` above 0 and `dampening = 0`");
    return true;
}

static bool read_adam(const Call *call, Optimizer *o) {
    return read_betas(call, o) && read_nonnegative(call, "eps", &o->epsilon) &&
           argument_truth(call, "amsgrad", &o->amsgrad);
}

static bool read_rmsprop(const Call *call, Optimizer *o) {
    return read_decay(call, "alpha", &o->alpha) && read_nonnegative(call, "eps", &o->epsilon) &&
           read_nonnegative(call, "momentum", &o->momentum) &&
           argument_truth(call, "centered", &o->centered);
}

static const struct {
    const char *name, *signature;
    OptimizerKind kind;
    bool (*read)(const Call *call, Optimizer *o);
} optimizers[] = {
    {"sgd",
     "sgd(lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0, nesterov = false, decay = \"all\")",
     OPTIMIZER_SGD, read_sgd},
    {"adam",
     "adam(lr = 1e-3, betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0, amsgrad = false, decay = "
     "\"all\")",
     OPTIMIZER_ADAM, read_adam},
    {"adamw",
     "adamw(lr = 1e-3, betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0.01, amsgrad = false, "
     "decay = \"all\")",
     OPTIMIZER_ADAMW, read_adam},
    {"rmsprop",
     "rmsprop(lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0, centered = false, "
     "decay = \"all\")",
     OPTIMIZER_RMSPROP, read_rmsprop},
};
enum { OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

/* The arguments that all optimisers have. */
static bool read_common(const Call *call, Optimizer *o) {
    static const char *const choices[] = {"all", "weights", NULL};
    int index;
    if (!read_nonnegative(call, "lr", &o->learning_rate) ||
        !read_nonnegative(call, "weight_decay", &o->weight_decay) ||
        !argument_choice(call, "decay", choices, &index))
        return false;
    o->spares_vectors = index == 1;
    return true;
}

/* Is the argument of a setting a call of NAME, which may stand without parentheses? */
static bool calls(const Call *setting, const char *name) {
    const Expr *expr = setting->argument[0].expr;
    return (expr->kind == EXPR_CALL || expr->kind == EXPR_NAME) && strcmp(expr->text, name) == 0;
}

/* That call, in *INNER; false after an error. */
static bool bind_call(const Call *setting, const char *signature, Call *inner) {
    static const ArgList none = {NULL, 0};
    const Expr *expr = setting->argument[0].expr;
    *inner = (Call){.l = setting->l, .expr = expr, .span = expr->span};
    inner->signature = signature_of(setting->l, signature, true);
    return bind_arguments(inner, NULL, expr->kind == EXPR_CALL ? &expr->args : &none);
}

/* The call as it is written here, where KIND is what its name means. */
static const char *renamed(Lower *l, const Expr *call, const char *kind) {
    Expr ours = {.kind = EXPR_CALL, .text = kind, .span = call->span, .mark = call->mark};
    for (int i = 0; call->kind == EXPR_CALL && i < call->args.count; i++) {
        Arg arg = call->args.item[i];
        const char *name = arg.name == NULL ? NULL : foreign_update_argument(arg.name);
        if (name != NULL)
            arg.name = name;
        if (name == NULL || *name != '\0')
            PUSH(l->pool, ours.args.item, ours.args.count, arg);
    }
    return expr_text(l->pool, &ours);
}

/* LIST, of names with a blank in front of each, has NAME. */
static bool lists(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; *at == ' '; at += 1 + strcspn(at + 1, " "))
        if (strcspn(at + 1, " ") == length && strncmp(at + 1, name, length) == 0)
            return true;
    return false;
}

/* The word of LIST that is nearly NAME, or NULL. */
static const char *near_in(Pool *pool, const char *list, const char *name) {
    const char **word = NULL;
    int count = 0;
    for (const char *at = list; *at == ' '; at += 1 + strcspn(at + 1, " "))
        PUSH(pool, word, count, pool_copy(pool, at + 1, strcspn(at + 1, " ")));
    return unet_nearest_word(name, word, count);
}

static void report_unknown_call_of(const Call *setting, const char *code, const char *what,
                                   const char *list, const char *help) {
    Lower *l = setting->l;
    const Expr *expr = setting->argument[0].expr;
    diag_begin(l->diag, ERROR, code, expr->span, "`%s` is not %s of this version of unetc",
               expr_text(l->pool, expr), what);
    diag_note(l->diag, "this version has:%s", list);
    const bool named = expr->kind == EXPR_CALL || expr->kind == EXPR_NAME || expr->kind == EXPR_TEXT;
    const char *kind = named ? foreign_update(expr->text) : NULL;
    const char *instead = named && kind == NULL ? foreign_update_help(expr->text) : NULL;
    if (kind == NULL && instead == NULL && named)
        kind = near_in(l->pool, list, expr->text);
    if (kind != NULL && lists(list, kind))
        diag_help(l->diag, "write `%.*s %s`", (int)strcspn(help, " "), help, renamed(l, expr, kind));
    else
        diag_help(l->diag, "write `%s`", instead != NULL ? instead : help);
    diag_end(l->diag);
}

void set_optimizer(Call *call) {
    Lower *l = call->l;
    const char *list = "";
    for (int i = 0; i < OPTIMIZERS; i++) {
        Call inner;
        Optimizer o = {.kind = optimizers[i].kind};
        list = pool_text(l->pool, "%s %s", list, optimizers[i].name);
        if (!calls(call, optimizers[i].name))
            continue;
        if (!bind_call(call, optimizers[i].signature, &inner) || !read_common(&inner, &o) ||
            !optimizers[i].read(&inner, &o))
            return;
        l->model->train.optimizer = o;
        l->model->train.optimizer_text = expr_text(l->pool, call->argument[0].expr);
        return;
    }
    report_unknown_call_of(call, "U0618", "an optimizer", list, "optimizer adam(lr = 1e-3)");
}

/* ---- schedules ---- */

/* "epoch" or "step". */
static bool read_per(const Call *call, Schedule *s) {
    static const char *const choices[] = {"epoch", "step", NULL};
    int index;
    if (!argument_choice(call, "per", choices, &index))
        return false;
    s->per = index == 0 ? UNIT_EPOCHS : UNIT_STEPS;
    return true;
}

static bool read_positive(const Call *call, const char *name, double *value) {
    if (!argument_number(call, name, value))
        return false;
    return *value > 0
               ? true
               : report_setting(call, name, pool_text(call->l->pool, "`%s` must be greater than 0", name));
}

static bool read_constant(const Call *call, Schedule *s) {
    (void)call;
    (void)s;
    return true;
}

static bool read_poly(const Call *call, Schedule *s) {
    return read_positive(call, "power", &s->power) && read_nonnegative(call, "to", &s->to) &&
           read_per(call, s);
}

static bool read_cosine(const Call *call, Schedule *s) {
    return read_nonnegative(call, "to", &s->to) && read_per(call, s);
}

static bool read_step(const Call *call, Schedule *s) {
    return argument_integer(call, "every", 1, &s->every) && read_positive(call, "factor", &s->factor) &&
           read_per(call, s);
}

static bool read_multistep(const Call *call, Schedule *s) {
    const Datum list = argument(call, "at")->value;
    int64_t *at = NEW_ARRAY(call->l->pool, int64_t, list.kind == DATUM_LIST ? list.count + 1 : 1);
    bool good = list.kind == DATUM_LIST && list.count > 0;
    for (int i = 0; good && i < list.count; i++) {
        at[i] = list.items->item[i].integer;
        good = list.items->item[i].kind == DATUM_INTEGER && at[i] > (i == 0 ? 0 : at[i - 1]);
    }
    if (!good)
        return report_setting(call, "at",
                              "`at` must be a list of whole numbers that grow: `at = [30, 60]`");
    s->at = at;
    s->nat = list.count;
    return read_positive(call, "factor", &s->factor) && read_per(call, s);
}

static bool read_plateau(const Call *call, Schedule *s) {
    if (!argument_integer(call, "patience", 0, &s->patience))
        return false;
    if (!argument_number(call, "factor", &s->factor))
        return false;
    return s->factor > 0 && s->factor < 1
               ? true
               : report_setting(call, "factor", "`factor` must be greater than 0 and less than 1");
}

static bool read_one_cycle(const Call *call, Schedule *s) {
    if (!argument_number(call, "rise", &s->rise))
        return false;
    if (!(s->rise > 0 && s->rise < 1))
        return report_setting(call, "rise", "`rise` must be greater than 0 and less than 1");
    s->per = UNIT_STEPS;
    return read_positive(call, "div", &s->div) && read_positive(call, "final_div", &s->final_div);
}

static const struct {
    const char *name, *signature;
    ScheduleKind kind;
    bool (*read)(const Call *call, Schedule *s);
} schedules[] = {
    {"constant", "constant()", SCHEDULE_CONSTANT, read_constant},
    {"poly", "poly(power = 0.9, to = 0, per = \"step\")", SCHEDULE_POLY, read_poly},
    {"cosine", "cosine(to = 0, per = \"step\")", SCHEDULE_COSINE, read_cosine},
    {"step", "step(every, factor = 0.1, per = \"epoch\")", SCHEDULE_STEP, read_step},
    {"multistep", "multistep(at, factor = 0.1, per = \"epoch\")", SCHEDULE_MULTISTEP, read_multistep},
    {"plateau", "plateau(factor = 0.1, patience = 10)", SCHEDULE_PLATEAU, read_plateau},
    {"one_cycle", "one_cycle(rise = 0.3, div = 25, final_div = 1e4)", SCHEDULE_ONE_CYCLE, read_one_cycle},
};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

void print_optimizers(FILE *out) {
    for (int i = 0; i < OPTIMIZERS; i++)
        fprintf(out, "    optimizer %s\n", optimizers[i].signature);
}

void print_schedules(FILE *out) {
    for (int i = 0; i < SCHEDULES; i++)
        fprintf(out, "    schedule %s\n", schedules[i].signature);
}

void set_schedule(Call *call) {
    Lower *l = call->l;
    const char *list = "";
    for (int i = 0; i < SCHEDULES; i++) {
        Call inner;
        list = pool_text(l->pool, "%s %s", list, schedules[i].name);
        if (!calls(call, schedules[i].name))
            continue;
        Schedule *kept = &l->model->train.schedule, s = {.kind = schedules[i].kind, .span = call->span};
        s.warmup = kept->warmup; /* a setting of its own */
        s.start = kept->start;
        if (bind_call(call, schedules[i].signature, &inner) && schedules[i].read(&inner, &s))
            *kept = s;
        return;
    }
    report_unknown_call_of(call, "U0622", "a schedule", list, "schedule cosine()");
}

void set_warmup(Call *call) {
    Schedule *s = &call->l->model->train.schedule;
    if (argument_integer(call, "n", 1, &s->warmup))
        (void)read_nonnegative(call, "start", &s->start);
}

void set_patience(Call *call) {
    TrainSection *train = &call->l->model->train;
    if (argument_integer(call, "n", 1, &train->patience))
        train->patience_span = call->span;
}

/* ---- gradients and averages ---- */

void set_clip(Call *call) {
    TrainSection *train = &call->l->model->train;
    const bool norm = argument(call, "norm")->value.kind != DATUM_NONE,
               value = argument(call, "value")->value.kind != DATUM_NONE;
    if (norm == value)
        report_setting(call, NULL,
                       "`clip` takes either a norm, `clip 1.0`, or a value, `clip value = 0.5`");
    else if (norm)
        (void)read_positive(call, "norm", &train->clip_norm);
    else
        (void)read_positive(call, "value", &train->clip_value);
}

void set_ema(Call *call) {
    double decay;
    if (!argument_number(call, "decay", &decay))
        return;
    if (decay > 0 && decay < 1)
        call->l->model->train.ema = decay;
    else
        report_setting(call, "decay", "the decay of `ema` must be greater than 0 and less than 1");
}

void set_state(Call *call) {
    TrainSection *train = &call->l->model->train;
    int64_t bits;
    if (!argument_integer(call, "bits", 1, &bits))
        return;
    if (bits != 8 && bits != 32)
        report_setting(call, "bits",
                       "a number of the optimizer's state has 8 or 32 bits: write `state 8` or `state 32`");
    else
        train->codes_state = bits == 8;
    train->state_span = call->span;
}

enum { MOST_SAMPLES = 1 << 20 }; /* of a step, as of a batch */

void set_accumulate(Call *call) {
    TrainSection *train = &call->l->model->train;
    int64_t parts;
    if (!argument_integer(call, "n", 1, &parts))
        return;
    if (parts > MOST_SAMPLES)
        report_setting(call, "n", "a step has at most 1,048,576 batches");
    else
        train->accumulate = parts;
    train->accumulate_span = call->span;
}

void check_accumulation(Lower *l) {
    TrainSection *train = &l->model->train;
    train->batch *= train->accumulate; /* neither is more than 2^20 */
    if (train->accumulate == 1 || train->batch <= MOST_SAMPLES)
        return;
    diag_begin(l->diag, ERROR, "U0614", train->accumulate_span, "a step has at most 1,048,576 samples");
    diag_note(l->diag, "`accumulate` times `batch` is %lld", (long long)train->batch);
    diag_end(l->diag);
    train->batch = train->accumulate = 1;
}

void set_ranks(Call *call) {
    TrainSection *train = &call->l->model->train;
    if (argument_integer(call, "n", 1, &train->ranks))
        train->ranks_span = call->span;
}

/* The place of the number of processes: in the file, or with `--ranks` nowhere. */
static Span ranks_place(const Lower *l) {
    const TrainSection *train = &l->model->train;
    return l->options->ranks > 0 || train->ranks_span.line == 0 ? train->span : train->ranks_span;
}

/* Processes with different numbers of samples would wait for each other, and the last group, shorter than
 * the others, would have other statistics. */
static void report_uneven(Lower *l) {
    TrainSection *train = &l->model->train;
    const int64_t ranks = train->ranks, unit = ranks_batch_unit(train),
                  batch = train->batch / train->accumulate;
    const int64_t below = batch / unit * unit, above = below + unit;
    const int64_t divisor = train->batch & -train->batch; /* the largest power of two */
    diag_begin(l->diag, ERROR, "U0614", ranks_place(l), "%lld samples cannot be cut into %lld equal groups",
               (long long)train->batch, (long long)ranks);
    diag_note(l->diag, "with `ranks %lld` a step has as many groups of samples, all of one length",
              (long long)ranks);
    if (below > 0)
        diag_help(l->diag, "write `batch %lld` or `batch %lld`, or `ranks %lld`", (long long)below,
                  (long long)above, (long long)divisor);
    else
        diag_help(l->diag, "write `batch %lld`, or `ranks %lld`", (long long)unit, (long long)divisor);
    diag_end(l->diag);
    train->ranks = 1;
}

/* How many processes there will be at least. */
static void check_processes(Lower *l) {
    TrainSection *train = &l->model->train;
    const LowerOptions *o = l->options;
    const long long ranks = train->ranks;
    const int64_t processes = o->processes > 0 ? o->processes : o->shards_optimizer ? train->ranks : 1;
    if (train->ranks % processes != 0) {
        diag_begin(l->diag, ERROR, "U0614", ranks_place(l), "%lld processes cannot train with `ranks %lld`",
                   (long long)processes, ranks);
        diag_help(l->diag, "--processes is a divisor of `ranks`: 1, 2, 4, ... up to %lld", ranks);
        diag_end(l->diag);
    } else if (o->shards_optimizer && processes == 1) {
        diag_begin(l->diag, ERROR, "U0614", ranks_place(l),
                   "one process alone has no one to share the optimizer's state with");
        diag_help(l->diag, ranks == 1 ? "write `ranks N` in the section `train`, or add --ranks=N"
                                      : "leave --processes out, or leave out --shard-optimizer");
        diag_end(l->diag);
    } else {
        train->processes = processes;
        train->shards_optimizer = o->shards_optimizer;
    }
}

void check_ranks(Lower *l) {
    TrainSection *train = &l->model->train;
    const int64_t ranks = train->ranks;
    if (!train->present)
        return;
    check_processes(l);
    if (ranks == 1)
        return;
    const bool doubles = (ranks & (ranks - 1)) == 0, few = ranks <= MOST_RANKS;
    if (doubles && few && ranks <= train->batch) {
        if (train->batch % ranks != 0)
            report_uneven(l);
        return;
    }
    diag_begin(l->diag, ERROR, "U0614", ranks_place(l), "%lld cannot be the number of ranks",
               (long long)ranks);
    if (!doubles || !few) {
        diag_note(l->diag,
                  "gradients are added two and two: 1, 2, 4, 8, ... processes can do that, up to %d",
                  MOST_RANKS);
    } else {
        diag_note(l->diag, "a step has %lld sample%s, and each process trains at least one",
                  (long long)train->batch, train->batch == 1 ? "" : "s");
    }
    diag_end(l->diag);
    train->ranks = 1;
}

/* Training is evaluated where the file has a section `eval`, which may get its data from the command line,
 * or holds samples out. */
static bool is_evaluated(const Model *model) {
    return model->eval.present || model->eval_data.nsource > 0 || model->data.holdout > 0 ||
           model->data.folds > 0;
}

static void report_state(Lower *l, const char *why, const char *note, const char *help) {
    diag_begin(l->diag, ERROR, "U0614", l->model->train.state_span, "`state 8` %s", why);
    if (note != NULL)
        diag_note(l->diag, "%s", note);
    diag_help(l->diag, "%s", help);
    diag_end(l->diag);
}

void check_state(Lower *l) {
    const TrainSection *train = &l->model->train;
    const Optimizer *o = &train->optimizer;
    if (!train->codes_state)
        return;
    if (o->kind == OPTIMIZER_SGD && o->momentum == 0)
        report_state(l, "has nothing to do: `sgd` without momentum keeps no state", NULL,
                     "leave out `state 8`, or give `sgd` a momentum, such as `momentum = 0.9`");
    else if (o->centered)
        report_state(
            l, "cannot be combined with `centered = true`",
            "a centered `rmsprop` divides by a difference of two states, and errors of 8 bits can be "
            "as large as the difference",
            "leave out `centered`, or `state 8`");
    else if (train->shards_optimizer)
        report_state(
            l, "cannot be combined with --shard-optimizer",
            "a rank has a slice of the state that begins anywhere, and 8 bits need whole blocks of 256",
            "leave out --shard-optimizer: `state 8` alone keeps a quarter of the state");
}

/* Checks settings against each other. */
void check_updates(Lower *l) {
    const TrainSection *train = &l->model->train;
    const bool plateau = train->schedule.kind == SCHEDULE_PLATEAU;
    if ((plateau || train->patience > 0) && !is_evaluated(l->model)) {
        diag_begin(l->diag, ERROR, "U0623", plateau ? train->schedule.span : train->patience_span,
                   "%s needs evaluations, and the file has none",
                   plateau ? "`schedule plateau`" : "`patience`");
        diag_help(l->diag, "add `holdout 0.1` to `data`");
        diag_end(l->diag);
    }
    if (train->schedule.kind == SCHEDULE_ONE_CYCLE && train->schedule.warmup > 0) {
        diag_begin(l->diag, ERROR, "U0614", train->schedule.span,
                   "`one_cycle` begins with a warm-up of its own");
        diag_help(l->diag, "leave out `warmup`; `rise` is the share of the steps in which the rate grows");
        diag_end(l->diag);
    }
}

void set_freeze(Call *call) {
    TrainSection *train = &call->l->model->train;
    LayerPattern *list = NEW_ARRAY(call->l->pool, LayerPattern, train->nfrozen + call->nargument);
    for (int i = 0; i < train->nfrozen; i++)
        list[i] = train->frozen[i];
    for (int i = 0; i < call->nargument; i++) {
        const Argument *a = &call->argument[i];
        if (a->value.kind != DATUM_TEXT || *a->value.text == '\0') {
            diag_begin(call->l->diag, ERROR, "U0624", a->span, "`freeze` takes names of layers in quotes");
            diag_help(call->l->diag, "write `freeze \"encoder\"`, or a pattern such as \"enc*\"");
            diag_end(call->l->diag);
            return;
        }
        list[train->nfrozen++] = (LayerPattern){.pattern = a->value.text, .span = a->span};
    }
    train->frozen = list;
}

/* ---- words ---- */

void list_updates(Text *out) {
    for (int i = 0; i < OPTIMIZERS; i++)
        text_line(out, "optimizer\t%s", optimizers[i].signature);
    for (int i = 0; i < SCHEDULES; i++)
        text_line(out, "schedule\t%s", schedules[i].signature);
}
