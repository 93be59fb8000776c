/* report.h - what `unetc mem` prints. */
#ifndef REPORT_H
#define REPORT_H

#include "fit.h"
#include "text.h"

/* Bytes alive at the peak of a program, summed over the buffers that one line of the file made. */
typedef struct {
    Place place; /* line 0: what has no line, such as optimiser state */
    int64_t bytes;
} LineBytes;

/* The lines alive at the peak of PROGRAM, most bytes first; returns how many. */
int lines_at_peak(const Plan *plan, const Program *program, LineBytes **line);
/* The program that sets the size of the arena. */
const Program *largest_program(const Plan *plan);
const Node *peak_node(const Program *program);
/* The text of a line of the source, without the blanks around it. */
const char *source_line(const Plan *plan, int line);

/* PLAN is the answer to QUESTION, and so may be compared with other answers. */
void report_text(const Plan *plan, const FitQuestion *question, Text *out);
void report_json(const Plan *plan, Text *out);  /* unetc-plan/1 */
void report_csv(const Plan *plan, Text *out);   /* id,lower,upper,size,offset of the largest program */
void report_html(const Plan *plan, Text *out);  /* a page with a map of the arena */
void report_graph(const Graph *g, Text *out);   /* --emit=graph */
void report_remat(const Plan *plan, Text *out); /* --emit=remat */

/* report_eager.c: bytes of activations that a framework which runs operator by operator, such as PyTorch,
 * keeps for the backward pass of MODEL (lowered, nothing more) over a batch; -1 if that is no number. */
int64_t eager_bytes(const Model *model, Type stored);

/* report_check.c: what `unetc check` prints. */
void report_check(const Model *model, Text *out);

/* report_budget.c: reports U0701 or U0702 when the plan, the answer to QUESTION, is over its budget, with
 * what would fit; returns whether it is. */
bool report_over_budget(const Plan *plan, const FitQuestion *question, Diag *diag);

#endif
