/* command.h - the command line of unetc. */
#ifndef COMMAND_H
#define COMMAND_H

#include "base/exit_codes.h"
#include "search/fit.h"
#include "front/lower.h"
#include "ir/plan.h"
#include "unet/model.h"

typedef enum {
    COMMAND_COMPILE,
    COMMAND_CHECK,
    COMMAND_MEM,
    COMMAND_FIT,
    COMMAND_ONNX,
    COMMAND_EXPLAIN,
    COMMAND_WORDS,
    COMMAND_COMPLETION,
    COMMAND_RUNTIME,
    COMMAND_HELP,
    COMMAND_VERSION
} CommandKind;
typedef enum { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_HTML } ReportFormat;
typedef enum { EMIT_ALL, EMIT_AST, EMIT_GRAPH, EMIT_PLAN, EMIT_REMAT } EmitStage;

typedef struct {
    CommandKind kind;
    const char *file;   /* the .unet file, the code to explain, or a shell; with --diff a file or a plan, */
    const char *other;  /* and what it is compared with */
    const char *output; /* -o */
    const char *weights; /* --weights */
    const char *map;     /* --map */
    const char *folder;  /* -S */
    ReportFormat format;
    EmitStage stage;
    const char *after; /* --emit=graph:after=PASS: the name of the pass, else NULL */
    ErrorFormat error_format;
    ColorChoice color;
    bool warnings_are_errors;
    bool programs_given;
    bool diff; /* --diff */
    bool max_given;
    FitMax max;                    /* --max */
    int64_t plan[UNET_MOST_PLANS]; /* --plans: budgets, the largest first */
    int nplan;
    LowerOptions lower;
    Options options;
} Command;

/* Reads the command line; on a mistake says so and exits with 2, for --help and --version prints and exits.
 */
Command command_read(Pool *pool, int argc, char **argv);

#endif
