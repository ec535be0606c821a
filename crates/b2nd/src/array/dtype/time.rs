//! The units of `datetime64` and `timedelta64`: `[ns]`, `[25s]`.

use std::fmt;

/// The unit of a [`TimeUnit`], without its multiplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeBase {
    /// Calendar years (`Y`).
    Year,
    /// Calendar months (`M`).
    Month,
    /// Weeks (`W`).
    Week,
    /// Days (`D`).
    Day,
    /// Hours (`h`).
    Hour,
    /// Minutes (`m`).
    Minute,
    /// Seconds (`s`).
    Second,
    /// 10⁻³ seconds (`ms`).
    Milli,
    /// 10⁻⁶ seconds (`us`).
    Micro,
    /// 10⁻⁹ seconds (`ns`).
    Nano,
    /// 10⁻¹² seconds (`ps`).
    Pico,
    /// 10⁻¹⁵ seconds (`fs`).
    Femto,
    /// 10⁻¹⁸ seconds (`as`).
    Atto,
}

impl TimeBase {
    const ALL: [(TimeBase, &'static str); 13] = [
        (TimeBase::Year, "Y"),
        (TimeBase::Month, "M"),
        (TimeBase::Week, "W"),
        (TimeBase::Day, "D"),
        (TimeBase::Hour, "h"),
        (TimeBase::Minute, "m"),
        (TimeBase::Second, "s"),
        (TimeBase::Milli, "ms"),
        (TimeBase::Micro, "us"),
        (TimeBase::Nano, "ns"),
        (TimeBase::Pico, "ps"),
        (TimeBase::Femto, "fs"),
        (TimeBase::Atto, "as"),
    ];

    /// The unit as NumPy writes it: `D`, `us`.
    pub fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|(base, _)| *base == self).map_or("", |(_, symbol)| symbol)
    }

    fn from_symbol(symbol: &str) -> Option<Self> {
        let symbol = if symbol == "\u{3bc}s" || symbol == "\u{b5}s" { "us" } else { symbol };
        Self::ALL.iter().find(|(_, known)| *known == symbol).map(|(base, _)| *base)
    }
}

/// Unit of a `datetime64` or `timedelta64` item: a multiple of a base unit.
///
/// ```
/// use b2nd::Dtype;
/// use b2nd::array::TimeBase;
/// let unit = Dtype::parse("<m8[25s]")?.unit().unwrap();
/// assert_eq!((unit.count(), unit.base()), (25, TimeBase::Second));
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    count: u32,
    base: TimeBase,
}

impl TimeUnit {
    /// `count` units of `base`; `None` when `count` is 0 or above `i32::MAX`, which NumPy cannot hold.
    pub fn new(count: u32, base: TimeBase) -> Option<Self> {
        (count > 0 && i32::try_from(count).is_ok()).then_some(TimeUnit { count, base })
    }
    /// The multiplier: 25 for `[25s]`, 1 for `[ns]`.
    pub fn count(self) -> u32 {
        self.count
    }
    /// The base unit.
    pub fn base(self) -> TimeBase {
        self.base
    }

    /// Parses what is between the brackets. The outer `None` is a fault, the inner one the generic unit.
    pub(super) fn parse(text: &str) -> Option<Option<Self>> {
        if text == "generic" {
            return Some(None);
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (count, symbol) = text.split_at_checked(digits)?;
        let count = if count.is_empty() { 1 } else { count.parse().ok()? };
        Some(Some(TimeUnit::new(count, TimeBase::from_symbol(symbol)?)?))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{}", self.count)?;
        }
        f.write_str(self.base.symbol())
    }
}
