//! The running sum with vectors, written once for every instruction set.
//!
//! The sums inside a vector do not depend on the vectors before it: only one addition for each vector is in the chain.

/// The kernel of one instruction set: `$arch` names its file in `crate::arch`.
macro_rules! lane_kernel {
    ($arch:ident, $features:literal) => {
        use crate::arch::$arch as arch;

        #[target_feature(enable = $features)]
        fn decode_all(data: &mut [u8]) {
            let (steps, rest) = data.as_chunks_mut::<{ arch::BYTES }>();
            let mut before = arch::zero();
            for step in &mut *steps {
                let sums = arch::sums(arch::load(step));
                arch::store(arch::add(sums, before), step);
                before = arch::add(before, arch::last(sums));
            }
            let before = steps.last().map_or(0, |step| step[arch::BYTES - 1]);
            super::sum(before, rest);
        }
    };
}

pub(super) use lane_kernel;
