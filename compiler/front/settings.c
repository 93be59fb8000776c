/* settings.c - the sections data, train, eval and predict.
 *
 * A setting is a call without parentheses.  One row of the table says where it may stand, how it is called
 * and which function takes its arguments into the model.
 */
#include "front/lower_state.h"
#include "front/foreign.h"
#include "front/reference.h"
#include "ir/labels.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <string.h>

/* ---- reading ---- */

bool report_setting(const Call *call, const char *argument_name, const char *what) {
    Lower *l = call->l;
    Span span = argument_name == NULL ? call->span : argument(call, argument_name)->span;
    diag_begin(l->diag, ERROR, "U0614", span, "%s", what);
    note_via(l);
    diag_end(l->diag);
    return false;
}

bool read_nonnegative(const Call *call, const char *name, double *value) {
    if (!argument_number(call, name, value))
        return false;
    return *value >= 0
               ? true
               : report_setting(call, name, pool_text(call->l->pool, "`%s` must be at least 0", name));
}

static bool read_share(const Call *call, const char *name, double *value) {
    if (!argument_number(call, name, value))
        return false;
    return *value >= 0 && *value < 1
               ? true
               : report_setting(call, name,
                                pool_text(call->l->pool, "`%s` must be at least 0 and less than 1", name));
}

static bool read_unit(const Call *call, const char *name, Unit *unit) {
    static const char *const choices[] = {"epochs", "steps", NULL};
    int index;
    if (!argument_choice(call, name, choices, &index))
        return false;
    *unit = index == 0 ? UNIT_EPOCHS : UNIT_STEPS;
    return true;
}

/* ---- losses and metrics ---- */

static void add_result(Lower *l, const LossTerm *term, bool is_loss) {
    Node *node = &l->graph->node[l->graph->value[term->value].producer];
    const Result result = {.text = term->text,
                           .value = term->value,
                           .truth = node->in[1],
                           .op = node->op,
                           .is_loss = is_loss,
                           .weight = is_loss ? term->weight : 1,
                           .labels = node->a.loss.labels,
                           .span = term->span};
    node->a.loss.weight = result.weight;
    PUSH(l->pool, l->model->result, l->model->nresult, result);
}

static const char *first_target(const Lower *l) {
    for (int i = 0; i < l->model->ninput; i++)
        if (l->model->input[i].is_target)
            return l->model->input[i].name;
    return "truth";
}

static void report_no_number(const Call *call, const char *what, Datum d) {
    Lower *l = call->l;
    if (d.kind == DATUM_TENSOR)
        diag_begin(l->diag, ERROR, "U0607", call->argument[0].span, "a %s is one number, and this is %s",
                   what, datum_text(l, d));
    else
        diag_begin(l->diag, ERROR, "U0607", call->argument[0].span,
                   "a %s is made by a call such as `mse`, and this is %s", what, datum_text(l, d));
    if (d.kind == DATUM_TENSOR && call->argument[0].expr->kind == EXPR_NAME)
        diag_help(l->diag, "compare it with a target: `%s mse(%s, %s)`", what, call->argument[0].expr->text,
                  first_target(l));
    if (call->argument[0].expr->kind == EXPR_BINARY) {
        const Expr *expr = call->argument[0].expr;
        const char *a = expr_text(l->pool, expr->left), *b = expr_text(l->pool, expr->right);
        diag_help(l->diag, "did you mean `mse(%s, %s)` or `l1(%s, %s)`?", a, b, a, b);
    }
    diag_end(l->diag);
}

void report_metric(Lower *l, Span span, const char *text, const char *metric) {
    const char *loss = pool_text(l->pool, "%s_loss", metric);
    const bool overlaps = strcmp(metric, "iou") == 0 || strcmp(metric, "miou") == 0;
    diag_begin(l->diag, ERROR, "U0617", span, "`%s` is a metric and cannot be a loss", metric);
    diag_help(l->diag, "write `%s%s`, or `metric %s`",
              op_by_name(loss) != OPS ? loss
              : overlaps              ? "lovasz_loss"
                                      : "cross_entropy",
              strchr(text, '(') != NULL ? strchr(text, '(') : "", text);
    diag_end(l->diag);
}

