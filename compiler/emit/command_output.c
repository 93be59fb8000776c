/* command_output.c - asks a compiler something. */
#include "emit/build_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs the command with its output in the file OUT, and without messages. */
static bool run_into(char *const *word, const char *out) {
    posix_spawn_file_actions_t files;
    pid_t process;
    int status = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    bool started = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out,
                                                    O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0 &&
                   posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawnp(&process, word[0], &files, NULL, word, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&files);
    return started && waitpid(process, &status, 0) == process && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

const char *command_output(const Words *command, const char *scratch) {
    Pool *pool = command->pool;
    const char *out = pool_text(pool, "%s/output", scratch);
    char **word = NULL;
    int count = 0;
    for (int i = 0; i < command->count; i++)
        PUSH(pool, word, count, command->word[i]);
    PUSH(pool, word, count, NULL);
    const char *text = run_into(word, out) ? read_source(pool, out) : NULL;
    (void)unlink(out);
    return text;
}
