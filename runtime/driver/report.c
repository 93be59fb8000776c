/* report.c - report.html, the page of a training run that one looks at: what was measured, curves, samples,
 * which classes were taken for which, what memory holds, and by what all this was computed.
 *
 * The page is written anew each time.  The log has all rows of a run, also of the processes that it was
 * resumed from.  The page takes no memory of the arena and changes nothing of the run. */
#define _DEFAULT_SOURCE /* gmtime_r */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "unet/image.h"
#include "unet/words.h"

/* ---- what was measured ------------------------------------------------------------------------ */

static void put_number_row(Page *page, const char *name, double value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    page_row(page, name, text);
}

void report_results(Page *page, const char *heading, const Tally *tally) {
    if (tally->samples == 0)
        return;
    page_markup(page, "<h2>");
    page_text(page, heading);
    page_format(page, "</h2>\n<p>%" PRId64 " sample%s</p>\n<table>\n", tally->samples,
                unet_plural(tally->samples));
    if (!isnan(tally_loss(tally)))
        put_number_row(page, "loss", tally_loss(tally));
    for (int i = 0; i < tally->model->nresult; i++)
        if (!isnan(tally_value(tally, i)))
            put_number_row(page, tally->model->results[i].name, tally_value(tally, i));
    page_markup(page, "</table>\n");
}

void report_note(Page *page, const char *before, const char *text) {
    page_markup(page, "<p class=\"soft\">");
    page_text(page, before);
    page_text(page, text);
    page_markup(page, "</p>\n");
}

static void put_progress(Page *page, const Driver *driver, const ReportRun *run) {
    const int metric = tally_first_metric(driver->model);
    page_format(page, "<p>%" PRId64 " of %" PRId64 " steps", run->step, run->steps);
    if (!isnan(run->best) && run->best_step >= 0) {
        page_markup(page, "; best ");
        page_text(page, metric >= 0 ? driver->model->results[metric].name : "loss");
        page_format(page, ": %.6g, at step %" PRId64, run->best, run->best_step);
    }
    page_markup(page, "</p>\n");
    if (run->ended != NULL) {
        page_markup(page, "<p class=\"ended\">");
        page_text(page, run->ended);
        page_markup(page, "</p>\n");
    }
}

/* ---- classes ---------------------------------------------------------------------------------- */

enum { MOST_CLASSES = 32 };

static void put_class(Page *page, int32_t k) {
    uint8_t rgb[3];
    unet_class_colour(k, rgb);
    page_format(page,
                "<th><span class=\"swatch\" style=\"background:rgb(%d,%d,%d)\"></span> %" PRId32 "</th>",
                rgb[0], rgb[1], rgb[2], k);
}

/* The colour is the share of the row. */
static void put_matrix_row(Page *page, const double *pairs, int32_t classes, int32_t shown) {
    double all = 0;
    for (int32_t k = 0; k < classes; k++)
        all += pairs[k];
    for (int32_t k = 0; k < shown; k++)
        page_format(page, "<td class=\"number\" style=\"background:rgba(40,130,220,%.3f)\">%.0f</td>",
                    all > 0 ? 0.65 * pairs[k] / all : 0, pairs[k]);
}

static void put_matrix(Page *page, const UnetResult *result, const double *pairs) {
    const int32_t classes = result->classes, shown = classes < MOST_CLASSES ? classes : MOST_CLASSES;
    page_markup(page, "<h3>");
    page_text(page, result->name);
    page_markup(page, "</h3>\n<div class=\"wide\"><table class=\"matrix\">\n<tr><td class=\"soft\">true \\ "
                      "predicted</td>");
    for (int32_t k = 0; k < shown; k++)
        put_class(page, k);
    page_markup(page, "</tr>\n");
    for (int32_t k = 0; k < shown; k++) {
        page_markup(page, "<tr>");
        put_class(page, k);
        put_matrix_row(page, pairs + (ptrdiff_t)k * classes, classes, shown);
        page_markup(page, "</tr>\n");
    }
    page_markup(page, "</table></div>\n");
    if (shown < classes)
        page_format(page, "<p class=\"soft\">The first %" PRId32 " of %" PRId32 " classes.</p>\n", shown,
                    classes);
}

/* Metrics that count the same points have one matrix. */
static bool was_shown(const Tally *eval, int i) {
    for (int k = 0; k < i; k++)
        if (eval->pairs[k] != NULL && eval->model->results[k].classes == eval->model->results[i].classes &&
            memcmp(eval->pairs[k], eval->pairs[i],
                   (size_t)unet_result_numbers(&eval->model->results[i]) * sizeof **eval->pairs) == 0)
            return true;
    return false;
}