/* A metric that was made outside of the setting has a name there. */
static bool has_gradient(Lower *l, const LossTerm *term) {
    const Node *node = &l->graph->node[l->graph->value[term->value].producer];
    if (has_trait(node, TRAIT_MORE_IS_BETTER))
        report_metric(l, term->span, term->text, op_table[node->op].name);
    return !has_trait(node, TRAIT_MORE_IS_BETTER);
}

static void set_loss(Call *call) {
    Datum d = call->argument[0].value;
    if (d.kind != DATUM_LOSS)
        report_no_number(call, "loss", d);
    for (int i = 0; d.kind == DATUM_LOSS && i < d.count; i++)
        if (has_gradient(call->l, &d.term[i]))
            add_result(call->l, &d.term[i], true);
}

static void set_metric(Call *call) {
    Datum d = call->argument[0].value;
    if (d.kind == DATUM_LOSS && d.count == 1 && d.term->weight == 1)
        add_result(call->l, d.term, false);
    else if (d.kind == DATUM_LOSS)
        report_setting(call, NULL,
                       "a metric is a single call such as `psnr(denoised, clean)`, without factors");
    else
        report_no_number(call, "metric", d);
}

/* ---- train ---- */

static void set_batch(Call *call) {
    Model *model = call->l->model;
    const char *section = call->l->section->name;
    int64_t batch;
    if (!argument_integer(call, "n", 1, &batch))
        return;
    if (batch > INT64_C(1) << 20) {
        report_setting(call, "n", "a batch has at most 1,048,576 samples");
        return;
    }
    if (strcmp(section, "eval") == 0) {
        model->eval.batch = batch;
    } else if (strcmp(section, "predict") == 0) {
        model->predict.batch = batch;
    } else {
        model->train.batch = batch;
        model->train.batch_span = call->span;
    }
}

static void set_duration(Call *call, Unit unit) {
    TrainSection *train = &call->l->model->train;
    if (argument_integer(call, "n", 1, &train->duration))
        train->duration_unit = unit;
}

static void set_epochs(Call *call) {
    TrainSection *train = &call->l->model->train;
    set_duration(call, UNIT_EPOCHS);
    if (argument(call, "steps")->given)
        argument_integer(call, "steps", 1, &train->steps_per_epoch);
}

static void set_steps(Call *call) {
    set_duration(call, UNIT_STEPS);
}

static void set_tail(Call *call) {
    static const char *const choices[] = {"keep", "drop", NULL};
    int index;
    if (argument_choice(call, "how", choices, &index))
        call->l->model->train.drop_tail = index == 1;
}

static void set_save(Call *call) {
    TrainSection *train = &call->l->model->train;
    int64_t keep;
    if (!argument_integer(call, "n", 1, &train->save_every) ||
        !read_unit(call, "unit", &train->save_unit) || !argument_integer(call, "keep", 0, &keep))
        return;
    train->save_keep = keep > 1000000 ? 1000000 : (int)keep;
}

static void set_seed(Call *call) {
    int64_t seed;
    if (argument_integer(call, "n", 0, &seed) && !call->l->options->has_seed)
        call->l->model->train.seed = seed;
}

static void set_memory(Call *call) {
    TrainSection *train = &call->l->model->train;
    Datum d = argument(call, "size")->value;
    if (d.kind == DATUM_BYTES && d.integer > 0) {
        train->memory = d.integer;
        train->memory_span = argument(call, "size")->span;
    } else {
        report_setting(call, "size",
                       "a budget is written like `8GiB` or `512MiB`, with its unit and no quotes");
    }
}

/* Not what PyTorch, Lightning or Keras would write. */
static bool is_safetensors(const char *file) {
    static const char *const others[] = {".pth", ".pt", ".ckpt", ".h5", ".keras", ".onnx"};
    const size_t length = strlen(file);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (length > strlen(others[i]) && strcmp(file + length - strlen(others[i]), others[i]) == 0)
            return false;
    return true;
}

static void set_pretrained(Call *call) {
    TrainSection *train = &call->l->model->train;
    const Datum file = argument(call, "file")->value, map = argument(call, "map")->value;
    if (file.kind != DATUM_TEXT)
        report_setting(call, "file", "`pretrained` needs the name of a file in quotes");
    else if (!is_safetensors(file.text))
        report_setting(
            call, "file",
            "`pretrained` reads safetensors; in PyTorch "
            "`safetensors.torch.save_file(model.state_dict(), \"weights.safetensors\")` writes one");
    else if (map.kind != DATUM_TEXT && map.kind != DATUM_NONE)
        report_setting(call, "map", "`map` is the name of a file in quotes, of lines `THEIRS -> OURS`");
    else
        train->pretrained = file.text, train->pretrained_map = map.kind == DATUM_TEXT ? map.text : NULL;
}

