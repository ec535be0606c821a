#!/usr/bin/env bash
# Makes the packages for publication from the committed tree, without .git, and checks them:
#   the five crates: they can be packaged, hold only sources and texts, and are small;
#   the source package of the Python package: its metadata, its size, and that it holds the whole workspace it needs;
#   wheels in target/wheels, where setup-python-package.sh has made one: metadata, stable ABI, size, and an import in an empty environment.
# --long also compiles: the crates from what their packages hold, and a wheel from the source package (10 minutes on two cores).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bin=$root/.venv-release/bin

if ! { [ -x "$bin/python" ] && "$bin/python" -c 'import maturin, twine, abi3audit, check_jsonschema' 2>/dev/null; }; then
    python3 -m venv .venv-release
    "$bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2' twine abi3audit check-jsonschema
fi

# Fails when a file is larger than so many KiB.
bound() {
    local size=$((($(stat -c %s "$1") + 1023) / 1024))
    printf '%-40s %6d KiB (at most %d)\n' "$(basename "$1")" "$size" "$2"
    [ "$size" -le "$2" ]
}

# Fails when a package holds anything but sources and texts: fixtures, pictures.
plain() {
    local odd
    odd=$(tar -tzf "$1" | grep -vE '\.(rs|py|pyi|md|toml|lock|orig|json)$|/(LICENSE-(MIT|APACHE)|PKG-INFO|py\.typed|stubtest\.txt)$' || true)
    [ -z "$odd" ] || { printf '%s must not hold:\n%s\n' "$1" "$odd"; return 1; }
}

# The wheel in an environment that has nothing but what it asks for.
smoke() {
    local env=$folder/env-$RANDOM
    python3 -m venv "$env"
    "$env/bin/python" -m pip install --quiet --disable-pip-version-check "$1"
    (cd "$folder" && "$env/bin/python" "$root/scripts/import_smoke.py")
}

wheel() {
    "$bin/twine" check --strict "$1"
    "$bin/abi3audit" --strict "$1"
    bound "$1" 6000
    smoke "$1"
}

mkdir "$folder/tree"
git archive HEAD | tar -x -C "$folder/tree"
cd "$folder/tree"

verify=--no-verify
[ "${1:-}" = --long ] && verify=
# shellcheck disable=SC2086 # empty means no argument
CARGO_TARGET_DIR=$folder/target cargo package --quiet --locked $verify -p b2nd-kernel -p b2nd -p b2nd-plot -p b2nd-remote -p b2nd-cli
while read -r name most; do
    crate=$(echo "$folder/target/package/$name"-[0-9]*.crate)
    plain "$crate"
    bound "$crate" "$most"
done <<'LIST'
b2nd-kernel 130
b2nd 600
b2nd-plot 40
b2nd-remote 130
b2nd-cli 150
LIST

# It tells every file that it packs: shown where it fails only.
"$bin/maturin" sdist --manifest-path python/Cargo.toml --out "$folder/sdist" 2>"$folder/maturin.txt" \
    || { cat "$folder/maturin.txt" >&2; exit 1; }
sdist=$(echo "$folder"/sdist/b2nd-*.tar.gz)
"$bin/twine" check --strict "$sdist"
plain "$sdist"
bound "$sdist" 900
mkdir "$folder/source"
tar -xzf "$sdist" -C "$folder/source"
# Offline, so that versions are those of Cargo.lock; not --locked, because the source package leaves out members of the workspace.
(cd "$folder/source"/b2nd-* && cargo metadata --quiet --offline --format-version 1 >/dev/null)

if [ "${1:-}" = --long ]; then
    "$bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder/wheels" "$sdist"
    wheel "$(echo "$folder"/wheels/b2nd-*.whl)"
elif compgen -G "$root/target/wheels/b2nd-*.whl" >/dev/null; then
    wheel "$(echo "$root"/target/wheels/b2nd-*.whl)"
else
    echo "no wheel in target/wheels: .ci/run python_package makes one"
fi
