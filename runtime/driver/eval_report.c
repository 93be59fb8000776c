/* eval_report.c - the page of `eval --report`: the values of all samples, and the worst samples.
 *
 * The first metric that was measured tells the worst, else the loss.  The values of all samples
 * are remembered while these are measured, and the pictures are made behind that, of the worst alone. */
#include "eval_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "unet/words.h"

enum { WORST = 10, LOSS = 0 };

/* Columns of EvalReport.value: the loss, and result I in column I + 1. */
static size_t columns(const EvalReport *report) {
    return (size_t)report->model->nresult + 1;
}

static void hear(TallyListener *listener, const Tally *of_sample, int64_t first) {
    EvalReport *report = (EvalReport *)listener;
    double *value = report->value + (size_t)first * columns(report);
    value[LOSS] = tally_loss(of_sample);
    for (int i = 0; i < report->model->nresult; i++)
        value[i + 1] = tally_value(of_sample, i);
    if (report->next != NULL)
        report->next->hear(report->next, of_sample, first);
}

/* As `train` leaves files: in the folder of the weights. */
static UnetStatus find_path(EvalReport *report, Driver *driver) {
    const char *given = driver->options.report_file;
    const int n = given != NULL
                      ? snprintf(report->path, sizeof report->path, "%s", given)
                      : snprintf(report->path, sizeof report->path, "%s/eval.html", run_folder(driver));
    return n > 0 && (size_t)n < sizeof report->path
               ? UNET_OK
               : unet_fail(&driver->error, UNET_IO, "--report: the name of the page is too long or empty");
}

/* Better before all is measured than behind that. */
static UnetStatus try_path(const EvalReport *report, Driver *driver) {
    UnetAtomicFile file;
    const UnetStatus status = unet_atomic_open(&file, report->path, &driver->error);
    if (status == UNET_OK)
        unet_atomic_abandon(&file);
    return status;
}

UnetStatus eval_report_open(EvalReport *report, Driver *driver, const UnetModel *model,
                            const UnetDataset *data) {
    const size_t samples = (size_t)unet_dataset_samples(data);
    report->model = report->shown_model = model;
    report->data = report->shown = data;
    report->listener.hear = hear;
    report->listener.alone = true;
    UnetStatus status = find_path(report, driver);
    if (status == UNET_OK)
        status = try_path(report, driver);
    if (status == UNET_OK)
        status = tally_listener_create(&report->listener, model, &driver->error);
    if (status != UNET_OK)
        return status;
    report->value = calloc(samples + 1, columns(report) * sizeof *report->value);
    if (report->value == NULL)
        return unet_fail(&driver->error, UNET_TOO_SMALL, "no memory for what is measured of %zu samples",
                         samples);
    for (size_t i = 0; i < samples * columns(report); i++)
        report->value[i] = NAN;
    return UNET_OK;
}

void eval_report_close(EvalReport *report) {
    tally_listener_destroy(&report->listener);
    free(report->value);
    report->value = NULL;
}

/* ---- the worst -------------------------------------------------------------------------------- */

typedef struct {
    size_t column; /* the column that tells them: the loss, or a result */
    bool high;     /* large values are bad ones */
    int32_t sample[WORST];
    int count;
} Worst;

static const char *column_name(const EvalReport *report, size_t column) {
    return column == LOSS ? "loss" : report->model->results[column - 1].name;
}

static double value_of(const EvalReport *report, int32_t sample, size_t column) {
    return report->value[(size_t)sample * columns(report) + column];
}

/* The loss counts where no metric was measured. */
static void choose_column(const EvalReport *report, const Tally *tally, Worst *worst) {
    worst->column = LOSS;
    worst->high = true;
    for (int i = 0; i < report->model->nresult && worst->column == LOSS; i++)
        if (report->model->results[i].kind == UNET_METRIC && !isnan(tally_value(tally, i))) {
            worst->column = (size_t)i + 1;
            worst->high = !report->model->results[i].higher_is_better;
        }
}

/* The worst first; of equal ones, the first of the data. */
static void find_worst(const EvalReport *report, const Tally *tally, Worst *worst) {
    worst->count = 0;
    choose_column(report, tally, worst);
    for (int32_t s = 0; s < unet_dataset_samples(report->data); s++) {
        const double value = value_of(report, s, worst->column);
        int place = worst->count;
        for (; place > 0; place--) {
            const double other = value_of(report, worst->sample[place - 1], worst->column);
            if (worst->high ? value <= other : value >= other)
                break;
        }
        if (isnan(value) || place == WORST)
            continue;
        worst->count += worst->count < WORST;
        for (int k = worst->count - 1; k > place; k--)
            worst->sample[k] = worst->sample[k - 1];
        worst->sample[place] = s;
    }
}

