"""Checks what the packages depend on, by `cargo metadata` and `cargo tree`.

    check_dependencies.py         check licences, sources, pure Rust, and the counts in docs/FEATURES.md
    check_dependencies.py sbom    print a bill of materials of the command and the library (CycloneDX 1.5, JSON)

The licences and sources that are allowed are read from deny.toml, so that `cargo deny` and this script agree.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What compiles or binds C: a crate that a pure Rust build must not have.
NATIVE = re.compile(r"(^|-)(cc|cmake|bindgen|pkg-config|vcpkg)$|-sys$")
# The features that docs/FEATURES.md counts, for `cargo tree`.
COUNTED = {
    "(none)": "",
    "ndarray": "ndarray",
    "mmap": "mmap",
    "serde": "serde",
    "zfp": "zfp",
    "c-codecs": "c-codecs",
}


def cargo(*words: str) -> str:
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def metadata() -> dict:
    return json.loads(cargo("metadata", "--format-version", "1", "--locked"))


def crates(*words: str) -> set[str]:
    """Names and versions of all crates in a tree, but for those of the workspace."""
    tree = cargo("tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}", *words)
    lines = {line.removesuffix(" (*)").removesuffix(" (proc-macro)") for line in tree.splitlines() if line}
    return {line for line in lines if "(/" not in line}


def allowed(expression: str, licences: set[str]) -> bool:
    """Whether an SPDX expression can be met by the licences; `/` is the old way to write OR."""
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    text, at = [], 0
    while at < len(words):
        word = words[at]
        if word in ("(", ")", "AND", "OR"):
            text.append(word.lower())
        else:
            if words[at + 1 : at + 2] == ["WITH"]:
                word, at = f"{word} WITH {words[at + 2]}", at + 2
            text.append(str(word in licences))
        at += 1
    return bool(eval(" ".join(text), {"__builtins__": {}}))  # noqa: S307: nothing but True, False, and, or, brackets


def faults() -> list[str]:
    policy = tomllib.loads((ROOT / "deny.toml").read_text())
    licences, registries = set(policy["licenses"]["allow"]), set(policy["sources"]["allow-registry"])
    found = []
    for package in metadata()["packages"]:
        name, source = f"{package['name']} {package['version']}", package["source"]
        if not package["license"] or not allowed(package["license"], licences):
            found.append(f"{name}: the licence {package['license']} is not in deny.toml")
        if source and source.removeprefix("registry+") not in registries:
            found.append(f"{name}: the source {source} is not in deny.toml")
    for what, words in {
        "the library, by default": ["-p", "b2nd", "--target", "all"],
        "the command without C": ["-p", "b2nd-cli", "--no-default-features", "--features", "zfp,plot", "--target", "all"],
    }.items():
        native = sorted(line for line in crates(*words) if NATIVE.search(line.split()[0]))
        # Declarations of system calls in plain Rust: they compile no C.
        native = [line for line in native if line.split()[0] not in ("windows-sys", "linux-raw-sys")]
        if native:
            found.append(f"{what} must be pure Rust, and has {', '.join(native)}")
    return found + stale_counts()


def stale_counts() -> list[str]:
    """Rows of docs/FEATURES.md whose number of crates is not that of `cargo tree`."""
    text, found = (ROOT / "docs/FEATURES.md").read_text(), []
    none = len(crates("-p", "b2nd", "--no-default-features", "--target", "x86_64-unknown-linux-gnu"))
    for label, features in COUNTED.items():
        words = ["-p", "b2nd", "--no-default-features", "--target", "x86_64-unknown-linux-gnu"]
        count = len(crates(*words, "--features", features)) - (none if features else 0)
        row = re.search(rf"^\| `?{re.escape(label)}`? \|[^|]*\|[^|]*\| (\d+) \|", text, re.MULTILINE)
        if not row or int(row[1]) != count:
            found.append(f"docs/FEATURES.md: {label} has {row[1] if row else 'no row'}, cargo tree {count}")
    return found


def sbom() -> dict:
    known = metadata()
    wanted = crates("-p", "b2nd-cli", "--target", "all")
    pick = lambda p: p["source"] is None and p["name"].startswith("b2nd") or f"{p['name']} v{p['version']}" in wanted
    components = [
        {
            "type": "library",
            "name": p["name"],
            "version": p["version"],
            "purl": f"pkg:cargo/{p['name']}@{p['version']}",
            "bom-ref": p["id"],
            "licenses": [{"expression": p["license"].replace("/", " OR ")}],
        }
        for p in known["packages"]
        if pick(p)
    ]
    refs = {c["bom-ref"] for c in components}
    edges = [
        {"ref": n["id"], "dependsOn": sorted(d for d in n["dependencies"] if d in refs)}
        for n in known["resolve"]["nodes"]
        if n["id"] in refs
    ]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components, "dependencies": edges}


if __name__ == "__main__":
    if sys.argv[1:] == ["sbom"]:
        print(json.dumps(sbom(), indent=1))
    elif found := faults():
        sys.exit("\n".join(found))
    else:
        print("licences, sources, pure Rust and the counts in docs/FEATURES.md: as they should be")
