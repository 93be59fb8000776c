#!/bin/sh
# private_names.sh NM OBJCOPY FROM TO: the archive TO is FROM, but names that are none of its interface begin with
# unet_private_.  A program may have a function of its own that is called `median`: without this the linker takes it for
# ours.  The decoders of TIFF that are left out keep their names, for libtiff asks for them.
set -eu
names=$(mktemp)
trap 'rm -f "$names" "$4.new"' EXIT
"$1" -g --defined-only "$3" | awk 'NF == 3 && $3 !~ /^(unet_|_|TIFFInit)/ { print $3, "unet_private_" $3 }' | sort -u >"$names"
"$2" --redefine-syms="$names" "$3" "$4.new"
mv "$4.new" "$4"