/* ---- on the page ------------------------------------------------------------------------------ */

/* Whether any of the worst has a number there: of one term, that is the loss. */
static bool is_shown(const EvalReport *report, const Worst *worst, size_t column) {
    bool any = false, other = column == LOSS || report->model->results[column - 1].kind != UNET_LOSS;
    for (int k = 0; k < worst->count; k++) {
        const double value = value_of(report, worst->sample[k], column);
        any |= !isnan(value);
        other |= value != value_of(report, worst->sample[k], LOSS);
    }
    return any && other;
}

/* Nothing, where nothing was measured. */
static void put_value(Page *page, double value) {
    char text[32] = "";
    if (!isnan(value))
        (void)snprintf(text, sizeof text, "%.6g", value);
    page_format(page, "<td class=\"number\">%s</td>", text);
}

static void put_table(Page *page, const EvalReport *report, const Worst *worst) {
    page_markup(page, "<div class=\"wide\"><table class=\"worst\">\n<tr><th>sample</th>");
    for (size_t c = 0; c < columns(report); c++)
        if (is_shown(report, worst, c)) {
            page_markup(page, "<th>");
            page_text(page, column_name(report, c));
            page_markup(page, "</th>");
        }
    page_markup(page, "</tr>\n");
    for (int k = 0; k < worst->count; k++) {
        page_markup(page, "<tr><td>");
        page_text(page, unet_dataset_name(report->data, worst->sample[k]));
        page_markup(page, "</td>");
        for (size_t c = 0; c < columns(report); c++)
            if (is_shown(report, worst, c))
                put_value(page, value_of(report, worst->sample[k], c));
        page_markup(page, "</tr>\n");
    }
    page_markup(page, "</table></div>\n");
}

static void put_samples(Page *page, Driver *driver, const EvalReport *report, const Worst *worst,
                        Pictures *pictures) {
    enum { MOST_POINTS = 256 };
    for (int k = 0; k < worst->count; k++) {
        page_markup(page, "<h3>");
        page_text(page, unet_dataset_name(report->data, worst->sample[k]));
        page_markup(page, ": ");
        page_text(page, column_name(report, worst->column));
        page_format(page, " %.6g</h3>\n", value_of(report, worst->sample[k], worst->column));
        report_sample(page, driver, pictures, worst->sample[k], MOST_POINTS);
    }
}

static void put_worst(Page *page, Driver *driver, const EvalReport *report, const Tally *tally,
                      Device *device, const char *no_pictures) {
    Worst worst;
    Pictures *pictures = NULL;
    find_worst(report, tally, &worst);
    if (worst.count == 0)
        return;
    page_format(page, "<h2>The worst %d of %" PRId32 " sample%s by ", worst.count,
                unet_dataset_samples(report->data), unet_plural(unet_dataset_samples(report->data)));
    page_text(page, column_name(report, worst.column));
    page_markup(page, "</h2>\n");
    put_table(page, report, &worst);
    if (device != NULL &&
        pictures_open(&pictures, driver, report->shown_model, report->shown, device) != UNET_OK)
        no_pictures = driver->error.text;
    if (pictures != NULL)
        put_samples(page, driver, report, &worst, pictures);
    else if (no_pictures != NULL)
        report_note(page, "No pictures: ", no_pictures);
    pictures_close(pictures);
    if (page->status == UNET_OK)
        driver->error.text[0] = '\0';
}

UnetStatus eval_report_write(const EvalReport *report, Driver *driver, const Tally *tally, Device *device,
                             const char *no_pictures) {
    Page page;
    char title[UNET_PATH_BYTES];
    (void)snprintf(title, sizeof title, "%s: evaluation", driver->model->name);
    unet_atomic_clean(report->path);
    page_open(&page, report->path, title, &driver->error);
    report_results(&page, "Evaluation", tally);
    if (page.status == UNET_OK)
        put_worst(&page, driver, report, tally, device, no_pictures);
    report_matrices(&page, tally);
    report_memory(&page, driver->model);
    report_versions(&page, driver, NULL);
    const UnetStatus status = page_close(&page);
    if (status == UNET_OK)
        (void)fprintf(stderr, "report: %s\n", report->path);
    return status;
}