static void set_precision(Call *call) {
    static const char *const choices[] = {"f32", "bf16", "f16", NULL};
    static const Type precision[] = {TYPE_F32, TYPE_BF16, TYPE_F16};
    int index;
    if (argument_choice(call, "kind", choices, &index))
        call->l->model->train.precision = precision[index];
}

/* ---- eval and predict ---- */

static void set_every(Call *call) {
    EvalSection *eval_section = &call->l->model->eval;
    if (argument_integer(call, "n", 1, &eval_section->every))
        read_unit(call, "unit", &eval_section->every_unit);
}

static void set_size(Call *call) {
    Lower *l = call->l;
    bool of_eval = strcmp(l->section->name, "eval") == 0;
    int64_t *size = of_eval ? l->model->eval.size : l->model->predict.size;
    int count = call->nargument;
    int axes = l->model->ninput > 0 ? l->graph->value[l->model->input[0].value].shape.rank - 1 : 2;
    if (count != axes) {
        diag_begin(l->diag, ERROR, "U0315", call->span, "%d size%s given for %d axes", count,
                   count == 1 ? "" : "s", axes);
        diag_end(l->diag);
        return;
    }
    for (int i = 0; i < count; i++) {
        Datum d = call->argument[i].value;
        if (d.kind != DATUM_INTEGER || d.integer < 1 || d.integer > INT64_C(1) << 24) {
            diag_begin(l->diag, ERROR, "U0213", call->argument[i].span,
                       "a size is a whole number from 1 to 16777216");
            diag_end(l->diag);
            return;
        }
        size[AXES - count + i] = d.integer;
    }
}

static void set_pad(Call *call) {
    static const char *const choices[] = {"reflect", "replicate", "zero", "mean", NULL};
    static const Pad pad[] = {PAD_REFLECT, PAD_REPLICATE, PAD_ZERO, PAD_MEAN};
    int index;
    if (argument_choice(call, "how", choices, &index))
        call->l->model->predict.pad = pad[index];
    call->l->model->predict.pad_span = call->span;
}

/* ---- data ---- */

static void set_holdout(Call *call) {
    DataSection *data = data_of_section(call->l);
    double share;
    if (datum_number(argument(call, "share")->value, &share) && share >= 1)
        report_setting(call, "share",
                       "`holdout` is a share of the samples: `holdout 0.1` keeps a tenth for evaluation");
    else if (read_share(call, "share", &data->holdout))
        argument_integer(call, "seed", 0, &data->holdout_seed);
}

static void set_folds(Call *call) {
    enum { MOST_FOLDS = 1000 };
    DataSection *data = data_of_section(call->l);
    int64_t folds, seed;
    if (!argument_integer(call, "n", 2, &folds) || !argument_integer(call, "seed", 0, &seed))
        return;
    if (folds > MOST_FOLDS) {
        report_setting(call, "n", "there are at most 1000 folds");
    } else if (seed > UINT32_MAX) {
        report_setting(call, "seed", "the seed of folds is less than 2^32");
    } else {
        data->folds = (int)folds;
        data->fold_seed = seed;
        data->folds_span = call->span;
    }
}

/* Both say which samples are held out. */
static void check_folds(Lower *l) {
    const DataSection *data = &l->model->data;
    if (data->folds == 0 || data->holdout == 0)
        return;
    diag_begin(l->diag, ERROR, "U0608", data->folds_span,
               "`folds` and `holdout` both say what is held out; keep one of them");
    diag_end(l->diag);
}

static void set_shuffle(Call *call) {
    argument_truth(call, "on", &data_of_section(call->l)->shuffle);
}

static void set_threads(Call *call) {
    int64_t threads;
    if (argument_integer(call, "n", 1, &threads))
        data_of_section(call->l)->threads = threads > 256 ? 256 : (int)threads;
}

/* ---- the table ---- */

enum { IN_DATA = 1, IN_TRAIN = 2, IN_EVAL = 4, IN_PREDICT = 8 };
static const char *const section_name[] = {"data", "train", "eval", "predict"};

