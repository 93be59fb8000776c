/* safetensors_test.c - files of every accepted type read as numbers; a table of malformed headers, each met
 * with a message that names the file and the mistake; maps of names. */
#include "check.h"
#include "unet/safetensors.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#if !defined __has_feature
#define __has_feature(feature) 0
#endif
/* Sanitizers take memory of their own. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || __has_feature(address_sanitizer) ||     \
    __has_feature(memory_sanitizer)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

enum { MOST = 1 << 20 }; /* bytes of a header */

static char folder[64];
static char path[100], map_path[100];

/* Writes a file with HEADER, whose length field says LENGTH, and BYTES of data. */
static void write_file(const char *header, uint64_t length, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fwrite(&length, sizeof length, 1, file);
    fwrite(header, 1, strlen(header), file);
    fwrite(data, 1, bytes, file);
    fclose(file);
}

#define F32(begin, end, shape)                                                                             \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

/* All have 16 bytes of data. */
static const struct {
    const char *header, *says;
} malformed[] = {
    {"", "cut short in the header"},
    {"[1,2]", "no JSON object"},
    {"  {}", "no JSON object"},
    {"{\"a\":", "malformed header"},
    {"{} x", "malformed header"},
    {"{\"a\":" F32(0, 16, "[4]") ",\"a\":" F32(0, 16, "[4]") "}", "duplicate object key"},
    {"{\"a\":" F32(0, 8, "[2]") ",\"\\u0061\":" F32(8, 16, "[2]") "}", "duplicate object key"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"shape\":[4],\"data_offsets\":[0,16]}}",
     "duplicate object key"},
    {"{\"a\xff\":" F32(0, 16, "[4]") "}", "malformed header"},
    {"{\"a\\u0000b\":" F32(0, 16, "[4]") "}", "malformed header"},
    {"{\"a\":7}", "tensor \"a\" has an unknown type"},
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[4],\"data_offsets\":[0,16]}}",
     "tensor \"a\" has an unknown type"},
    {"{\"a\":{\"dtype\":4,\"shape\":[4],\"data_offsets\":[0,16]}}", "tensor \"a\" has an unknown type"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,16]}}", "tensor \"a\" has a malformed shape"},
    {"{\"a\":" F32(0, 16, "[-4]") "}", "tensor \"a\" has a malformed shape"},
    {"{\"a\":" F32(0, 16, "[4.0]") "}", "tensor \"a\" has a malformed shape"},
    {"{\"a\":" F32(0, 16, "[\"4\"]") "}", "tensor \"a\" has a malformed shape"},
    {"{\"a\":" F32(0, 16, "[1,1,1,1,1,1,1,1,4]") "}", "tensor \"a\" has a malformed shape"},
    {"{\"a\":" F32(0, 16, "[4294967296,4294967296]") "}", "tensor \"a\" has a malformed shape"},
    {"{\"a\":" F32(0, 16, "[99999999999999999999]") "}", "malformed header"},
    {"{\"a\":" F32(0, 16, "[4611686018427387904]") "}", "does not fit its offsets"},
    {"{\"a\":" F32(0, 16, "[5]") "}", "does not fit its offsets"},
    {"{\"a\":" F32(16, 0, "[4]") "}", "tensor \"a\" has malformed offsets"},
    {"{\"a\":" F32(-4, 12, "[4]") "}", "tensor \"a\" has malformed offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,8,16]}}",
     "tensor \"a\" has malformed offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":{\"0\":0}}}",
     "tensor \"a\" has malformed offsets"},
    {"{\"a\":" F32(0, 8, "[2]") "}", "behind its last tensor"},
    {"{}", "behind its last tensor"},
    {"{\"a\":" F32(0, 20, "[5]") "}", "tensor \"a\" lies beyond the end"},
    {"{\"a\":" F32(4, 16, "[3]") "}", "tensor \"a\" leaves a hole"},
    {"{\"a\":" F32(0, 8, "[2]") ",\"b\":" F32(12, 16, "[1]") "}", "tensor \"b\" leaves a hole"},
    {"{\"a\":" F32(0, 12, "[3]") ",\"b\":" F32(8, 16, "[2]") "}", "tensor \"b\" overlaps"},
    {"{\"a\":" F32(0, 16, "[4]") ",\"b\":" F32(0, 16, "[4]") "}", "overlaps"},
    {"{\"__metadata__\":[],\"a\":" F32(0, 16, "[4]") "}", "__metadata__"},
    {"{\"__metadata__\":{\"step\":1},\"a\":" F32(0, 16, "[4]") "}", "__metadata__"},
    {"{\"\\u001b[2J\":7}", "tensor \"?[2J\" has"},
};

