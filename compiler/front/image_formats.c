/* image_formats.c - whether the programs of this build can read files of the names that a source asks for.
 *
 * What a file is shows when it is read; a name that promises a format nobody here can read is found now,
 * not after the program was compiled and copied elsewhere. */
#include "front/lower_state.h"

#include "unet/image.h"
#include "unet/volume.h"

#include <string.h>

bool check_image_format(Lower *l, const char *pattern, Span span) {
    const UnetImageKind *kind = unet_image_kind_of_name(pattern);
    if (kind == NULL || (kind->is_read && kind->package == NULL))
        return true;
    if (kind->is_read) {
        diag_begin(l->diag, ERROR, "U0626", span, "this build of unetc reads no %s files", kind->name);
        diag_help(l->diag, "install %s and build unetc anew, or convert the files to %s", kind->package,
                  strcmp(kind->name, "WAV") == 0 ? "arrays of NumPy" : "PNG");
    } else {
        diag_begin(l->diag, ERROR, "U0626", span, "%s files are not read", kind->name);
        diag_note(l->diag,
                  "images are PNG, JPEG, TIFF, GIF, WebP, JPEG 2000, BMP, Netpbm or arrays of NumPy");
        diag_help(l->diag, "convert them, to TIFF if they hold floats, to PNG otherwise");
    }
    diag_end(l->diag);
    return false;
}

bool check_volume_format(Lower *l, Span span) {
    if (unet_volume_package() == NULL)
        return true;
    diag_begin(l->diag, ERROR, "U0626", span, "this build of unetc reads no NIfTI files");
    diag_help(l->diag, "install %s and build unetc anew", unet_volume_package());
    diag_end(l->diag);
    return false;
}