enum { SECTIONS = 4 };

typedef struct {
    const char *name, *signature;
    void (*set)(Call *call); /* NULL: not in this version */
    int sections;
    bool repeats;
} Setting;

static const Setting settings[] = {
    {"crop", "crop(random = true, foreground = 0, pad = none)", set_crop, IN_DATA, true},
    {"flip", "flip(axes = none, p = 0.5)", set_flip, IN_DATA, true},
    {"holdout", "holdout(share, seed = 0)", set_holdout, IN_DATA, false},
    {"folds", "folds(n, seed = 12345)", set_folds, IN_DATA, false},
    {"normalize", "normalize(how = \"measured\", mean = none, std = none)", set_normalize, IN_DATA, false},
    {"spacing", "spacing(d, h, w, order = 1)", set_spacing, IN_DATA, false},
    {"trim", "trim(on)", set_trim, IN_DATA, false},
    {"shuffle", "shuffle(on)", set_shuffle, IN_DATA, false},
    {"threads", "threads(n)", set_threads, IN_DATA, false},
    {"resize", "resize(h, w = none, fit = \"exact\")", set_resize, IN_DATA, false},
    {"scale", "scale(low, high, step = 0, p = 1, axes = none)", set_scale, IN_DATA, true},
    {"rot90", "rot90(p = 1)", set_rot90, IN_DATA, true},
    {"rotate", "rotate(angle, step = 0, p = 1, axes = none)", set_rotate, IN_DATA, true},
    {"elastic", "elastic(sigma, grid = 3, p = 1)", set_elastic, IN_DATA, false},
    {"distort", "distort(brightness = 0, contrast = 0, saturation = 0, hue = 0, p = 0.5)", set_distort,
     IN_DATA, true},
    {"gamma", "gamma(low, high, p = 1, invert = false)", set_gamma, IN_DATA, true},
    {"noise", "noise(sigma, p = 1)", set_noise, IN_DATA, true},
    {"blur", "blur(low, high, p = 1)", set_blur, IN_DATA, true},
    {"low_resolution", "low_resolution(low, high, p = 1, axes = none)", set_low_resolution, IN_DATA, true},
    {"loss", "loss(expr)", set_loss, IN_TRAIN, true},
    {"metric", "metric(expr)", set_metric, IN_TRAIN, true},
    {"optimizer", "optimizer(kind)", set_optimizer, IN_TRAIN, false},
    {"batch", "batch(n)", set_batch, IN_TRAIN | IN_EVAL | IN_PREDICT, false},
    {"epochs", "epochs(n, steps = none)", set_epochs, IN_TRAIN, false},
    {"steps", "steps(n)", set_steps, IN_TRAIN, false},
    {"tail", "tail(how)", set_tail, IN_TRAIN, false},
    {"save", "save(n = 1, unit = \"epochs\", keep = 3)", set_save, IN_TRAIN, false},
    {"seed", "seed(n)", set_seed, IN_TRAIN, false},
    {"memory", "memory(size)", set_memory, IN_TRAIN, false},
    {"pretrained", "pretrained(file, map = none)", set_pretrained, IN_TRAIN, false},
    {"precision", "precision(kind)", set_precision, IN_TRAIN, false},
    {"accumulate", "accumulate(n)", set_accumulate, IN_TRAIN, false},
    {"ranks", "ranks(n)", set_ranks, IN_TRAIN, false},
    {"schedule", "schedule(kind)", set_schedule, IN_TRAIN, false},
    {"warmup", "warmup(n, start = 0)", set_warmup, IN_TRAIN, false},
    {"patience", "patience(n)", set_patience, IN_TRAIN, false},
    {"clip", "clip(norm = none, value = none)", set_clip, IN_TRAIN, false},
    {"ema", "ema(decay)", set_ema, IN_TRAIN, false},
    {"state", "state(bits)", set_state, IN_TRAIN, false},
    {"compress", "compress(bits, except = none)", set_compress, IN_TRAIN, false},
    {"freeze", "freeze(layers, ...)", set_freeze, IN_TRAIN, true},
    {"init", "", NULL, IN_TRAIN, false},
    {"every", "every(n = 1, unit = \"epochs\")", set_every, IN_EVAL, false},
    {"size", "size(h, w, ...)", set_size, IN_EVAL | IN_PREDICT, false},
    {"at", "at(size)", set_at, IN_EVAL, false},
    {"tiles", "", NULL, IN_EVAL, false},
    {"pad", "pad(how)", set_pad, IN_PREDICT, false},
    {"regions", "regions(classes, above = 0.5)", set_regions, IN_PREDICT, false},
    {"windows", "windows(h = none, w = none, overlap = 0.5, blend = \"gaussian\", mirror = none)",
     set_windows, IN_PREDICT, false},
};

