#!/bin/sh
# Runs the unit suite on every other supported Python of this machine: `sh tests/each_python.sh FOLDER PYTEST-ARGUMENTS`.
# FOLDER gets one virtual environment per version. The Python of .venv was tested by `make unit` already.
folder=$1; shift
main=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
tested=0
for minor in 11 12 13 14; do
  version=3.$minor
  [ "$version" = "$main" ] && continue
  python=""
  for candidate in $(command -v "python$version") "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
    # a pyenv shim exists for versions that cannot be run, so ask it
    "$candidate" -c "import sys; sys.exit(sys.version_info[:2] != (3, $minor))" 2>/dev/null && python=$candidate
  done
  [ -n "$python" ] || continue
  place=$folder/$version
  if [ ! -e "$place/ready" ] || [ pyproject.toml -nt "$place/ready" ]; then
    rm -rf "$place"
    "$python" -m venv "$place" && "$place/bin/python" -m pip install -q --disable-pip-version-check -e '.[test]' || exit 1
    touch "$place/ready"
  fi
  echo "handbill: the unit suite on Python $("$place/bin/python" -c 'import platform; print(platform.python_version())')"
  "$place/bin/pytest" --hypothesis-profile=again "$@" || exit 1
  tested=$((tested + 1))
done
[ $tested -gt 0 ] || echo "handbill: only Python $main is on this machine; the unit suite ran on that version alone"
