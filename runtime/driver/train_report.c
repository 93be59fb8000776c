/* train_report.c - when a training run writes its page, report.html, and what that says of its end.
 *
 * Behind evaluations the page has no pictures, since prediction would need memory beside the arena.  Behind
 * the last save the arena is free, and on a processor so is the memory of the loader: the last page has
 * pictures where these take no more than that.  A run never takes more memory for the sake of its page. */
#include "train.h"

#include "report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A page that cannot be written is told once, and training goes on. */
static void write_page(Run *run, const ReportRun *report) {
    if (run->has_no_report || report_run(run->driver, report) == UNET_OK)
        return;
    unet_progress_message(&run->progress, "warning: no report: %s", run->driver->error.text);
    run->driver->error.text[0] = '\0';
    run->has_no_report = true;
}

static ReportRun report_of(const Run *run) {
    return (ReportRun){.step = run->state.step,
                       .steps = run->steps,
                       .seed = run->state.seed,
                       .batch = train_batch(run),
                       .eval = &run->eval,
                       .best = run->state.best,
                       .best_step = run->state.best_step,
                       .data = run->eval_data};
}

/* Runs that evaluate all the time spend theirs on training. */
void train_report_evaluation(Run *run) {
    enum { APART = 2 }; /* seconds */
    const double now = machine_seconds();
    if (!train_leads(run) || run->has_no_report || now - run->report_end < APART)
        return;
    const ReportRun report = report_of(run);
    run->report_end = now;
    write_page(run, &report);
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* False: no steps are left. */
static bool tell_end(const Run *run, UnetStatus status, const UnetError *error, char *text, size_t size) {
    const int signal = run->driver->stopped_by;
    if (status != UNET_OK)
        (void)snprintf(text, size, "Ended behind step %" PRId64 ": %s", run->state.step, error->text);
    else if (signal != 0)
        (void)snprintf(text, size,
                       "Stopped by %s behind step %" PRId64 "; train --resume goes on from there.",
                       signal == SIGINT ? "SIGINT" : "SIGTERM", run->state.step);
    else if (train_has_stalled(run))
        (void)snprintf(text, size,
                       "Stopped early: the last %" PRId64 " evaluation%s not better than that of step "
                       "%" PRId64 ".",
                       run->state.stale, run->state.stale == 1 ? " was" : "s were", run->state.best_step);
    return status != UNET_OK || signal != 0 || train_has_stalled(run);
}

/* The loader goes where its memory is what pictures may take: a device may still know of it. */
static Pictures *open_pictures(Run *run) {
    Driver *driver = run->driver;
    const bool on_host = run->model->device == NULL;
    Pictures *pictures;
    if (on_host) {
        unet_loader_destroy(run->loader);
        run->loader = NULL;
    }
    if (pictures_open(&pictures, driver, run->model, run->eval_data, &run->device) != UNET_OK || !on_host ||
        pictures_bytes(pictures) <= run->beside)
        return pictures;
    char bytes[32], most[32];
    format_bytes(bytes, sizeof bytes, pictures_bytes(pictures));
    format_bytes(most, sizeof most, run->beside);
    (void)unet_fail(&driver->error, UNET_TOO_SMALL, "they take %s, and loading data took %s", bytes, most);
    pictures_close(pictures);
    return NULL;
}

void train_report_end(Run *run, UnetStatus status) {
    const UnetError error = run->driver->error;
    char ended[sizeof error.text + 64], why[sizeof error.text];
    ReportRun report = report_of(run);
    run->waited = unet_loader_wait(run->loader).seconds;
    if (!train_leads(run) || run->has_no_report || (status != UNET_OK && run->state.step == 0))
        return;
    report.ended = tell_end(run, status, &error, ended, sizeof ended) ? ended : NULL;
    if (run->driver->stopped_by != 0) /* who stopped it may not wait for pictures */
        write_page(run, &report);
    if (status == UNET_OK && run->eval_data != NULL && !run->has_no_report) {
        report.pictures = open_pictures(run);
        (void)snprintf(why, sizeof why, "%s", run->driver->error.text);
        report.no_pictures = why;
    }
    write_page(run, &report);
    pictures_close(report.pictures);
    run->driver->error = error;
    if (status != UNET_OK && !run->has_no_report)
        unet_progress_message(&run->progress, "report: %s/report.html", run_folder(run->driver));
}