enum { SETTINGS = sizeof settings / sizeof *settings };

void list_settings(Text *out) {
    for (int section = 0; section < SECTIONS; section++)
        text_line(out, "section\t%s", section_name[section]);
    for (int section = 0; section < SECTIONS; section++)
        for (int i = 0; i < SETTINGS; i++)
            if (settings[i].set != NULL && (settings[i].sections & 1 << section) != 0)
                text_line(out, "%s\t%s", section_name[section], settings[i].signature);
}

/* The settings, as one types them, that change nothing: what holds without them. */
static const char *const otherwise[] = {"shuffle true",
                                        "optimizer adam()",
                                        "batch 1",
                                        "tail \"keep\"",
                                        "seed 0",
                                        "precision \"f32\"",
                                        "accumulate 1",
                                        "ranks 1",
                                        "state 32",
                                        "compress 32",
                                        "schedule constant()",
                                        "pad \"reflect\"",
                                        "save 1, \"epochs\", keep = 3",
                                        "every 1, \"epochs\""};

struct Seen {
    Span span[SECTIONS][SETTINGS];
};

static int section_index(const char *name) {
    int i = 0;
    while (i < SECTIONS && strcmp(section_name[i], name) != 0)
        i++;
    return i;
}

void begin_sections(Lower *l) {
    Model *model = l->model;
    l->seen = NEW(l->pool, struct Seen);
    model->data.shuffle = model->eval_data.shuffle = true;
    model->train = (TrainSection){.batch = 1,
                                  .accumulate = 1,
                                  .ranks = 1,
                                  .processes = 1,
                                  .save_every = 1,
                                  .save_unit = UNIT_EPOCHS,
                                  .save_keep = 3};
    model->train.optimizer =
        (Optimizer){.kind = OPTIMIZER_ADAM, .learning_rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999};
    model->train.optimizer.epsilon = 1e-8;
    model->train.optimizer_text = "adam()";
    if (l->options->has_seed)
        model->train.seed = l->options->seed;
    model->eval = (EvalSection){.every = 1, .every_unit = UNIT_EPOCHS, .batch = 1};
    model->predict =
        (PredictSection){.batch = 1, .pad = PAD_REFLECT, .windows = {.overlap = 0.5, .gaussian = true}};
}

void end_sections(Lower *l) {
    TrainSection *train = &l->model->train;
    LayerPattern *frozen = NEW_ARRAY(l->pool, LayerPattern, train->nfrozen + l->options->nfreeze);
    for (int i = 0; i < train->nfrozen; i++)
        frozen[i] = train->frozen[i];
    for (int i = 0; i < l->options->nfreeze; i++)
        frozen[train->nfrozen++] = (LayerPattern){.pattern = l->options->freeze[i]};
    train->frozen = frozen;
}

bool is_setting(const Lower *l, const char *name) {
    int bit = 1 << section_index(l->section->name);
    for (int i = 0; i < SETTINGS; i++)
        if ((settings[i].sections & bit) != 0 && strcmp(settings[i].name, name) == 0)
            return true;
    return false;
}

static const char *section_list(Lower *l, int bit, bool ours) {
    const char *list = "";
    for (int i = 0; i < SETTINGS; i++)
        if ((settings[i].sections & bit) != 0 && (!ours || settings[i].set != NULL))
            list = pool_text(l->pool, "%s%s%s", list, *list == '\0' ? "" : " ", settings[i].name);
    return list;
}

/* Begins with the name of SETTING and a blank. */
static bool is_of(const char *typed, const char *setting) {
    const size_t length = strlen(setting);
    return strncmp(typed, setting, length) == 0 && typed[length] == ' ';
}

