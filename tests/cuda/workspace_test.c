/* workspace_test.c - the workspace that is planned for an engine covers what a device asked for: the rows
 * of a file that was written on one.
 *
 *   workspace_test FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/cuda/convolution.h"

enum { MULTIPROCESSORS = 132, LINE = 256 };

typedef struct {
    UnetConvolution c;
    UnetEngine engine; /* without a workspace, as cuDNN mostly says without a device */
    int64_t asked;
} Row;

static UnetConvolutionKind kind_of(const char *word) {
    return strcmp(word, "y") == 0    ? UNET_FORWARD
           : strcmp(word, "dx") == 0 ? UNET_BACKWARD_DATA
                                     : UNET_BACKWARD_FILTER;
}

/* False: the line is no row. */
static bool read_row(const char *line, Row *row) {
    char kind[8];
    long n[9], type, value;
    int used = 0;
    if (sscanf(line, "%7s %ld %ld %ld %ld %ld %ld %ld %ld %ld%n", kind, &n[0], &n[1], &n[2], &n[3], &n[4],
               &n[5], &n[6], &n[7], &n[8], &used) != 10)
        return false;
    const int64_t stride = n[6];
    *row = (Row){.c = {.kind = kind_of(kind),
                       .axes = 2,
                       .batch = n[0],
                       .in_channels = n[3],
                       .out_channels = n[4],
                       .in = {1, n[1], n[2]},
                       .out = {1, n[1] / stride, n[2] / stride},
                       .kernel = {1, n[5], n[5]}},
                 .engine = {.engine = n[7]},
                 .asked = n[8]};
    for (line += used; sscanf(line, " %ld:%ld%n", &type, &value, &used) == 2; line += used) {
        row->engine.knob[row->engine.nknob].type = type;
        row->engine.knob[row->engine.nknob++].value = value;
    }
    return true;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    char line[LINE];
    int rows = 0, short_of = 0;
    if (file == NULL) {
        fprintf(stderr, "usage: workspace_test FILE\n");
        return 2;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        Row row;
        if (line[0] == '#' || !read_row(line, &row))
            continue;
        rows++;
        const int64_t planned = unet_cudnn_workspace(&row.c, &row.engine, MULTIPROCESSORS);
        if (planned < row.asked && row.asked > 256) { /* all workspaces are rounded up to 256 */
            printf("%lld bytes planned for %s", (long long)planned, line);
            short_of++;
        }
    }
    (void)fclose(file);
    printf("%d rows, %d with too little\n", rows, short_of);
    return rows == 0 || short_of > 0;
}
