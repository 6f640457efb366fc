#!/usr/bin/env bash
# One ncu capture per kernel: the old command line, implemented with `profline kernels profile`.
#
#   ncu-profile-kernels.sh (--kernel-config FILE | --kernel-regex RE) [OPTIONS] -- PROGRAM [ARGUMENTS]
#
#   --output-dir DIR              folder for the captures         [tmp/ncu-profile/TIME next to scripts/]
#   --topk K                      only the first K kernels of --kernel-config
#   --extra-sections A B ...      ncu sections to add
#   --num-kernel-call-skip N      launches to skip per kernel     [1]
#   --num-kernel-call-profile M   launches to profile per kernel  [1]
#   --ncu-config FILE             preset with ncu's options       [the four sections of ncu.default, no counters]
#   --force-overwrite             capture finished kernels again
#
# Defaults mirror the preset ncu.default; no preset is read unless --ncu-config names one. All other options of
# `profline kernels profile` are accepted too. Exit codes: 0 done; 1 a kernel failed; 2 usage error; 3 a tool is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

case ${1:-} in
  '' | -h | --help)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    [ $# -gt 0 ] && exit 0 || exit 2 ;;
esac

profline=${PROFLINE:-$root/build/bin/profline}
[ -x "$profline" ] || profline=$(command -v profline) || {
  echo '[ncu-profile] no profline: build it (make build), put it on PATH, or name it in PROFLINE' >&2
  exit 3
}
# The last value of a repeated option wins, so these are defaults.
exec "$profline" kernels profile --no-roofline --num-kernel-call-skip 1 \
  --output-dir "$root/tmp/ncu-profile/$(date +%Y%m%d-%H%M%S)" "$@"
