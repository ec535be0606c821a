#!/usr/bin/env bash
# Runs tests on another kind of machine, emulated: scripts/emulated.sh s390x|i686|aarch64 CARGO-TEST-ARGUMENTS
#   scripts/emulated.sh s390x -p b2nd-kernel --tests
#   scripts/emulated.sh i686 -p b2nd --no-default-features --features ndarray --lib
# It needs Debian's rustc-web and cargo-web (/usr/bin/cargo), qemu-user, the cross compiler (gcc-s390x-linux-gnu, gcc-i686-linux-gnu or
# gcc-aarch64-linux-gnu) with its libc (libc6-dev-s390x-cross ...), and that machine's standard library: the package libstd-rust-web-dev of
# its architecture (s390x: from the next Debian release, the same version), unpacked with `dpkg -x PACKAGE.deb /`.
set -euo pipefail
machine=$1
shift
case $machine in i686) emulator=qemu-i386 ;; *) emulator=qemu-$machine ;; esac
target=$machine-unknown-linux-gnu
name=$(tr 'a-z-' 'A-Z_' <<<"$target")
export "CARGO_TARGET_${name}_LINKER=$machine-linux-gnu-gcc"
export "CARGO_TARGET_${name}_RUNNER=$emulator -L /usr/$machine-linux-gnu"
export RUSTC=/usr/bin/rustc CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target/emulated}"
# Emulation is slow: fewer random cases, unless more are asked for.
export B2ND_CRASH_RUNS="${B2ND_CRASH_RUNS:-3}" B2ND_FLIPS="${B2ND_FLIPS:-200}" B2ND_KILLS="${B2ND_KILLS:-20}" PROPTEST_CASES="${PROPTEST_CASES:-16}"
exec /usr/bin/cargo --config profile.dev.opt-level=1 --config profile.dev.debug=false test --target "$target" "$@"
