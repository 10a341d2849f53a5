#!/bin/sh
# Run a command where only loopback exists, if this machine lets us; else as it is.
for flags in -n -rn; do
  if unshare $flags sh -c 'ip link set lo up' 2>/dev/null; then
    exec unshare $flags sh -c 'ip link set lo up; exec "$@"' sh "$@"
  fi
done
echo "handbill: no network namespace here; the client runs with its non-essential traffic disabled" >&2
exec "$@"