static void print_setting(FILE *out, const Setting *setting) {
    char line[256];
    const char *arguments = setting->signature + strcspn(setting->signature, "(") + 1;
    const char *without = NULL;
    for (size_t i = 0; i < sizeof otherwise / sizeof *otherwise; i++)
        if (is_of(otherwise[i], setting->name))
            without = otherwise[i];
    snprintf(line, sizeof line, "%s %.*s", setting->name, (int)strlen(arguments) - 1, arguments);
    if (without == NULL)
        fprintf(out, "    %s\n", line);
    else
        fprintf(out, "    %-40s  # without it: %s\n", line, without);
    if (setting->set == set_optimizer)
        print_optimizers(out);
    if (setting->set == set_schedule)
        print_schedules(out);
}

void print_settings(FILE *out) {
    for (int section = 0; section < SECTIONS; section++) {
        const int bit = 1 << section;
        fprintf(out, "%s {\n", section_name[section]);
        if (bit == IN_DATA)
            print_sources(out);
        for (int i = 0; i < SETTINGS; i++)
            if ((settings[i].sections & bit) != 0 && settings[i].set != NULL)
                print_setting(out, &settings[i]);
        fprintf(out, "}\n");
    }
}

static const char *section_with(const char *setting) {
    for (int i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].name, setting) == 0)
            for (int k = 0; k < SECTIONS; k++)
                if ((settings[i].sections & 1 << k) != 0)
                    return section_name[k];
    return NULL;
}

/* Arguments that many look for in the section `train`. */
static const char *const of_optimizer[] = {"lr", "momentum", "weight_decay", "betas"};
enum { OF_OPTIMIZER = sizeof of_optimizer / sizeof *of_optimizer };

/* `images("*.png")` without the name of what it fills. */
static void help_source_alone(Lower *l, const Stmt *stmt) {
    const bool reads = strcmp(stmt->name, "images") == 0 || strcmp(stmt->name, "labels") == 0;
    if (reads && l->model->ninput > 0 && stmt->args.count > 0)
        diag_help(l->diag, "a source has the name of what it fills: `%s = %s(%s)`", l->model->input[0].name,
                  stmt->name, expr_text(l->pool, expr_inside(stmt->args.item[0].value)));
}

/* `photo images("*.png")`: what fills the input, as text; else NULL. */
static const char *source_without_equals(Lower *l, const Stmt *stmt) {
    const bool fills = table_find(&l->model->input_of, stmt->name) >= 0 && stmt->args.count == 1;
    return fills && strcmp(l->section->name, "data") == 0
               ? expr_text(l->pool, expr_inside(stmt->args.item[0].value))
               : NULL;
}

static void report_unknown_setting(Lower *l, const Stmt *stmt, int bit) {
    const char *name[SETTINGS];
    int count = 0;
    for (int i = 0; i < SETTINGS; i++)
        if ((settings[i].sections & bit) != 0)
            name[count++] = settings[i].name;
    const bool trains = strcmp(l->section->name, "train") == 0;
    const char *argument = trains ? unet_nearest_word(stmt->name, of_optimizer, OF_OPTIMIZER) : NULL;
    const char *elsewhere = section_with(stmt->name), *near = unet_nearest_word(stmt->name, name, count);
    diag_begin(l->diag, ERROR, "U0602", stmt->name_span, "`%s` has no setting `%s`", l->section->name,
               stmt->name);
    const char *known = foreign_setting(stmt->name), *source = source_without_equals(l, stmt);
    if (source != NULL)
        diag_help(l->diag, "write `%s = %s`", stmt->name, source);
    else if (known != NULL)
        diag_help(l->diag, "%s", known);
    else if (elsewhere != NULL)
        diag_help(l->diag, "it belongs to the section `%s`", elsewhere);
    else if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    else if (argument != NULL)
        diag_help(l->diag, "it is the argument `%s` of the optimizer, such as `optimizer adam(%s = ...)`",
                  argument, argument);
    help_source_alone(l, stmt);
    diag_note(l->diag, "its settings: %s", section_list(l, bit, true));
    diag_end(l->diag);
}

static bool set_twice(Lower *l, const Stmt *stmt, int section, int setting) {
    Span *before = &l->seen->span[section][setting];
    if (settings[setting].repeats || before->line == 0) {
        *before = stmt->span;
        return false;
    }
    diag_begin(l->diag, ERROR, "U0603", stmt->span, "`%s` is set twice", stmt->name);
    diag_also(l->diag, *before, "first here");
    diag_note(l->diag, section == 0 ? "only transforms may be repeated, except `elastic`"
                                    : "only `loss` and `metric` may be repeated (losses add up)");
    diag_end(l->diag);
    return true;
}

