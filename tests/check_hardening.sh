#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails if the release build lacks a protection against memory errors that its compiler offers, or if the running server has not
# restricted itself: it must not be able to gain privileges, nor be dumped. First builds the program with the release preset.
cd "$(dirname "$0")/.." || exit 1
program=build/release/bin/opsbrain
bad=0

wrong() {
    echo "$1"
    bad=1
}

# has WHAT PATTERN TEXT: reports that the program lacks WHAT unless a line of TEXT matches PATTERN.
has() {
    grep -qE -- "$2" <<<"$3" || wrong "$program lacks $1"
}

{ cmake --preset release && cmake --build --preset release --target opsbrain; } >/dev/null || exit 1

headers=$(readelf --wide --file-header --program-headers --dynamic "$program")
has 'a position-independent executable' 'Type: +DYN' "$headers"
has 'RELRO' 'GNU_RELRO' "$headers"
has 'BIND_NOW' 'BIND_NOW|FLAGS.*NOW' "$headers"
has 'a stack that cannot be executed' 'GNU_STACK .* RW ' "$headers"
has 'calls checked by FORTIFY' '__[a-z]+_chk@' "$(readelf --wide --dyn-syms "$program")"
has 'stack protectors' '__stack_chk_fail@' "$(readelf --wide --dyn-syms "$program")"

# The program's debug information has the flags with which each file was compiled. Each file must have been compiled with
# every flag in `flags` that the compiler supports.
producers=$(readelf --debug-dump=info "$program" 2>/dev/null | sed -n 's/.*DW_AT_producer.*: \(GNU C\|clang\)/\1/p' | sort -u)
flags=(-fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero)
case $(uname -m) in
    x86_64) flags+=(-fcf-protection=full) ;;
    aarch64) flags+=(-mbranch-protection=standard) ;;
esac
[ -n "$producers" ] || wrong "$program does not say how it was compiled"
for flag in "${flags[@]}"; do
    echo 'int main(void) { return 0; }' | cc -Werror "$flag" -x c - -o /dev/null 2>/dev/null || continue
    ! grep -qvF -- "$flag" <<<"$producers" || wrong "some files of $program are compiled without $flag"
done
grep -q -- '-D_FORTIFY_SOURCE=[23]' build/release/build.ninja || wrong 'the release preset does not set _FORTIFY_SOURCE'

# Starts the server as a user other than root.
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null; wait; rm -rf "$folder"' EXIT
cp "$program" "$folder/opsbrain" && chmod 755 "$folder"
as=()
[ "$(id -u)" != 0 ] || { as=(setpriv --reuid 65534 --regid 65534 --clear-groups) && chown -R 65534:65534 "$folder"; }
"${as[@]}" "$folder/opsbrain" serve --listen 127.0.0.1:0 --data "$folder/data" >"$folder/log" 2>&1 &
server=$!
for ((i = 0; i < 100; i++)); do
    ! grep -q 'listens on' "$folder/log" || break
    sleep 0.1
done
grep -q 'listens on' "$folder/log" || wrong 'the server did not start in ten seconds'
has 'no-new-privs' 'NoNewPrivs:[[:space:]]+1' "$(cat /proc/$server/status)"
# In /proc, the files of a process that cannot be dumped belong to root.
[ "$(id -u)" != 0 ] || [ "$(stat -c %u /proc/$server/environ)" = 0 ] || wrong 'the server can be dumped'
exit $bad
