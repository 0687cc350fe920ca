#!/bin/sh
# Builds the command in release, without a need of the toolchain where the toolchain can, and copies it below a folder.
#
#     install.sh PREFIX
set -eu
prefix=$1
swift=${SWIFT:-swift}
tools=$(dirname "$0")
build="--package-path $tools --scratch-path $tools/.build/install -c release"
static=
[ "$(uname)" = Darwin ] || static="--static-swift-stdlib -Xlinker -s"
# Both words are lists of arguments.
# shellcheck disable=SC2086
$swift build $build $static --product vellum
# shellcheck disable=SC2086
vellum=$($swift build $build $static --show-bin-path)/vellum

mkdir -p "$prefix/bin" "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
install -m 755 "$vellum" "$prefix/bin/vellum"
"$vellum" --generate-completion-script bash >"$prefix/share/bash-completion/completions/vellum"
"$vellum" --generate-completion-script zsh >"$prefix/share/zsh/site-functions/_vellum"
"$vellum" --generate-completion-script fish >"$prefix/share/fish/vendor_completions.d/vellum.fish"
echo "Installed $prefix/bin/vellum, and completions below $prefix/share"