static void call_setting(Lower *l, const Stmt *stmt, const Setting *setting) {
    Expr expr = {.kind = EXPR_CALL, .span = stmt->span, .mark = stmt->name_span, .text = stmt->name};
    expr.args = stmt->args;
    Call call = {.l = l, .expr = &expr, .span = stmt->span};
    call.signature = signature_of(l, setting->signature, true);
    const bool by_name = setting->set == set_optimizer || setting->set == set_schedule;
    if (by_name && stmt->args.count == 1) { /* sgd, adam, cosine: known only there */
        Argument kind = {.expr = stmt->args.item[0].value, .span = stmt->args.item[0].span, .given = true};
        call.argument = &kind;
        call.nargument = 1;
        setting->set(&call);
        return;
    }
    l->in_loss = setting->set == set_loss;
    const bool bound = bind_arguments(&call, NULL, &stmt->args);
    l->in_loss = false;
    if (bound)
        setting->set(&call);
}

/* Prediction makes no loss and no metric, so its sizes need not suit them: the file was judged at the
 * sizes of training. */
static bool is_judged(const Lower *l, const Setting *setting) {
    const bool compares = setting->set == set_loss || setting->set == set_metric;
    return !compares || l->options->program != PROGRAM_PREDICT;
}

/* The setting is carried out all the same: layers in it have weights, in every program. */
static void call_unjudged(Lower *l, const Stmt *stmt, const Setting *setting) {
    Diag *diag = l->diag;
    l->diag = diag_quiet(l->pool);
    call_setting(l, stmt, setting);
    l->diag = diag;
}

void run_setting(Lower *l, const Stmt *stmt) {
    int section = section_index(l->section->name), i = 0;
    while (i < SETTINGS &&
           ((settings[i].sections & 1 << section) == 0 || strcmp(settings[i].name, stmt->name) != 0))
        i++;
    if (i == SETTINGS) {
        report_unknown_setting(l, stmt, 1 << section);
    } else if (settings[i].set == NULL) {
        diag_begin(l->diag, ERROR, "U0202", stmt->name_span,
                   "the setting `%s` is not in this version of unetc", stmt->name);
        diag_note(l->diag, "this version has: %s", section_list(l, 1 << section, true));
        diag_end(l->diag);
    } else if (!set_twice(l, stmt, section, i)) {
        (is_judged(l, &settings[i]) ? call_setting : call_unjudged)(l, stmt, &settings[i]);
    }
}

/* ---- sections ---- */

static bool *section_present(Model *model, int section, Span **span) {
    *span = section == 0 ? &model->data.span : section == 1 ? &model->train.span : &model->eval.span;
    return section == 0   ? &model->data.present
           : section == 1 ? &model->train.present
                          : &model->eval.present;
}

/* `evaluate` and `training` begin with the names of sections. */
static const char *near_section(const char *typed) {
    for (int i = 0; i < SECTIONS; i++)
        if (strncmp(typed, section_name[i], strlen(section_name[i])) == 0)
            return section_name[i];
    return unet_nearest_word(typed, section_name, SECTIONS);
}

void run_section(Lower *l, const Stmt *stmt) {
    int section = section_index(stmt->name);
    if (section == SECTIONS) {
        const char *near = near_section(stmt->name);
        diag_begin(l->diag, ERROR, "U0209", stmt->name_span, "there is no section `%s`", stmt->name);
        if (near != NULL)
            diag_help(l->diag, "did you mean `%s`? (sections: data, train, eval, predict)", near);
        else
            diag_note(l->diag, "sections: data, train, eval, predict");
        diag_end(l->diag);
        return;
    }
    if (section < 3) {
        Span *span;
        bool *present = section_present(l->model, section, &span);
        if (*present) {
            diag_begin(l->diag, ERROR, "U0603", stmt->name_span, "the file has two sections `%s`",
                       stmt->name);
            diag_also(l->diag, *span, "first here");
            diag_end(l->diag);
            return;
        }
        *present = true;
        *span = stmt->name_span;
    }
    l->section = stmt;
    run_statements(l, &stmt->body);
    l->section = NULL;
}

static int setting_index(const char *name) {
    int i = 0;
    while (i < SETTINGS && strcmp(settings[i].name, name) != 0)
        i++;
    return i;
}