static void test_malformed(void) {
    static const char data[16];
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        UnetSafetensors *file;
        UnetError error;
        const char *header = malformed[i].header;
        write_file(header, header[0] != '\0' ? strlen(header) : 100, data, sizeof data);
        CHECK_FAILS(unet_safetensors_open(&file, path, MOST, &error), error, malformed[i].says);
        CHECK(file == NULL, "%s was opened", header);
        CHECK(strstr(error.text, path) != NULL, "%s: no file is named: %s", header, error.text);
    }
}

static void test_lengths(void) {
    static const struct {
        uint64_t length;
        const char *says;
    } lengths[] = {{0, "impossible length"},
                   {1, "impossible length"},
                   {5, "cut short in the header"},
                   {100000001, "impossible length"},
                   {UINT64_C(0x0808000004034b50), "a file of torch.save()"},
                   {UINT64_C(0x469cfc6c0a8a0280), "weights_only=True"},
                   {0x280, "cut short in the header"},
                   {UINT64_MAX, "impossible length"}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        UnetSafetensors *file;
        UnetError error;
        write_file("{}", lengths[i].length, "", 0);
        CHECK_FAILS(unet_safetensors_open(&file, path, MOST, &error), error, lengths[i].says);
        const bool of_torch = strstr(error.text, "torch") != NULL;
        CHECK(!of_torch || strstr(strstr(error.text, "torch.load(\""), path) != NULL,
              "no file is named: %s", error.text);
    }
    UnetSafetensors *file;
    UnetError error;
    write_bytes(path, "\2\0\0\0", 4);
    CHECK_FAILS(unet_safetensors_open(&file, path, MOST, &error), error, "too short");
    CHECK_FAILS(unet_safetensors_open(&file, folder, MOST, &error), error, "not a regular file");
    CHECK_FAILS(unet_safetensors_open(&file, "/nowhere/w", MOST, &error), error,
                "/nowhere/w: cannot read: No such file");
}

/* A header says how much memory it will take before it is read. */
static void test_long_header(void) {
    UnetSafetensors *file;
    UnetError error;
    write_file("{}", 87000000, "", 0);
    CHECK(truncate(path, 87000008) == 0, "no file of 87 MB");
    CHECK_FAILS(unet_safetensors_open(&file, path, 5000000, &error), error,
                "its header has 87000000 bytes, and that of a file for this model has 5000000 at most");
}

/* So many tensors without a number in them as a header has room for, in so much memory. */
static void test_empty_tensors(void) {
    enum { LENGTH = 4 << 20, KIBIBYTES = 100 * 1024 };
    UnetSafetensors *file = NULL;
    UnetError error;
    struct rusage before, after;
    char *header = malloc(LENGTH + 1);
    size_t used = 1;
    header[0] = '{';
    for (int i = 0; used + 80 < LENGTH; i++) {
        used += (size_t)snprintf(header + used, LENGTH - used, "%s\"%x\":" F32(0, 0, "[0]"),
                                 i > 0 ? "," : "", i);
    }
    memset(header + used, ' ', LENGTH - used);
    header[used] = '}';
    header[LENGTH] = '\0';
    write_file(header, LENGTH, "", 0);
    free(header);
    CHECK(getrusage(RUSAGE_SELF, &before) == 0, "no measure");
    CHECK_OK(unet_safetensors_open(&file, path, LENGTH, &error), error);
    CHECK(getrusage(RUSAGE_SELF, &after) == 0, "no measure");
    CHECK(after.ru_maxrss - before.ru_maxrss < KIBIBYTES || IS_SANITIZED, "a header of 4 MiB takes %ld KiB",
          after.ru_maxrss - before.ru_maxrss);
    unet_safetensors_close(file);
}

