#!/bin/sh
# Creates the folders of an image: image.sh PROGRAM FOLDER. Its root is FOLDER/root. FOLDER/cache is the mount point of the
# volume: it must not exist in the root, because copying to a folder that exists does not change its owner.
set -eu
umask 022
program=$1 image=$2/root
mkdir -p "$image/etc/ssl/certs" "$2/cache"
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
