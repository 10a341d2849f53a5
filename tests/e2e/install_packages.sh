#!/bin/sh
# Installs programs that the tests need from the system's packages: `sh install_packages.sh tmux …`.
# If it is not allowed to install them, it says what is missing, and those tests are skipped.
for program in "$@"; do
  command -v "$program" > /dev/null && continue
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "handbill: installing $program"
    (apt-get update -qq && apt-get install -y -qq "$program") > /dev/null 2>&1 && continue
  fi
  echo "handbill: $program is not installed, so the tests that need it are SKIPPED. To install it: apt-get install $program" >&2
done
exit 0
