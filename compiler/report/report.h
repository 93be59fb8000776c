/* report.h - what `unetc mem` prints. */
#ifndef REPORT_H
#define REPORT_H

#include "search/advice.h"
#include "base/text.h"

/* Bytes alive at the peak of a program, summed over the buffers that one line of the file made. */
typedef struct {
    Span span; /* line 0: what has no line, such as optimiser state */
    int64_t bytes;
} LineBytes;

/* The lines alive at the peak of PROGRAM, most bytes first; returns how many. */
int lines_at_peak(const Plan *plan, const Program *program, LineBytes **line);
/* The program that sets the size of the arena. */
const Program *largest_program(const Plan *plan);
/* With `ranks`, on a device: pinned memory of the host through which gradients go from one process to the
 * others, where they do not go by NCCL; 0: none. */
int64_t exchange_bytes(const Plan *plan);
/* Returns about the bytes that `train --tensorboard` takes to predict pictures; 0: none. */
int64_t picture_bytes(const Plan *plan);
/* Returns the step of PROGRAM at which most bytes are alive: "conv of `enc1.0`". */
const char *peak_text(const Plan *plan, const Program *program);
/* The text of a line of the source, without the blanks around it. */
const char *source_line(const Plan *plan, int line);

/* Writes the report of PLAN, with the answer to ASKED. */
void report_text(const Plan *plan, const Comparison *comparison, const FitQuestion *asked, Text *out);
void report_json(const Plan *plan, Text *out);  /* unetc-plan/1 */
void report_csv(const Plan *plan, Text *out);   /* id,lower,upper,size,offset of the largest program */
void report_html(const Plan *plan, Text *out);  /* a page with a map of the arena */
void report_remat(const Plan *plan, Text *out); /* --emit=remat */

/* figures.c: what the largest program would need if no two buffers shared bytes. */
int64_t bytes_without_reuse(const Plan *plan);
/* The rows of a band, or 0: whole images. */
int64_t largest_band(const Program *program);
/* Rows of the text: how PROGRAM is computed; what only a narrower network shrinks; an eager framework. */
void how_row(const Plan *plan, const Program *program, Text *out);
void fixed_row(const Plan *plan, Text *out);
/* The bytes of the optimiser's state in 8 bits; no row, if there are none. */
void state_row(const Plan *plan, Text *out);
/* Activations that wait for the backward pass in codes; nothing without `compress`. */
void codes_row(const Plan *plan, Text *out);
/* Returns how many blocks the gradients of parameters are: the parts of the optimiser's step. */
int gradient_blocks(const Plan *plan);
/* Does the optimiser take one after the other, before all gradients are there? */
bool updates_in_parts(const Plan *plan);
void eager_rows(const Plan *plan, const Comparison *comparison, const FitQuestion *asked, Text *out);

/* check.c: what `unetc check` prints. */
void report_check(const Model *model, Text *out);
void report_check_json(const Model *model, Text *out); /* unetc-check/1 */
/* ", 1,234 of them frozen" parameters, or "". */
const char *frozen_text(const Model *model);

/* budget.c: reports U0701 or U0704 for a plan that does not fit: what it needs, at once, and what would
 * fit.
 */
void begin_over_budget(const Plan *plan, Diag *diag);
void end_over_budget(const Plan *plan, const Advice *advice, Diag *diag);
/* Warns of --bands=N where an operator ends the bands. */
void warn_of_bands(const Plan *plan, Diag *diag);

#endif
