#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if apt would install more than PACKAGES_MAX packages for the Dockerfile's list of runtime packages, not counting those in
# the base image. It is skipped where apt does not know Debian 12's packages.
cd "$(dirname "$0")/.." || exit 1

readonly PACKAGES_MAX=40
# The list's dependencies that debian:12-slim already has.
readonly BASE='debconf gcc-12-base libc6 libcom-err2 libdb5.3 libffi8 libgcc-s1 libgmp10 libgnutls30 libhogweed6 libidn2-0
libmd0 libnettle8 libp11-kit0 libtasn1-6 libunistring2 libzstd1 zlib1g'

runtime=$(awk '/^FROM/ { stage++ } stage == 2 && /ca-certificates/ { sub(/\\$/, ""); print }' Dockerfile)
# shellcheck disable=SC2086 # a list
installed=$(apt-get install -s --no-install-recommends -o Dir::State::status=/dev/null -o Debug::NoLocking=1 $runtime 2>/dev/null |
    awk '/^Inst/ { print $2 }')
case $installed in
*gcc-12-base*) ;;
*) echo 'skipped: apt does not know the packages of Debian 12 here' && exit 0 ;;
esac
added=$(echo "$installed" | grep -vxF "$(echo "$BASE" | tr ' ' '\n')")
count=$(echo "$added" | wc -l)
[ "$count" -le $PACKAGES_MAX ] || {
    echo "the image would add $count packages to its base, more than $PACKAGES_MAX: $(echo "$added" | tr "\n" " ")"
    exit 1
}
echo "$count packages in addition to the base"
