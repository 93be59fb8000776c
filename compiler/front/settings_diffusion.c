/* settings_diffusion.c - `noise = diffuse(photo, t)` in the section data: a diffusion, whose network tells
 * the noise of a picture, or something that comes to the same.
 *
 * Requires: inputs and targets.  Provides: Model.diffusion, with the share of the picture at each time.
 */
#include "front/lower_state.h"
#include "front/operator_size.h"
#include "ir/ops.h"

#include <math.h>
#include <string.h>

enum { MOST_TIMES = 10000 };

static bool report(const Call *call, Span span, const char *message, const char *help) {
    Diag *diag = call->l->diag;
    diag_begin(diag, ERROR, "U0627", span, "%s", message);
    if (help != NULL)
        diag_help(diag, "%s", help);
    diag_end(diag);
    return false;
}

/* ---- how much is left of a picture ---- */

/* The share of the variance that the picture has at u of the way from 0 to 1, as Nichol and Dhariwal have
 * it, and as Jabri et al.; of "linear" steps it follows from these. */
static double share_by_cosine(double u) {
    const double c = cos((u + 0.008) / 1.008 * 1.57079632679489661923);
    return c * c;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double share_by_sigmoid(double u) {
    return (sigmoid(3) - sigmoid(6 * u - 3)) / (sigmoid(3) - sigmoid(-3));
}

typedef enum { LINEAR, COSINE, SIGMOID } NoiseSchedule;

/* The variance of the noise that step I of COUNT adds.  Linear ones go from 1e-4 to 0.02 in a
 * thousand steps, as in Ho et al.; fewer are as much larger. */
static double variance_added(NoiseSchedule schedule, int i, int count) {
    double (*const share)(double) = schedule == COSINE ? share_by_cosine : share_by_sigmoid;
    const double most = 0.999, way = count > 1 ? (double)i / (count - 1) : 0;
    const double variance = schedule == LINEAR
                                ? (1e-4 + (0.02 - 1e-4) * way) * 1000 / count
                                : 1 - share((double)(i + 1) / count) / share((double)i / count);
    return variance < most ? variance : most;
}

static const double *shares_left(Pool *pool, NoiseSchedule schedule, int count) {
    double *kept = NEW_ARRAY(pool, double, count), left = 1;
    for (int i = 0; i < count; i++)
        kept[i] = left *= 1 - variance_added(schedule, i, count);
    return kept;
}

/* Hang et al. weigh a squared error of the picture with min(s, MOST), s = a / (1 - a) being the ratio of
 * signal to noise; an error of the noise is as large as one of the picture over the root of s, one of the
 * velocity over the root of s + 1.  Returns the roots of these weights. */
static const double *weight_roots(Pool *pool, const Diffusion *d, double most) {
    double *root = NEW_ARRAY(pool, double, d->times);
    for (int i = 0; i < d->times; i++) {
        const double ratio = d->kept[i] / (1 - d->kept[i]), weight = ratio < most ? ratio : most;
        root[i] = sqrt(d->objective == OBJECTIVE_NOISE      ? weight / ratio
                       : d->objective == OBJECTIVE_VELOCITY ? weight / (ratio + 1)
                                                            : weight);
    }
    return root;
}

/* ---- the call ---- */

/* The input that argument NAME is, or NULL. */
static const Input *argument_input(const Call *call, const char *name, int *index) {
    const Lower *l = call->l;
    ValueId v;
    if (!argument_tensor(call, name, &v))
        return NULL;
    const Value *value = &l->graph->value[v];
    const Input *input = value->class == CLASS_STAGING ? &l->model->input[value->input] : NULL;
    *index = input == NULL ? -1 : (int)(input - l->model->input);
    if (input != NULL && !input->is_target)
        return input;
    report(call, argument(call, name)->span,
           pool_text(l->pool, "`%s` is an input, and this is %s", name,
                     input != NULL ? "a target" : "computed"),
           "the network reads the noisy picture and the time: `noise = diffuse(photo, t)`");
    return NULL;
}

static bool check_picture(const Call *call, const Input *picture, const Input *truth) {
    const Lower *l = call->l;
    const Shape own = l->graph->value[picture->value].shape, told = l->graph->value[truth->value].shape;
    if (shape_equal(own, told))
        return true;
    return report(call, argument(call, "picture")->span,
                  pool_text(l->pool, "`%s` is %s, and `%s` is %s", picture->name, shape_text(l->pool, own),
                            truth->name, shape_text(l->pool, told)),
                  pool_text(l->pool, "noise has the shape of the picture: declare `target %s` like `%s`",
                            truth->name, picture->name));
}

static bool check_time(const Call *call, const Input *time) {
    return time->kind == KIND_NUMBER ||
           report(call, argument(call, "time")->span, "the time is a number of each sample",
                  pool_text(call->l->pool, "declare `input %s : number`", time->name));
}

static bool check_place(const Call *call, const Input *truth) {
    const Lower *l = call->l;
    const Diffusion *before = &l->model->diffusion;
    if (strcmp(l->section->name, "data") != 0)
        return report(call, call->span, "a diffusion stands in `data`",
                      "leave it out here: evaluation draws times and noise, too");
    if (truth == NULL || !truth->is_target)
        return report(call, call->span, "`diffuse` fills a target, which the network is asked to tell",
                      "declare `target noise : image(3)`, and write `noise = diffuse(photo, t)`");
    return !before->present || report(call, call->span, "a file has one diffusion", NULL);
}

static bool read_weights(const Call *call, Diffusion *d) {
    double most;
    if (argument(call, "min_snr")->value.kind == DATUM_NONE)
        return true;
    if (!argument_number(call, "min_snr", &most))
        return false;
    if (!(most > 0 && most <= 1e9))
        return report(call, argument(call, "min_snr")->span, "`min_snr` must be greater than 0", NULL);
    d->root = weight_roots(call->l->graph->pool, d, most);
    return true;
}

bool read_diffusion(const Call *call, int target) {
    static const char *const schedules[] = {"linear", "cosine", "sigmoid", NULL}, *const objectives[] = {
                                                                                      "noise", "v", "image",
                                                                                      NULL};
    Lower *l = call->l;
    const Input *truth = target < 0 ? NULL : &l->model->input[target];
    Diffusion d = {.present = true, .truth = target, .span = call->span};
    int64_t times;
    int schedule, objective;
    if (!check_place(call, truth))
        return false;
    const Input *picture = argument_input(call, "picture", &d.picture);
    const Input *time = picture == NULL ? NULL : argument_input(call, "time", &d.time);
    if (time == NULL || !check_picture(call, picture, truth) || !check_time(call, time) ||
        !argument_integer(call, "steps", 2, &times) ||
        !argument_choice(call, "schedule", schedules, &schedule) ||
        !argument_choice(call, "objective", objectives, &objective))
        return false;
    if (times > MOST_TIMES)
        return report(call, argument(call, "steps")->span,
                      pool_text(l->pool, "a diffusion has %d steps at most", (int)MOST_TIMES), NULL);
    d.objective = (Objective)objective;
    d.times = (int)times;
    d.kept = shares_left(l->graph->pool, (NoiseSchedule)schedule, d.times);
    if (!read_weights(call, &d))
        return false;
    l->model->diffusion = d;
    return true;
}

/* ---- the file as a whole ---- */

bool is_drawn(const Model *model, int input) {
    return model->diffusion.present && (input == model->diffusion.time || input == model->diffusion.truth);
}

/* The output that is compared with the truth; without losses the only one; -1: there is none. */
static int told_output(const Model *model) {
    const ValueId truth = model->input[model->diffusion.truth].value;
    for (int i = 0; i < model->nresult; i++)
        if (model->result[i].truth == truth && model->result[i].is_loss && model->result[i].output >= 0)
            return model->result[i].output;
    return model->nresult == 0 && model->noutput == 1 ? 0 : -1;
}

/* Weights are of squared errors. */
static void check_weights(Lower *l, const Diffusion *d) {
    const ValueId truth = l->model->input[d->truth].value;
    for (int i = 0; i < l->model->nresult && d->root != NULL; i++) {
        const Result *result = &l->model->result[i];
        if (!result->is_loss || result->truth != truth || strcmp(op_table[result->op].name, "mse") == 0)
            continue;
        diag_begin(l->diag, ERROR, "U0627", result->span,
                   "`min_snr` weighs squared errors, and this is `%s`", op_table[result->op].name);
        diag_also(l->diag, d->span, "here");
        diag_help(l->diag, "write `mse`, or leave out `min_snr`");
        diag_end(l->diag);
    }
}

void check_diffusion(Lower *l) {
    Diffusion *d = &l->model->diffusion;
    if (!d->present)
        return;
    check_weights(l, d);
    const Input *time = &l->model->input[d->time], *truth = &l->model->input[d->truth];
    const Source *own = find_source(&l->model->data, time->name);
    if (own != NULL) {
        diag_begin(l->diag, ERROR, "U0627", own->span, "`%s` is drawn by the diffusion", time->name);
        diag_also(l->diag, d->span, "here");
        diag_help(l->diag, "remove this line");
        diag_end(l->diag);
    }
    d->output = told_output(l->model);
    if (d->output >= 0)
        return;
    diag_begin(l->diag, ERROR, "U0627", d->span, "no output is compared with `%s`", truth->name);
    diag_help(l->diag, "samples need one: `output told = ...`, and in `train` `loss mse(told, %s)`",
              truth->name);
    diag_end(l->diag);
}
