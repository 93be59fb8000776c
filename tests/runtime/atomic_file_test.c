/* atomic_file_test.c - files that appear whole or not at all: which files are replaced, which are refused,
 * and that no file under a name of ours is followed. */
#include "check.h"
#include "unet/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text) {
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s: not written", name);
}

static void expect_text(const char *name, const char *expected) {
    char text[100] = "";
    FILE *file = fopen(in_folder(name), "r");
    CHECK(file != NULL && fgets(text, sizeof text, file) != NULL, "%s: cannot be read", name);
    CHECK(strcmp(text, expected) == 0, "%s: \"%s\", not \"%s\"", name, text, expected);
    if (file != NULL) {
        fclose(file);
    }
}

static int count_files(void) {
    DIR *open = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(open);
    return count;
}

static UnetStatus replace(const char *name, UnetError *error) {
    UnetAtomicFile file;
    UnetStatus status = unet_atomic_open(&file, in_folder(name), error);
    if (status == UNET_OK) {
        status = unet_atomic_write(&file, "new", 3, error);
        if (status != UNET_OK) {
            unet_atomic_abandon(&file);
        }
    }
    return status == UNET_OK ? unet_atomic_commit(&file, error) : status;
}

/* A symbolic link stays one, and what it points at is replaced. */
static void test_links(void) {
    UnetError error;
    struct stat found;
    put("victim", "old");
    put("file", "old");
    CHECK(symlink("victim", in_folder("file.part")) == 0, "no link");
    CHECK_OK(replace("file", &error), error);
    expect_text("file", "new");
    expect_text("victim", "old");
    CHECK(symlink("file", in_folder("link")) == 0, "no link");
    put("file", "old");
    CHECK_OK(replace("link", &error), error);
    expect_text("file", "new");
    CHECK(lstat(in_folder("link"), &found) == 0 && S_ISLNK(found.st_mode), "the link was replaced");
    CHECK(symlink("nothing", in_folder("dangling")) == 0, "no link");
    CHECK_FAILS(replace("dangling", &error), error, "dangling: a symbolic link, and what it points at");
    CHECK(count_files() == 5, "%d files, not 5", count_files());
}

static void test_others(void) {
    UnetError error;
    UnetAtomicFile file;
    struct stat found;
    CHECK(mkfifo(in_folder("pipe"), 0666) == 0, "no pipe");
    CHECK_FAILS(replace("pipe", &error), error, "pipe: is no regular file");
    CHECK(lstat(in_folder("pipe"), &found) == 0 && S_ISFIFO(found.st_mode), "the pipe was replaced");
    CHECK_FAILS(replace(".", &error), error, "is no regular file");
    CHECK_FAILS(unet_atomic_open(&file, "/dev/null", &error), error, "/dev/null: is no regular file");
    CHECK_FAILS(replace("none/file", &error), error, "none/file: cannot write");
}

/* No room for a single byte: the old file stays, and nothing else. */
static void test_full_disk(void) {
    struct rlimit limit, none;
    UnetError error;
    const int before = count_files();
    put("file", "old");
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    none = limit;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0, "no limit");
    CHECK_FAILS(replace("file", &error), error, "file: cannot write: File too large");
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    expect_text("file", "old");
    CHECK(count_files() == before, "%d files, not %d", count_files(), before);
}

static void leave_part(const char *name, time_t age) {
    const struct timespec then[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    put(name, "part");
    CHECK(utimensat(AT_FDCWD, in_folder(name), then, 0) == 0, "%s: no time", name);
}

static bool is_there(const char *name) {
    return access(in_folder(name), F_OK) == 0;
}

/* Files that a killed run left go; files that are new, are held or have another name stay. */
static void test_clean(void) {
    UnetError error;
    UnetAtomicFile file;
    const int before = count_files();
    leave_part("cached.0123abcd.part", 100);
    leave_part("cached.01234567.part", 10);
    leave_part("cached.0123.part", 100);
    leave_part("others.0123abcd.part", 100);
    CHECK_OK(unet_atomic_open(&file, in_folder("cached"), &error), error);
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 100}, {.tv_sec = time(NULL) - 100}};
    CHECK(futimens(file.fd, then) == 0, "no time");
    unet_atomic_clean(in_folder("cached"));
    CHECK(count_files() == before + 4, "%d files", count_files() - before);
    CHECK(!is_there("cached.0123abcd.part") && is_there("cached.01234567.part"), "the wrong part");
    CHECK_OK(unet_atomic_commit(&file, &error), error);
    static const char *const names[] = {"cached", "cached.01234567.part", "cached.0123.part",
                                        "others.0123abcd.part"};
    for (int i = 0; i < 4; i++) {
        CHECK(unlink(in_folder(names[i])) == 0, "%s: gone", names[i]);
    }
}

int main(void) {
    make_folder(folder);
    test_clean();
    test_links();
    test_others();
    test_full_disk();
    remove_folder(folder);
    return check_result();
}
