/* run_folder.c - the folder of a training run: it belongs to one run, and to one process at a time.
 *
 *     train.lock    there while a process trains; whoever dies loses the lock, and the file is used again
 *     train.data    the folder of data, see run_data.c
 *
 * A new run takes no folder that holds another one, unless `--overwrite` says so; then checkpoint and
 * weights of that run are set aside, last and best. The next run removes files that a killed run left
 * behind: only files that have names of ours.
 */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *run_folder(const Driver *driver) {
    return driver->options.out != NULL ? driver->options.out : ".";
}

static UnetStatus path_in(const char *folder, const char *name, char path[UNET_PATH_BYTES],
                          UnetError *error) {
    int n = snprintf(path, UNET_PATH_BYTES, "%s/%s", folder, name);
    if (n < 0 || n >= UNET_PATH_BYTES)
        return unet_fail(error, UNET_IO, "%s: the name of the folder is too long", folder);
    return UNET_OK;
}

UnetStatus run_folder_make(const char *path, UnetError *error) {
    char part[UNET_PATH_BYTES];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return unet_fail(error, UNET_IO, "%s: the name of the folder is too long", path);
    for (size_t i = 1; i <= length; i++)
        if (path[i] == '/' || path[i] == 0) {
            memcpy(part, path, i);
            part[i] = 0;
            if (mkdir(part, 0777) != 0 && errno != EEXIST)
                return unet_fail(error, UNET_IO, "%s: the folder cannot be created: %s", part,
                                 strerror(errno));
        }
    return UNET_OK;
}

/* ---- the lock --------------------------------------------------------------------------------- */

static UnetStatus fail_locked(int fd, const char *folder, UnetError *error) {
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK && holder.l_pid > 0)
        return unet_fail(
            error, UNET_IO,
            "%s: process %ld is training there; wait for it, or name another folder by `--out`", folder,
            (long)holder.l_pid);
    return unet_fail(
        error, UNET_IO,
        "%s: another process is training there; wait for it, or name another folder by `--out`", folder);
}