/* Deep nesting must not exhaust the stack. */
static void test_depth(void) {
    enum { DEPTH = 100000 };
    char *header = malloc(DEPTH + 6);
    memcpy(header, "{\"a\":", 5);
    memset(header + 5, '[', DEPTH);
    header[DEPTH + 5] = '\0';
    UnetSafetensors *file;
    UnetError error;
    write_file(header, strlen(header), "", 0);
    CHECK_FAILS(unet_safetensors_open(&file, path, MOST, &error), error, "malformed header");
    free(header);
}

static void test_types(void) {
    static const unsigned char data[] = {
        0,    0,    0xc0, 0x3f, 0,    0,    0x80, 0xff, /* F32: 1.5, -infinity */
        0,    0,    0,    0,    0,    0,    0xf8, 0x3f, /* F64: 1.5 */
        0x00, 0x3e, 0x01, 0x00, 0xff, 0xfb, 0x00, 0x7c, /* F16: 1.5, 2^-24, -65504, infinity */
        0xc0, 0x3f, 0x80, 0xbf,                         /* BF16: 1.5, -1 */
        7,    0,    0,    0,    0,    0,    0,    0,    /* I64: 7 */
    };
    static const double expected[4][4] = {
        {1.5, -INFINITY}, {1.5}, {1.5, 0x1p-24, -65504, INFINITY}, {1.5, -1}};
    static const char *const name[] = {"a", "b", "c", "d"};
    static const char header[] =
        "{\"d\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[24,28]},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"extra\":[{}]},"
        "\"c\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[16,24]},"
        "\"none\":{\"dtype\":\"F16\",\"shape\":[2,0],\"data_offsets\":[36,36]},"
        "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[28,36]},"
        "\"b\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[8,16]}}   ";
    write_file(header, strlen(header), data, sizeof data);
    UnetSafetensors *file;
    UnetError error;
    CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
    if (file == NULL) {
        return;
    }
    CHECK(unet_safetensors_count(file) == 6, "%d tensors", unet_safetensors_count(file));
    CHECK(unet_safetensors_find(file, "A") == -1, "a tensor that is not there");
    for (int i = 0; i < 4; i++) {
        int32_t index = unet_safetensors_find(file, name[i]);
        CHECK(index == i, "%s is number %d", name[i], index);
        double wide[4] = {0};
        float single[4] = {0};
        CHECK_OK(unet_safetensors_read(file, index, UNET_F64, wide, &error), error);
        CHECK_OK(unet_safetensors_read(file, index, UNET_F32, single, &error), error);
        for (int k = 0; k < 4; k++) {
            CHECK(wide[k] == expected[i][k], "%s[%d] is %g", name[i], k, wide[k]);
            CHECK(single[k] == (float)expected[i][k], "%s[%d] is %g", name[i], k, (double)single[k]);
        }
    }
    double none;
    CHECK_OK(unet_safetensors_read(file, unet_safetensors_find(file, "none"), UNET_F64, &none, &error),
             error);
    CHECK_FAILS(unet_safetensors_read(file, unet_safetensors_find(file, "n"), UNET_F64, &none, &error),
                error, "tensor \"n\" does not hold real numbers");
    unet_safetensors_close(file);
}

/* ---- other names ---- */

static void write_map(const char *text) {
    write_bytes(map_path, text, strlen(text));
}

/* A file with the tensors "a.w", "b.w", "fc.w", "x.bn._mean". */
static UnetSafetensors *open_named(void) {
    static const char data[16];
    static const char header[] = "{\"a.w\":" F32(0, 4, "[1]") ",\"b.w\":" F32(4, 8, "[1]") ",\"fc.w\":" F32(
        8, 12, "[1]") ",\"x.bn._mean\":" F32(12, 16, "[1]") "}";
    UnetSafetensors *file;
    UnetError error;
    write_file(header, strlen(header), data, sizeof data);
    CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
    return file;
}

