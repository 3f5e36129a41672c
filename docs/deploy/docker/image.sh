#!/bin/sh
# Creates the root folder of an image: image.sh PROGRAM FOLDER.
set -eu
program=$1 image=$2
mkdir -p "$image/etc/ssl/certs" "$image/cache"
cp "$program" "$image/pypi-proxy"
cp "$(dirname "$0")/defaults.toml" "$image/"
# The libraries and the dynamic loader, at their original paths.
ldd "$program" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) { print $i; break } }' | while read -r library; do
    mkdir -p "$image$(dirname "$library")"
    cp -L "$library" "$image$library"
done
cp -L /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
echo 'pypi-proxy:x:65532:65532::/cache:/none' >"$image/etc/passwd"
echo 'hosts: files dns' >"$image/etc/nsswitch.conf"
