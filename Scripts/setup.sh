#!/bin/sh
# Installs the headers of a library, or a program, if they are missing, or prints how to install them if that needs privileges.
#
#   setup.sh [NAME PACKAGE PACKAGE-OF-FEDORA]     SQLite if nothing is said
set -eu
name="${1:-sqlite3}" package="${2:-libsqlite3-dev}" fedora="${3:-sqlite-devel}"
[ "$(uname -s)" = Linux ] || exit 0
if [ -e "/usr/include/$name.h" ] || { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$name"; } ||
    command -v "$name" >/dev/null 2>&1; then
    exit 0
fi
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then
        sudo=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo="sudo"
    else
        sudo="none"
    fi
    if [ "$sudo" != none ]; then
        echo "Installing $package …"
        if $sudo apt-get install -y -qq "$package" >/dev/null 2>&1 ||
            { $sudo apt-get update -qq && $sudo apt-get install -y -qq "$package"; } >/dev/null 2>&1; then
            exit 0
        fi
    fi
fi
echo "$name is missing. Install it: apt-get install $package (dnf install $fedora, apk add ${fedora%el})." >&2
exit 1
