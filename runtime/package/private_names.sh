#!/bin/sh
# private_names.sh NM OBJCOPY FROM TO [OTHER]: the archive TO is FROM, but names that are none of its interface begin with
# unet_private_.  Private names of the archive OTHER, which FROM calls, begin with it, too.  A program may have a function of its
# own that is called `median`: without this the linker takes it for ours.  Two kinds of functions keep their names: the decoders
# of TIFF that are left out, for libtiff asks for them, and the functions that replace OpenMP's, for kernels ask for these.
set -eu
names=$(mktemp)
trap 'rm -f "$names" "$4.new"' EXIT
"$1" -g --defined-only "$3" ${5:+"$5"} | awk 'NF == 3 && $3 !~ /^(unet_|_|TIFFInit|omp_)/ { print $3, "unet_private_" $3 }' | sort -u >"$names"
"$2" --redefine-syms="$names" "$3" "$4.new"
mv "$4.new" "$4"