static const struct {
    const char *map;
    const char *names[5]; /* by name */
} maps[] = {
    {"", {"a.w", "b.w", "fc.w", "x.bn._mean"}},
    {"# all of it\n* -> encoder.*", {"encoder.a.w", "encoder.b.w", "encoder.fc.w", "encoder.x.bn._mean"}},
    {"fc.* ->  # a classifier\r\n\n *._mean -> *.running_mean\n", {"a.w", "b.w", "x.bn.running_mean"}},
    {"a.w -> b.w\nb.w -> a.w\n", {"a.w", "b.w", "fc.w", "x.bn._mean"}},
    {"*.*.* -> **-*", {"a.w", "b.w", "fc.w", "xbn-_mean"}},
    {"*.w -> *.weight\na* -> never", {"a.weight", "b.weight", "fc.weight", "x.bn._mean"}},
    {"* ->", {NULL}},
};

static void test_maps(void) {
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        UnetSafetensors *file = open_named();
        UnetError error;
        int32_t count = 0;
        write_map(maps[i].map);
        CHECK_OK(unet_safetensors_rename(file, map_path, &error), error);
        for (; maps[i].names[count] != NULL; count++) {
            CHECK(unet_safetensors_find(file, maps[i].names[count]) == count, "%s: %s is not there",
                  maps[i].map, maps[i].names[count]);
        }
        CHECK(unet_safetensors_count(file) == count, "%s: %d tensors", maps[i].map,
              unet_safetensors_count(file));
        unet_safetensors_close(file);
    }
}

/* Values go with their names. */
static void test_swap(void) {
    static const float data[] = {1, 2};
    static const char header[] = "{\"a\":" F32(0, 4, "[1]") ",\"b\":" F32(4, 8, "[1]") "}";
    UnetSafetensors *file;
    UnetError error;
    float value = 0;
    write_file(header, strlen(header), data, sizeof data);
    write_map("a -> b\nb -> a");
    CHECK_OK(unet_safetensors_open(&file, path, MOST, &error), error);
    CHECK_OK(unet_safetensors_rename(file, map_path, &error), error);
    CHECK_OK(unet_safetensors_read(file, unet_safetensors_find(file, "a"), UNET_F32, &value, &error),
             error);
    CHECK(value == 2, "a is %g", (double)value);
    unet_safetensors_close(file);
}

static const struct {
    const char *map, *says;
} bad_maps[] = {
    {"\nencoder", "map:2: write `NAME IN THE FILE -> NAME IN THE MODEL`"},
    {"-> a", "map:1: no name stands in front"},
    {"a -> *", "map:1: more stars behind"},
    {"********* -> a", "map:1: more than 8 stars"},
    {"*.w -> w", "gives two tensors of"},
};

static void test_bad_maps(void) {
    UnetError error;
    for (size_t i = 0; i < sizeof bad_maps / sizeof *bad_maps; i++) {
        UnetSafetensors *file = open_named();
        write_map(bad_maps[i].map);
        CHECK_FAILS(unet_safetensors_rename(file, map_path, &error), error, bad_maps[i].says);
        unet_safetensors_close(file);
    }
    UnetSafetensors *file = open_named();
    char name[620];
    memset(name, 'n', sizeof name);
    memcpy(name, "a.w -> ", 7);
    name[sizeof name - 1] = '\0';
    write_map(name);
    CHECK_FAILS(unet_safetensors_rename(file, map_path, &error), error, "map:1: makes a name of more");
    unet_safetensors_close(file);
    file = open_named();
    write_bytes(map_path, "a\0b", 3);
    CHECK_FAILS(unet_safetensors_rename(file, map_path, &error), error, "no map of names");
    CHECK_FAILS(unet_safetensors_rename(file, "/nowhere/map", &error), error, "/nowhere/map: cannot read");
    unet_safetensors_close(file);
}

int main(void) {
    make_folder(folder);
    snprintf(map_path, sizeof map_path, "%s/map", folder);
    snprintf(path, sizeof path, "%s/w.safetensors", folder);
    test_malformed();
    test_lengths();
    test_long_header();
    test_empty_tensors();
    test_depth();
    test_types();
    test_maps();
    test_swap();
    test_bad_maps();
    remove_folder(folder);
    return check_result();
}
