#!/bin/sh
# Starts PowerShell: rows.sh OUT, where OUT is a directory below target. The server that it needs is built with the suite.
export BUILT="$1/../../release"
exec "${PSRP_TEST_PWSH:-pwsh}" -NoProfile -File rows.ps1