/* Whether the lock file is still the one that has that name: whoever was done may have taken it away. */
static bool is_named(int fd, const char *path) {
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

static UnetStatus take_lock(RunFolder *run, const char *folder, UnetError *error) {
    UnetStatus status = path_in(folder, "train.lock", run->lock_path, error);
    while (status == UNET_OK && run->lock < 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        run->lock = open(run->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (run->lock < 0)
            return unet_fail(error, UNET_IO, "%s: %s", run->lock_path, strerror(errno));
        if (fcntl(run->lock, F_SETLK, &whole) == 0) {
            if (is_named(run->lock, run->lock_path))
                return UNET_OK;
        } else if (errno == EACCES || errno == EAGAIN) {
            status = fail_locked(run->lock, folder, error);
        } else {
            (void)fprintf(stderr,
                          "note: %s cannot be locked (%s): see that no other process trains there\n",
                          folder, strerror(errno));
            return UNET_OK;
        }
        (void)close(run->lock);
        run->lock = -1;
    }
    return status;
}

void run_folder_leave(RunFolder *run) {
    free(run->left);
    run->left = NULL;
    run->nleft = 0;
    if (run->lock < 0)
        return;
    (void)unlink(run->lock_path);
    (void)close(run->lock);
    run->lock = -1;
}

void run_folder_forget(const RunFolder *run, const Driver *driver) {
    char path[UNET_PATH_BYTES];
    if (!run->begun)
        return;
    if (run_path(driver, "checkpoint.", path, NULL) == UNET_OK)
        (void)unlink(path);
    static const char *const file[] = {"log.csv", "train.data", "report.html"};
    for (int i = 0; i < 3; i++)
        if (path_in(run_folder(driver), file[i], path, NULL) == UNET_OK)
            (void)unlink(path);
}

/* ---- names of ours ---------------------------------------------------------------------------- */

/* The text behind PREFIX in TEXT; NULL: TEXT does not begin so, or is NULL. */
static const char *behind(const char *text, const char *prefix) {
    const size_t length = strlen(prefix);
    return text != NULL && strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Behind "step-00001000." in TEXT, and *STEP; NULL: something else stands there. */
static const char *behind_step(const char *text, int64_t *step) {
    const char *digits = behind(text, "step-");
    char *end;
    if (digits == NULL || strspn(digits, "0123456789") < 8)
        return NULL;
    errno = 0;
    *step = strtoll(digits, &end, 10);
    return errno == 0 ? behind(end, ".") : NULL;
}

/* Is FILE a part of a file of model NAME that was never finished? */
static bool is_part(const char *file, const char *name) {
    static const char *const kind[] = {"checkpoint.", "best.", ""};
    const char *suffix = behind(behind(file, name), "."), *rest = NULL;
    int64_t step;
    if (suffix != NULL)
        rest = behind_step(suffix, &step);
    for (int i = 0; i < 3 && rest == NULL; i++)
        rest = behind(suffix, kind[i]);
    rest = behind(behind(rest, "safetensors"), ".");
    if (rest != NULL && strspn(rest, "0123456789abcdef") == 8 && rest[8] == '.')
        rest += 9;
    return rest != NULL && strcmp(rest, "part") == 0;
}

/* The step of FILE, a numbered checkpoint of model NAME; -1: it is none. */
static int64_t numbered_step(const char *file, const char *name) {
    int64_t step;
    const char *rest = behind_step(behind(behind(file, name), "."), &step);
    return rest != NULL && strcmp(rest, "safetensors") == 0 ? step : -1;
}

/* ---- its contents ----------------------------------------------------------------------------- */

/* Whether FILE is what a run of model NAME leaves; the log is any model's. */
static bool is_of_a_run(const char *file, const char *name) {
    const char *suffix = behind(behind(file, name), ".");
    return strcmp(file, "log.csv") == 0 || numbered_step(file, name) >= 0 ||
           (suffix != NULL &&
            (strcmp(suffix, "safetensors") == 0 || strcmp(suffix, "best.safetensors") == 0 ||
             strcmp(suffix, "checkpoint.safetensors") == 0));
}

static bool is_checkpoint(const char *file) {
    static const char ending[] = ".checkpoint.safetensors", aside[] = ".previous.checkpoint.safetensors";
    const size_t end = sizeof ending - 1, long_end = sizeof aside - 1, length = strlen(file);
    return length > end && length < UNET_PATH_BYTES && strcmp(file + length - end, ending) == 0 &&
           (length < long_end || strcmp(file + length - long_end, aside) != 0);
}

/* The first of several by name, whatever the order in which the folder lists them. */
bool run_folder_other(const char *folder, char name[UNET_PATH_BYTES]) {
    bool found = false;
    DIR *open = opendir(folder);
    for (const struct dirent *file; open != NULL && (file = readdir(open)) != NULL;) {
        if (!is_checkpoint(file->d_name) || (found && strcmp(name, file->d_name) <= 0))
            continue;
        memcpy(name, file->d_name, strlen(file->d_name) + 1);
        found = true;
    }
    if (open != NULL)
        (void)closedir(open);
    return found;
}

/* The name of the file that is resumed from, if it lies in FOLDER; or NULL. */
static const char *resumed_in(const Driver *driver, const char *folder) {
    const char *file = driver->options.resume_file, *slash = file != NULL ? strrchr(file, '/') : NULL;
    char from[UNET_PATH_BYTES];
    struct stat there, here;
    if (file == NULL)
        return NULL;
    int n = slash != NULL ? snprintf(from, sizeof from, "%.*s/", (int)(slash - file), file)
                          : snprintf(from, sizeof from, ".");
    const bool same = n > 0 && (size_t)n < sizeof from && stat(from, &there) == 0 &&
                      stat(folder, &here) == 0 && there.st_dev == here.st_dev &&
                      there.st_ino == here.st_ino;
    return !same ? NULL : slash != NULL ? slash + 1 : file;
}

/* Whether `--resume` goes on with the run that FOLDER holds: from its checkpoint, or from a numbered one.
 */
static bool continues(const Driver *driver, const char *folder) {
    const char *name = driver->model->name;
    if (driver->options.resume_file == NULL)
        return driver->options.resume;
    const char *base = resumed_in(driver, folder),
               *suffix = base != NULL ? behind(behind(base, name), ".") : NULL;
    return suffix != NULL &&
           (strcmp(suffix, "checkpoint.safetensors") == 0 || numbered_step(base, name) >= 0);
}

/* Files that `--overwrite` sets aside take the place of files that were set aside before. */
static UnetStatus refuse_what_goes(const Driver *driver, const char *folder, UnetError *error) {
    const char *base = resumed_in(driver, folder), *suffix = behind(behind(base, driver->model->name), ".");
    if (suffix == NULL || strncmp(suffix, "previous.", 9) != 0)
        return UNET_OK;
    return unet_fail(
        error, UNET_USAGE,
        "`--overwrite` would put the checkpoint of the present run in the place of %s: move that file "
        "to another folder, or write to another with `--out=DIR`",
        driver->options.resume_file);
}

static UnetStatus refuse_another_run(const Driver *driver, const char *folder, UnetError *error) {
    UnetStatus status = UNET_OK;
    DIR *open = opendir(folder);
    if (open == NULL)
        return unet_fail(error, UNET_IO, "%s: %s", folder, strerror(errno));
    for (const struct dirent *file; status == UNET_OK && (file = readdir(open)) != NULL;)
        if (is_of_a_run(file->d_name, driver->model->name))
            status =
                unet_fail(error, UNET_USAGE,
                          "%s holds a run (%s): `--resume` goes on with it, `--overwrite` begins anew in "
                          "its place, and `--out=DIR` names another folder",
                          folder, file->d_name);
    (void)closedir(open);
    return status;
}

/* First, so that a slip in the name is not taken for another run. */
static UnetStatus find_resumed(const Driver *driver, UnetError *error) {
    const char *file = driver->options.resume_file;
    return file == NULL || access(file, R_OK) == 0
               ? UNET_OK
               : unet_fail(error, UNET_IO, "%s: cannot read: %s", file, strerror(errno));
}

UnetStatus run_folder_take(RunFolder *run, Driver *driver) {
    UnetError *error = &driver->error;
    const char *folder = run_folder(driver);
    UnetStatus status = find_resumed(driver, error);
    if (status == UNET_OK)
        status = run_folder_make(folder, error);
    if (status == UNET_OK)
        status = take_lock(run, folder, error);
    run->is_new = !continues(driver, folder);
    if (status == UNET_OK && run->is_new && !driver->options.overwrite)
        status = refuse_another_run(driver, folder, error);
    if (status == UNET_OK && run->is_new)
        status = refuse_what_goes(driver, folder, error);
    return status;
}

/* ---- files in the way ------------------------------------------------------------------------- */

/* REPLACES: if there is no such file, a file that was set aside before belongs to an earlier run. */
static UnetStatus set_aside(Driver *driver, const char *suffix, const char *previous, bool replaces) {
    char from[UNET_PATH_BYTES], to[UNET_PATH_BYTES];
    UnetStatus status = run_path(driver, suffix, from, &driver->error);
    if (status == UNET_OK)
        status = run_path(driver, previous, to, &driver->error);
    if (status != UNET_OK)
        return status;
    if (access(from, F_OK) != 0) {
        if (replaces)
            (void)unlink(to);
        return UNET_OK;
    }
    if (rename(from, to) != 0)
        return unet_fail(&driver->error, UNET_IO, "%s: %s", to, strerror(errno));
    (void)fprintf(stderr, "note: %s of an earlier run is now %s\n", from, to);
    return UNET_OK;
}

/* Takes away parts, and of another run the numbered checkpoints.  Returns how many of these are left up to
 * step LAST, and the first one's step in *OLDEST. */
static int32_t sweep(DIR *folder, const char *name, bool all, int64_t last, int64_t *oldest) {
    int32_t count = 0;
    *oldest = INT64_MAX;
    rewinddir(folder);
    for (const struct dirent *file; (file = readdir(folder)) != NULL;) {
        const int64_t step = numbered_step(file->d_name, name);
        if (is_part(file->d_name, name) || (all && step >= 0)) {
            (void)unlinkat(dirfd(folder), file->d_name, 0);
        } else if (step >= 0 && step <= last) {
            count++;
            *oldest = step < *oldest ? step : *oldest;
        }
    }
    return count;
}

static int by_step(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the COUNT numbered checkpoints up to step LAST, which saves with other steps between them do not
 * replace. */
static void list_left(RunFolder *run, DIR *folder, const char *name, int64_t last, int32_t count) {
    run->left = count > 0 ? calloc((size_t)count, sizeof *run->left) : NULL;
    rewinddir(folder);
    for (const struct dirent *file; run->left != NULL && (file = readdir(folder)) != NULL;) {
        const int64_t step = numbered_step(file->d_name, name);
        if (step >= 0 && step <= last && run->nleft < count)
            run->left[run->nleft++] = step;
    }
    if (run->left != NULL)
        qsort(run->left, (size_t)run->nleft, sizeof *run->left, by_step);
}

void run_folder_added(RunFolder *run, const Driver *driver, int64_t step, int32_t keep) {
    run->made += run->made == 0 || run->newest != step;
    run->newest = step;
    for (; run->gone < run->nleft && run->made + run->nleft - run->gone > keep; run->gone++)
        (void)run_forget_checkpoint(driver, run->left[run->gone]);
}

UnetStatus run_folder_clear(RunFolder *run, Driver *driver, int64_t last, int32_t keep) {
    UnetStatus status = UNET_OK;
    int64_t oldest;
    DIR *open = opendir(run_folder(driver));
    if (open == NULL)
        return unet_fail(&driver->error, UNET_IO, "%s: %s", run_folder(driver), strerror(errno));
    int32_t count = 0;
    for (bool more = true; more;)
        more = (count = sweep(open, driver->model->name, run->is_new, last, &oldest)) > keep &&
               run_forget_checkpoint(driver, oldest);
    list_left(run, open, driver->model->name, last, count);
    if (run->is_new) /* it shows another run */
        (void)unlinkat(dirfd(open), "report.html", 0);
    (void)closedir(open);
    /* The checkpoint goes first: where there is none, whoever set it aside was stopped before it had one of
     * its own, and what was set aside then is all that there is of that run. */
    static const char *const kept[][2] = {
        {"checkpoint.", "previous.checkpoint."}, {"best.", "previous.best."}, {"", "previous."}};
    char checkpoint[UNET_PATH_BYTES];
    status = run_path(driver, "checkpoint.", checkpoint, &driver->error);
    const bool replaces = status == UNET_OK && access(checkpoint, F_OK) == 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && status == UNET_OK && run->is_new; i++)
        status = set_aside(driver, kept[i][0], kept[i][1], replaces);
    return status;
}
