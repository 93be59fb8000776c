/* read_bytes.c - reads sizes of memory as people write them: "8GiB", "8G", "8GB". */
#include "unet/command_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* No network trains in less: a number below it was meant in some unit. */
static const double least_bare_number = 131072;

/* The bytes of UNIT: "KiB" and "K" are 2^10, "KB" is 10^3; of no unit, and of "B", 1.  0: it is none. */
static double factor_of(const char *unit) {
    static const char prefixes[] = "kmgt";
    const char *prefix = *unit == '\0' ? NULL : strchr(prefixes, tolower((unsigned char)*unit));
    if (prefix == NULL)
        return *unit == '\0' || ((*unit | 32) == 'b' && unit[1] == '\0') ? 1 : 0;
    double factor = 1;
    const char *rest = unit + 1;
    const bool decimal = tolower((unsigned char)*rest) == 'b';
    for (const char *p = prefixes; p <= prefix; p++)
        factor *= decimal ? 1000 : 1024;
    if (tolower((unsigned char)*rest) == 'i')
        rest++;
    if (tolower((unsigned char)*rest) == 'b')
        rest++;
    return *rest == '\0' ? factor : 0;
}

UnetStatus unet_read_bytes(const char *name, const char *text, int64_t *bytes, UnetError *error) {
    static const char digits[] = "0123456789";
    const char *unit = text + strspn(text, digits); /* no sign, hexadecimal digits or exponent */
    const bool begins = unit > text;
    if (begins && *unit == '.')
        unit += 1 + strspn(unit + 1, digits);
    const double number = begins ? strtod(text, NULL) : 0, value = number * factor_of(unit);
    if (!(value >= 1 && value < 9.2e18))
        return unet_fail(error, UNET_USAGE,
                         "`%s=%s`: write a size such as 8GiB, 512MiB or 64KiB, or a number of bytes", name,
                         text);
    if (*unit == '\0' && value < least_bare_number) {
        return unet_fail(error, UNET_USAGE,
                         "`%s=%s`: are bytes meant?  Write %s=%sGiB, %sMiB or, for bytes, %sB", name, text,
                         name, text, text, text);
    }
    *bytes = (int64_t)value;
    return UNET_OK;
}
