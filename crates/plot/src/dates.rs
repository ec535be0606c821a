//! Round dates along an axis of times, which are seconds since 1970, in the proleptic Gregorian calendar.

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;
const MONTH: f64 = 30.44 * DAY;
const YEAR: f64 = 365.25 * DAY;

/// Steps below a month, in seconds.
const STEPS: [f64; 20] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    MINUTE,
    2.0 * MINUTE,
    5.0 * MINUTE,
    10.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    5.0 * DAY,
    10.0 * DAY,
];

/// Round times from `low` to `high` with their texts, about `wanted` of them.
pub(crate) fn ticks(low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
    let raw = (high - low) / wanted.max(1) as f64;
    if raw < 1.0 {
        return fractions(low, high, raw);
    }
    if let Some(step) = STEPS.into_iter().find(|&step| step >= raw * 0.999) {
        let first = (low / step).ceil();
        let each = |i: i32| (first + f64::from(i)) * step;
        let times = (0..100).map(each).take_while(|&time| time <= high);
        return times.map(|time| (time, text(time, step))).collect();
    }
    let months = [1i64, 2, 3, 6].into_iter().find(|&months| months as f64 * MONTH >= raw * 0.999);
    let months = months.unwrap_or_else(|| 12 * round_years(raw / YEAR));
    let (year, month, _) = date((low / DAY).floor() as i64);
    let start = (year * 12 + month - 1).div_euclid(months) * months;
    let each = |i: i64| start + i * months;
    let times = (0..100).map(each).map(|n| (days(n.div_euclid(12), n.rem_euclid(12) + 1, 1) as f64 * DAY, n));
    let inside = times.skip_while(|(time, _)| *time < low).take_while(|(time, _)| *time <= high);
    let write = |(time, n): (f64, i64)| {
        let (year, month) = (n.div_euclid(12), n.rem_euclid(12) + 1);
        (time, if months % 12 == 0 { format!("{year:04}") } else { format!("{year:04}-{month:02}") })
    };
    inside.map(write).collect()
}

/// Times less than a second apart.
fn fractions(low: f64, high: f64, raw: f64) -> Vec<(f64, String)> {
    // Doubles count microseconds up to the year 2255.
    let digits = (-raw.max(1e-6).log10()).ceil().clamp(1.0, 6.0) as usize;
    let step = 10f64.powi(-(digits as i32));
    let first = (low / step).ceil();
    let times = (0..20).map(|i| (first + f64::from(i)) * step).take_while(|&time| time <= high);
    times
        .map(|time| (time, format!("{}{:.*}", clock(time), digits, time.rem_euclid(1.0)).replace("0.", ".")))
        .collect()
}

/// 1, 2, 5 × a power of ten years that is not below `raw`.
fn round_years(raw: f64) -> i64 {
    let power = 10f64.powi(raw.max(1.0).log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power);
    steps.into_iter().find(|&step| step >= raw * 0.999).unwrap_or(10.0 * power).max(1.0) as i64
}

/// A time as short as its step allows.
fn text(time: f64, step: f64) -> String {
    let (year, month, day) = date((time / DAY).floor() as i64);
    let within = time.rem_euclid(DAY);
    if step >= DAY {
        format!("{year:04}-{month:02}-{day:02}")
    } else if step >= MINUTE {
        format!("{month:02}-{day:02} {:02}:{:02}", (within / HOUR) as i64, (within % HOUR / MINUTE) as i64)
    } else {
        clock(time)
    }
}

fn clock(time: f64) -> String {
    let within = time.rem_euclid(DAY);
    let (hour, minute) = ((within / HOUR) as i64, (within % HOUR / MINUTE) as i64);
    format!("{hour:02}:{minute:02}:{:02}", (within % MINUTE) as i64)
}

/// A time to the second.
pub(crate) fn whole(time: f64) -> String {
    let (year, month, day) = date((time / DAY).floor() as i64);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if time.rem_euclid(DAY) == 0.0 { date } else { format!("{date} {}", clock(time)) }
}

/// Year, month and day of a number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // From 0000-03-01 on, so that the leap day is the last of a year.
    let days = days.clamp(-(1 << 40), 1 << 40) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (era * 400 + year, month, day)
}

/// The number of days from 1970 to a date of the Gregorian calendar; years beyond a million million are not told apart.
///
/// ```
/// assert_eq!(b2nd_plot::days_since_1970(2000, 2, 29), 11_016);
/// ```
#[must_use]
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    days(year.clamp(-1_000_000_000_000, 1_000_000_000_000), month, day)
}

/// The number of days from 1970 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        ticks(low, high, 5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn dates_and_days_are_each_others_inverse() {
        for n in [-1_000_000, -719_468, -1, 0, 59, 60, 10_957, 11_016, 20_000, 146_097, 3_000_000] {
            let (year, month, day) = date(n);
            assert_eq!(days(year, month, day), n, "{year}-{month}-{day}");
        }
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
    }

    #[test]
    fn ticks_are_round_times_of_the_span() {
        let at = |year, month, day| days(year, month, day) as f64 * DAY;
        assert_eq!(texts(at(1990, 1, 1), at(2020, 1, 1)), ["1990", "2000", "2010", "2020"]);
        assert_eq!(texts(at(2001, 1, 1), at(2001, 12, 31)), ["2001-01", "2001-04", "2001-07", "2001-10"]);
        assert_eq!(texts(at(2001, 3, 1), at(2001, 3, 9))[1], "2001-03-03");
        assert_eq!(
            texts(0.0, DAY),
            ["01-01 00:00", "01-01 06:00", "01-01 12:00", "01-01 18:00", "01-02 00:00"]
        );
        assert_eq!(texts(0.0, 20.0), ["00:00:00", "00:00:05", "00:00:10", "00:00:15", "00:00:20"]);
        assert_eq!(texts(0.0, 0.5)[1], "00:00:00.1");
        assert_eq!(whole(DAY + 61.0), "1970-01-02 00:01:01");
    }

    #[test]
    fn ticks_of_hard_spans_are_few_and_inside() {
        for (low, high) in [(-1e18, 1e18), (0.0, 1e-9), (-9.2e9, 9.2e9), (1e15, 1e15 + 1.0), (-3e17, 0.0)] {
            let ticks = ticks(low, high, 5);
            assert!(ticks.len() <= 21, "{low} {high}: {}", ticks.len());
            assert!(ticks.iter().all(|(time, text)| *time >= low && *time <= high && text.len() < 40));
        }
    }
}