void report_matrices(Page *page, const Tally *eval) {
    bool any = false;
    for (int i = 0; i < eval->model->nresult && eval->samples > 0; i++) {
        if (eval->pairs[i] == NULL || was_shown(eval, i))
            continue;
        if (!any)
            page_markup(page, "<h2>Confusion matrix</h2>\n<p class=\"soft\">Points of the evaluation: "
                              "rows are true classes, columns are predicted ones; the bluer a cell, the "
                              "larger its share of the row.</p>\n");
        any = true;
        put_matrix(page, &eval->model->results[i], eval->pairs[i]);
    }
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void put_bytes(Page *page, const char *name, int64_t bytes, int64_t most) {
    char text[32];
    format_bytes(text, sizeof text, bytes);
    page_markup(page, "<tr><th>");
    page_text(page, name);
    page_format(page,
                "</th><td class=\"number\">%s</td><td style=\"width:50%%\"><div class=\"bar\" "
                "style=\"width:%.2f%%\"></div></td></tr>\n",
                text, most > 0 ? 100 * (double)bytes / (double)most : 0);
}

void report_memory(Page *page, const UnetModel *model) {
    const UnetProgram *const programs[] = {model->train, model->eval, model->predict};
    const int64_t most =
        model->arena_bytes > model->loader_ring_bytes ? model->arena_bytes : model->loader_ring_bytes;
    char name[64];
    page_markup(page, "<h2>Memory</h2>\n<table style=\"width:100%\">\n");
    put_bytes(page, "arena", model->arena_bytes, most);
    put_bytes(page, "of it weights and the optimizer's state", model->persistent, most);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (programs[i] != NULL) {
            (void)snprintf(name, sizeof name, "of it used by %s", programs[i]->name);
            put_bytes(page, name, programs[i]->extent, most);
        }
    put_bytes(page, "loader, beside the arena, at most", model->loader_ring_bytes, most);
    page_markup(page,
                "</table>\n<p class=\"soft\"><code>unetc mem</code> says what each step holds.</p>\n");
}

/* ---- what computed it ------------------------------------------------------------------------- */

static void put_count(Page *page, const char *name, int64_t count) {
    char text[32];
    format_count(text, sizeof text, count);
    page_row(page, name, text);
}

static void put_date(Page *page) {
    char text[64] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0)
        page_row(page, "written", text);
}

#ifdef __clang__
static const char compiler[] = __VERSION__; /* with its name */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

/* These rows an evaluation lacks. */
static void put_run(Page *page, const Driver *driver, const ReportRun *run) {
    page_row(page, "optimizer", driver->model->training->description);
    put_count(page, "batch", run->batch);
    put_count(page, "processes", driver->ranks.size > 0 ? driver->ranks.size : 1);
    page_format(page, "<tr><th>seed</th><td>%" PRId64 "</td></tr>\n", run->seed);
}

void report_versions(Page *page, Driver *driver, const ReportRun *run) {
    const UnetModel *model = driver->model;
    char weights[UNET_PATH_BYTES];
    page_markup(page, "<h2>Versions</h2>\n<table>\n");
    page_row(page, "program", driver->program);
    page_row(page, "options", driver->options.given[0] == ' ' ? driver->options.given + 1 : "none");
    page_row(page, "folder of data",
             driver->options.eval_data != NULL && run == NULL ? driver->options.eval_data
                                                              : data_folder(driver));
    if (run == NULL && run_weights_path(driver, weights) == UNET_OK)
        page_row(page, "weights", weights);
    page_row(page, "model", model->source);
    page_row(page, "hash of the model", model->source_hash);
    page_row(page, "target", model->target);
    page_row(page, "instructions", model->isa);
    page_row(page, "precision", model->precision);
    put_count(page, "parameters", model->parameter_count);
    if (run != NULL)
        put_run(page, driver, run);
    put_count(page, "threads", driver->threads);
    put_count(page, "version of the runtime", model->runtime_version);
#ifdef UNETC_VERSION
    page_row(page, "unetc of the runtime", UNETC_VERSION);
#endif
    page_row(page, "C compiler of the runtime", compiler);
    put_date(page);
    page_markup(page, "</table>\n");
}

/* ---- the page --------------------------------------------------------------------------------- */

static UnetStatus path_of(const char *folder, const char *name, char path[UNET_PATH_BYTES],
                          UnetError *error) {
    const int n = snprintf(path, UNET_PATH_BYTES, "%s/%s", folder, name);
    return n > 0 && n < UNET_PATH_BYTES
               ? UNET_OK
               : unet_fail(error, UNET_IO, "%s: the name of the folder is too long", folder);
}

UnetStatus report_run(Driver *driver, const ReportRun *run) {
    char path[UNET_PATH_BYTES], log[UNET_PATH_BYTES];
    Page page;
    UnetStatus status = path_of(run_folder(driver), "report.html", path, &driver->error);
    if (status == UNET_OK)
        status = path_of(run_folder(driver), "log.csv", log, &driver->error);
    if (status != UNET_OK)
        return status;
    unet_atomic_clean(path);
    page_open(&page, path, driver->model->name, &driver->error);
    put_progress(&page, driver, run);
    report_results(&page, "Last evaluation", run->eval);
    if (page.status == UNET_OK)
        page.status = report_curves(&page, log, &driver->error);
    if (run->pictures != NULL)
        report_samples(&page, driver, run->pictures, run->data);
    else if (run->no_pictures != NULL)
        report_note(&page, "No pictures: ", run->no_pictures);
    report_matrices(&page, run->eval);
    report_memory(&page, driver->model);
    report_versions(&page, driver, run);
    return page_close(&page);
}
