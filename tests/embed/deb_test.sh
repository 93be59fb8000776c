#!/usr/bin/env bash
# deb_test.sh BUILD - the Debian package that cpack makes: it asks for what unetc calls and links, dpkg would install it
# here, and what is in it works in another folder.  Skipped without dpkg-deb.
set -eu
build=$1
command -v dpkg-deb >/dev/null || { echo "SKIPPED: no dpkg-deb"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset UNETC_RUNTIME

cpack --config "$build/CPackConfig.cmake" -B made >cpack.txt 2>&1 || { cat cpack.txt; exit 1; }
package=$(echo made/unetc_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for needed in gcc libc6-dev libpng-dev zlib1g-dev libjansson-dev; do
    case ", $depends," in *", $needed,"*) ;; *) echo "Depends lacks $needed: $depends"; exit 1 ;; esac
done
# of each library that programs link, where there is a package of that name
for library in $(grep -o -e '-l[a-z0-9]*' "$(dirname "$("$build/unetc" --runtime)")/lib/libraries"); do
    case $library in
    -lpng | -lz | -ljansson | -lpthread | -lm) continue ;;
    -lniftiio | -lznz) library=-lnifti ;; # parts of that package
    esac
    case $depends in *"lib${library#-l}"*-dev*) ;; *) echo "Depends lacks lib${library#-l}-dev: $depends"; exit 1 ;; esac
done
dpkg --dry-run --install "$package" >dpkg.txt 2>&1 || { cat dpkg.txt; exit 1; }
dpkg-deb -x "$package" root
root/usr/bin/unetc --version
cmp <(root/usr/bin/unetc completion bash) root/usr/share/bash-completion/completions/unetc
cmp <(root/usr/bin/unetc completion zsh) "$(ls root/usr/share/zsh/*/_unetc)"
cmp <(root/usr/bin/unetc completion fish) root/usr/share/fish/vendor_completions.d/unetc.fish
doc=root/usr/share/doc/unetc
for page in README.md examples/README.md; do
    grep -o '](\([^)#:]*\)[^)]*)' $doc/$page | sed 's/](\([^)#]*\).*/\1/' | while read -r link; do
        [ -z "$link" ] || [ -e "$doc/$(dirname $page)/$link" ] || { echo "$page leads to $link, which is not there"; exit 1; }
    done
done
for name in $(grep -o '`[a-z0-9_]*/[a-z0-9_]*\.\(unet\|py\)`' $doc/examples/README.md | tr -d '`'); do
    [ -e "$doc/examples/$name" ] || { echo "examples/README.md speaks of $name, which is not there"; exit 1; }
done
cp $doc/examples/denoise/tiny_unet.unet .
root/usr/bin/unetc --size=64x64 --programs=predict tiny_unet.unet
./tiny_unet info >info.txt && grep -q "64 x 64" info.txt || { cat info.txt; exit 1; }
