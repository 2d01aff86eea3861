#!/bin/sh
# Runs the clusterctl beside it with the C library beside it, on a machine whose own is another one or older than Debian 12's.
here=$(dirname "$(readlink -f "$0")")
exec "$here"/lib/ld-linux-*.so.* --library-path "$here/lib" "$here/clusterctl" "$@"
