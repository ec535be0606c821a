#!/usr/bin/env bash
# Runs tests under a sanitizer: scripts/sanitized.sh address|thread CARGO-TEST-ARGUMENTS
#   scripts/sanitized.sh address -p b2nd-kernel -p b2nd --lib --tests
#   scripts/sanitized.sh thread -p b2nd --no-default-features --features ndarray,mmap --test all -- threads:: readers::
# address: the C codecs are instrumented too, by clang (the tables of gcc are no match for the runtime of LLVM).
# thread: std is built anew, as its locks have to be seen. It needs the source of std in the sysroot of $RUSTC (rustup's rust-src, Debian's rust-src or
# rust-web-src of the same version), and the runtime librustc-*_rt.tsan.a: where that sysroot has none, that of another
# compiler with the same LLVM, named by SANITIZER_RUNTIME.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1
shift
export CARGO_INCREMENTAL=0 RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target/$kind}"
target=$(${RUSTC:-rustc} -vV | sed -n 's/^host: //p')
cargo=("${CARGO:-cargo}" --config profile.dev.opt-level=1 --config profile.dev.debug=1 --config 'profile.dev.package."*".opt-level=1')
case $kind in
address)
    export RUSTFLAGS=-Zsanitizer=address CC="${CC:-clang}"
    ;;
thread)
    export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
    cargo+=(-Zbuild-std=std,panic_unwind,test)
    if [ -n "${SANITIZER_RUNTIME:-}" ]; then
        # First among what is linked, and the C library after it.
        mkdir -p "$CARGO_TARGET_DIR"
        linker=$(realpath "$CARGO_TARGET_DIR")/gcc
        # shellcheck disable=SC2016
        printf '#!/bin/sh\nexec cc -Wl,--whole-archive %s -Wl,--no-whole-archive "$@" -lm -lpthread -ldl -Wl,--no-as-needed -lc\n' "$SANITIZER_RUNTIME" >"$linker"
        chmod +x "$linker"
        RUSTFLAGS+=" -Zexternal-clangrt -Clinker=$linker"
    fi
    ;;
*)
    echo "which sanitizer? address or thread" >&2
    exit 2
    ;;
esac
exec "${cargo[@]}" test --target "$target" --no-fail-fast "$@"
