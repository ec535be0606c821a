//! `datetime64` as ISO 8601, in the proleptic Gregorian calendar, for every 64-bit count of every unit.

use b2nd::array::{TimeBase, TimeUnit};

/// The count that stands for "not a time".
pub(super) const NAT: i64 = i64::MIN;

const DAYS_IN_400_YEARS: i128 = 146_097;
/// From 1970-01-01 to 2000-03-01, which starts a cycle of 400 years with leap days at the ends of its years.
const DAYS_TO_CYCLE: i128 = 11_017;

/// The text of `count` steps of `unit` since 1970.
pub(super) fn iso(count: i64, unit: TimeUnit) -> String {
    // NumPy's own arithmetic wraps at 64 bits, here and with years, weeks and days below.
    let count = count.wrapping_mul(i64::from(unit.count()));
    let (per_day, fraction_digits) = match unit.base() {
        TimeBase::Year => return format!("{:04}", count.wrapping_add(1970)),
        TimeBase::Month => {
            let (year, month) = (count.div_euclid(12) + 1970, count.rem_euclid(12) + 1);
            return format!("{year:04}-{month:02}");
        }
        TimeBase::Week => return date(i128::from(wrapped_days(count.wrapping_mul(7)))),
        TimeBase::Day => return date(i128::from(wrapped_days(count))),
        TimeBase::Hour => (24, 0),
        TimeBase::Minute => (1440, 0),
        TimeBase::Second => (86_400, 0),
        TimeBase::Milli => (86_400, 3),
        TimeBase::Micro => (86_400, 6),
        TimeBase::Nano => (86_400, 9),
        TimeBase::Pico => (86_400, 12),
        TimeBase::Femto => (86_400, 15),
        TimeBase::Atto => (86_400, 18),
    };
    let per_second = 10i128.pow(fraction_digits);
    let (whole, fraction) =
        (i128::from(count).div_euclid(per_second), i128::from(count).rem_euclid(per_second));
    let (days, within) = (whole.div_euclid(per_day), whole.rem_euclid(per_day));
    let date = date(days - DAYS_TO_2000);
    match (per_day, fraction_digits) {
        (24, _) => format!("{date}T{within:02}"),
        (1440, _) => format!("{date}T{:02}:{:02}", within / 60, within % 60),
        (_, digits) => {
            let time = format!("{date}T{:02}:{:02}:{:02}", within / 3600, within / 60 % 60, within % 60);
            if digits == 0 { time } else { format!("{time}.{fraction:0width$}", width = digits as usize) }
        }
    }
}

/// From 1970-01-01 to 2000-01-01.
const DAYS_TO_2000: i128 = 10_957;

fn wrapped_days(days: i64) -> i64 {
    days.wrapping_sub(10_957)
}

/// The date so many days after 2000-01-01.
fn date(days: i128) -> String {
    let days = days + DAYS_TO_2000 - DAYS_TO_CYCLE;
    let (cycle, day) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    // The last day of 4, 100 and 400 years is a leap day, which is counted to the year it ends.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 31, 30, 31, 30, 31 days and again: 153 days in five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", 2000 + 400 * cycle + year)
}

/// The plural that a `timedelta64` is counted in.
pub(crate) fn plural(unit: Option<TimeUnit>) -> &'static str {
    match unit.map(TimeUnit::base) {
        None => "generic time units",
        Some(TimeBase::Year) => "years",
        Some(TimeBase::Month) => "months",
        Some(TimeBase::Week) => "weeks",
        Some(TimeBase::Day) => "days",
        Some(TimeBase::Hour) => "hours",
        Some(TimeBase::Minute) => "minutes",
        Some(TimeBase::Second) => "seconds",
        Some(TimeBase::Milli) => "milliseconds",
        Some(TimeBase::Micro) => "microseconds",
        Some(TimeBase::Nano) => "nanoseconds",
        Some(TimeBase::Pico) => "picoseconds",
        Some(TimeBase::Femto) => "femtoseconds",
        Some(TimeBase::Atto) => "attoseconds",
    }
}
