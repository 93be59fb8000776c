/* check.h - assertions of the unit tests: a failed one says where and goes on, main returns check_result().
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/status.h"

static int check_failures;

__attribute__((format(printf, 4, 5))) static inline void check_that(bool good, const char *file, int line,
                                                                    const char *format, ...) {
    if (good) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    check_failures++;
}

/* CHECK(condition, "the mistake of %d", i) */
#define CHECK(condition, ...) check_that((condition), __FILE__, __LINE__, __VA_ARGS__)

/* CHECK_OK(call(..., &error), error) */
#define CHECK_OK(status, error) CHECK((status) == UNET_OK, "%s", (error).text)

/* The call fails with UNET_IO and a message that contains TEXT. */
#define CHECK_FAILS(call, error, expected)                                                                 \
    do {                                                                                                   \
        (error).text[0] = '\0';                                                                            \
        CHECK((call) == UNET_IO, "should have failed: %s", (expected));                                    \
        CHECK(strstr((error).text, (expected)) != NULL, "the message \"%s\" does not say \"%s\"",          \
              (error).text, (expected));                                                                   \
    } while (0)

static inline int check_result(void) {
    if (check_failures > 0) {
        fprintf(stderr, "%d checks failed\n", check_failures);
    }
    return check_failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A new folder for the files of a test; the caller removes it with remove_folder. */
static inline const char *make_folder(char name[64]) {
    strcpy(name, "/tmp/unet_test.XXXXXX");
    if (mkdtemp(name) == NULL) {
        perror("mkdtemp");
        exit(EXIT_FAILURE);
    }
    return name;
}

static inline void remove_folder(const char *name) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", name);
    if (system(command) != 0) {
        fprintf(stderr, "%s stays\n", name);
    }
}

static inline void write_bytes(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* The caller frees the bytes. */
static inline unsigned char *read_bytes(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0) {
        rewind(file);
        bytes = malloc((size_t)length + 1);
    }
    if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    *count = (size_t)length;
    return bytes;
}

#endif