static void check_train(Lower *l) {
    const TrainSection *train = &l->model->train;
    bool loss = false;
    for (int i = 0; i < l->model->nresult; i++)
        loss |= l->model->result[i].is_loss;
    if (!loss && l->options->program != PROGRAM_PREDICT) {
        diag_begin(l->diag, ERROR, "U0601", train->span, "`train` has no `loss`");
        diag_help(l->diag, "add a line such as `loss mse(%s, %s)`",
                  l->model->noutput > 0 ? l->model->output[0].name : "answer", first_target(l));
        diag_end(l->diag);
    }
    Span epochs = l->seen->span[1][setting_index("epochs")],
         steps = l->seen->span[1][setting_index("steps")];
    if (epochs.line > 0 && steps.line > 0) {
        diag_begin(l->diag, ERROR, "U0608", steps, "`epochs` and `steps` are both set; keep one of them");
        diag_also(l->diag, epochs, "%s", "");
        diag_end(l->diag);
    } else if (epochs.line == 0 && steps.line == 0) {
        diag_begin(l->diag, ERROR, "U0615", train->span, "`train` needs `epochs` or `steps`");
        diag_help(l->diag, "add `epochs 50` or `steps 160_000`");
        diag_end(l->diag);
    }
}

/* A program has room for so many sums over labels. */
static void check_label_counts(Lower *l) {
    LabelCount *count;
    const Model *model = l->model;
    const int found = label_counts(l->graph, &count);
    if (found <= MOST_LABEL_COUNTS || l->only_axis >= 0)
        return;
    diag_begin(l->diag, ERROR, "U0621", model->result[model->nresult - 1].span,
               "the losses take %d different means over labels, and at most %d are possible", found,
               MOST_LABEL_COUNTS);
    diag_note(l->diag, "losses with the same target, `ignore_index` and class weights share one");
    diag_end(l->diag);
}

/* Points beside an image are 0 before it is normalised. */
static void check_predict_pad(Lower *l) {
    const Model *model = l->model;
    if (model->predict.pad != PAD_MEAN || model->ninput == 0 || model->input[0].kind == KIND_VOLUME)
        return;
    diag_begin(l->diag, ERROR, "U0614", model->predict.pad_span, "`pad \"mean\"` is for volumes");
    diag_note(l->diag, "images have: \"reflect\", \"replicate\", \"zero\"");
    diag_end(l->diag);
}

static bool is_argmax_of(const Graph *g, ValueId v, ValueId *of) {
    const NodeId producer = g->value[v].producer;
    if (producer < 0 || !has_trait(&g->node[producer], TRAIT_CLASSES))
        return false;
    *of = g->node[producer].in[0];
    return true;
}

/* Metrics whose prediction is an output can be measured on what `predict` makes. */
static void find_measured_outputs(Lower *l) {
    const Graph *g = l->graph;
    for (int i = 0; i < l->model->nresult; i++) {
        Result *result = &l->model->result[i];
        const ValueId predicted = g->node[g->value[result->value].producer].in[0];
        result->output = -1;
        for (int k = 0; k < l->model->noutput; k++) {
            const ValueId output = l->model->output[k].value;
            ValueId of, other;
            if (output == predicted ||
                (is_argmax_of(g, output, &of) && is_argmax_of(g, predicted, &other) && of == other))
                result->output = k;
        }
    }
}

void check_sections(Lower *l) {
    Model *model = l->model;
    if (model->train.present) {
        check_train(l);
        check_updates(l);
    }
    if (l->options->batch > 0)
        model->train.batch = l->options->batch;
    if (l->options->accumulate > 0)
        model->train.accumulate = l->options->accumulate;
    check_accumulation(l);
    if (l->options->ranks > 0)
        model->train.ranks = l->options->ranks;
    check_ranks(l);
    choose_codes(l);
    check_state(l);
    synchronise_norms(l);
    check_sources(l);
    check_folds(l);
    if (l->options->program == PROGRAM_TRAIN) { /* nothing else has them */
        check_transforms(l, &model->data);
        check_resized(l);
    }
    check_predict_pad(l);
    check_windows(l);
    check_regions(l);
    check_spacing(l);
    check_trim(l);
    check_at(l);
    normalize_inputs(l);
    find_measured_outputs(l);
    check_diffusion(l);
    if (model->nresult > 0)
        check_label_counts(l);
}
