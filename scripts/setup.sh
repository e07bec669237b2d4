# Sourced by the other scripts: makes .venv at the repository's root, once, from pinned versions.
# usage: showcause_setup run|dev      sets PYTHON to the interpreter of the environment

showcause_find_python() {
  local candidate
  for candidate in "${SHOWCAUSE_PYTHON:-}" python3.13 python3.12 python3.11 python3.14 python3 python \
    "$HOME"/.pyenv/versions/3.1[1-9]*/bin/python3; do
    [ -n "$candidate" ] || continue
    if "$candidate" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      # A version manager's shim is slow on every start: keep the real interpreter behind it.
      "$candidate" -I -c 'import sys; print(sys.executable)'
      return 0
    fi
  done
  echo "showcause needs Python 3.11 or newer with the venv module (set SHOWCAUSE_PYTHON to one)" >&2
  return 1
}

showcause_setup() {
  local kind=$1 root python stamp want
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  PYTHON="$root/.venv/bin/python"
  stamp="$root/.venv/showcause-$kind"
  want=$(cat "$root/requirements/$kind.txt" "$root/pyproject.toml" | cksum)
  if [ -x "$PYTHON" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then return 0; fi
  [ -t 2 ] && echo "setting up .venv (first use, or its requirements changed) ..." >&2
  python=$(showcause_find_python) || return 4
  [ -x "$PYTHON" ] || "$python" -m venv "$root/.venv" || return 4
  if ! { "$PYTHON" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$root/requirements/$kind.txt" &&
    "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e "$root"; } >&2; then
    echo "setting up .venv failed; see above" >&2
    return 4
  fi
  echo "$want" >"$stamp"
  # the development set contains the run-time set
  if [ "$kind" = dev ]; then cat "$root/requirements/run.txt" "$root/pyproject.toml" | cksum >"$root/.venv/showcause-run"; fi
}
