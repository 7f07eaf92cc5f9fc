#!/usr/bin/env bash
# pkg_config.sh PREFIX PACKAGE COMPILER SOURCE PROGRAM FLAGS: builds SOURCE like a project without CMake, and runs it.
set -euo pipefail

prefix=$1 package_name=$2 compiler=$3 source=$4 program=$5 flags=${6:-}
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weir.pc)")
export PKG_CONFIG_PATH
read -ra package <<<"$(pkg-config --cflags --libs "$package_name")"
read -ra extra <<<"$flags"
set -x
"$compiler" -std=c++20 "${extra[@]}" "$source" "${package[@]}" -o "$program"
"$program"
