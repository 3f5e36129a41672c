#!/bin/sh
# One row for PowerShell: rows.sh OUT ROW MILLIS, where OUT is a directory for files. The programs beside it are built with
# the suite.
set -eu
built=$1/../../release
export ROW="$2" MILLIS="$3" DOCUMENT="$1/document.xml" SERVER="$built/psrp_server"
case $2 in
    child_*) ;;
    *) "$built/psrp_documents" "$2" > "$DOCUMENT" ;;
esac
exec "${PSRP_TEST_PWSH:-pwsh}" -NoProfile -File rows.ps1
