/* exit_codes.h - the exit codes of unetc. */
#ifndef EXIT_CODES_H
#define EXIT_CODES_H

enum {
    EXIT_DONE = 0,
    EXIT_ERRORS = 1, /* in the file; `mem --diff`: B needs more than A */
    EXIT_USAGE = 2,
    EXIT_NO_FIT = 3, /* the plan needs more than the budget */
    EXIT_IO = 4,     /* files, cuDNN, memory of unetc itself */
    EXIT_TOOLS = 5,  /* a compiler failed */
    EXIT_BUG = 70
};

#endif
