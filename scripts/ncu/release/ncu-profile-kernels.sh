#!/usr/bin/env bash
# One ncu capture a kernel: the old command line over `profline kernels profile`.
#
#   ncu-profile-kernels.sh (--kernel-config FILE | --kernel-regex RE) [OPTIONS] -- PROGRAM [ARGUMENTS]
#
#   --output-dir DIR              where captures go               [tmp/ncu-profile/TIME beside scripts/]
#   --topk K                      only the first K of --kernel-config
#   --extra-sections A B ...      sections of ncu to add
#   --num-kernel-call-skip N      launches of a kernel to skip    [1]
#   --num-kernel-call-profile M   launches of a kernel to profile [1]
#   --ncu-config FILE             what ncu is told                [the four sections of ncu.default, no counters]
#   --force-overwrite             do finished kernels again
#
# Defaults mirror the preset ncu.default; no preset is read unless --ncu-config names one. All other options of
# `profline kernels profile` are taken too. Exit code: 0; 1 some kernel failed; 2 wrong use; 3 a tool is missing.
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
# An option that is given twice counts as given last: these are defaults.
exec "$profline" kernels profile --no-roofline --num-kernel-call-skip 1 \
  --output-dir "$root/tmp/ncu-profile/$(date +%Y%m%d-%H%M%S)" "$@"
