#!/usr/bin/env bash
# pkg_config.sh PREFIX COMPILER SOURCE PROGRAM FLAGS: builds SOURCE as a project without CMake would, and runs it.
set -euo pipefail

prefix=$1 compiler=$2 source=$3 program=$4 flags=${5:-}
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weir.pc)")
export PKG_CONFIG_PATH
read -ra package <<<"$(pkg-config --cflags --libs weir)"
read -ra extra <<<"$flags"
set -x
"$compiler" -std=c++20 "${extra[@]}" "$source" "${package[@]}" -o "$program"
"$program"
