#!/bin/sh
# Pinned clients from npm, each in its own folder below $1. Prints one line and goes on without them,
# unless CI=true: there a missing client is a failure.
folder=$1; shift
for version in "$@"; do
  place="$folder/$version"
  bin="$place/node_modules/.bin/claude"
  [ -x "$bin" ] && continue
  mkdir -p "$place" && printf '{"private":true}\n' > "$place/package.json"
  if ! (cd "$place" && npm install --no-audit --no-fund --loglevel=error "@anthropic-ai/claude-code@$version" > install.log 2>&1); then
    echo "handbill: Claude Code $version cannot be installed (see $place/install.log); the tests on the real client are skipped"
    [ "${CI:-}" = true ] && exit 1
  fi
done
exit 0
