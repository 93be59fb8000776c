/* unfinished_test.c - what a contributor reads whose patch lacks a file: not that the compiler has a bug.
 */
#include "base/diag.h"
#include "base/exit_codes.h"
#include "emit/template.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int channel[2];
    if (pipe(channel) != 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(channel[1], STDERR_FILENO);
        (void)template_text("cpu/hard_shrink.c");
        _exit(0);
    }
    (void)close(channel[1]);
    FILE *said = fdopen(channel[0], "r");
    char text[1000];
    const size_t length = said == NULL ? 0 : fread(text, 1, sizeof text - 1, said);
    text[length] = '\0';
    if (said != NULL)
        (void)fclose(said);
    int status;
    const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
    const bool names =
        strstr(text, "there is no templates/cpu/hard_shrink.c\ncompiler/CHANGING.md") != NULL;
    if (!ended || WEXITSTATUS(status) != EXIT_BUG || !names || strstr(text, "bug") != NULL) {
        printf("FAILED: %s", text);
        return 1;
    }
    if (!has_template("cpu/conv.c") || has_template("cpu/hard_shrink.c")) {
        puts("FAILED: has_template()");
        return 1;
    }
    return 0;
}
