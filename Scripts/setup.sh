#!/bin/sh
# Installs SQLite's headers if they are missing, or prints how to install them if that needs privileges.
set -eu
[ "$(uname -s)" = Linux ] || exit 0
if [ -e /usr/include/sqlite3.h ] || { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists sqlite3; }; then
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
        echo "Installing libsqlite3-dev …"
        if $sudo apt-get install -y -qq libsqlite3-dev >/dev/null 2>&1 ||
            { $sudo apt-get update -qq && $sudo apt-get install -y -qq libsqlite3-dev; } >/dev/null 2>&1; then
            exit 0
        fi
    fi
fi
echo "SQLite's headers are missing. Install them: apt-get install libsqlite3-dev (dnf install sqlite-devel, apk add sqlite-dev)." >&2
exit 1
