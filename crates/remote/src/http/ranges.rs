//! Compares the range of an answer with that of its request, before anything else reads it.

/// The length of an answer whose `Content-Range` fits `Range` of the request; otherwise the fault in words.
pub(super) fn check(requested: &str, answered: Option<&str>) -> Result<u64, String> {
    let Some(answered) = answered else { return Err("a part without Content-Range".to_owned()) };
    let unfit = || format!("{answered} for {requested}");
    let (first, last, size) = parse(answered).ok_or_else(unfit)?;
    let wanted =
        requested.strip_prefix("bytes=").and_then(|wanted| wanted.split_once('-')).ok_or_else(unfit)?;
    let fits = match wanted {
        ("", count) => {
            let count: u64 = count.parse().map_err(|_| unfit())?;
            first == size.saturating_sub(count) && last + 1 == size
        }
        (from, "") => from.parse() == Ok(first) && last + 1 == size,
        (from, to) => {
            let to: u64 = to.parse().map_err(|_| unfit())?;
            from.parse() == Ok(first) && last == to.min(size - 1)
        }
    };
    if fits { Ok(last - first + 1) } else { Err(unfit()) }
}

/// First byte, last byte and length, which contain each other.
fn parse(value: &str) -> Option<(u64, u64, u64)> {
    let (range, size) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, size): (u64, u64, u64) = (first.parse().ok()?, last.parse().ok()?, size.parse().ok()?);
    (first <= last && last < size).then_some((first, last, size))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn an_answer_has_the_range_of_its_request() {
        let fits = |requested, answered| check(requested, Some(answered)).is_ok();
        assert_eq!(check("bytes=2-50", Some("bytes 2-9/10")), Ok(8));
        assert!(fits("bytes=2-5", "bytes 2-5/10"));
        assert!(fits("bytes=2-50", "bytes 2-9/10"));
        assert!(fits("bytes=-3", "bytes 7-9/10") && fits("bytes=-30", "bytes 0-9/10"));
        assert!(fits("bytes=4-", "bytes 4-9/10"));
        for bad in [
            "bytes 2-4/10",
            "bytes 1-5/10",
            "bytes 5-2/10",
            "bytes 2-5/*",
            "bytes 2-5/5",
            "2-5/10",
            "",
            "bytes 2-18446744073709551615/18446744073709551615",
            "bytes */10",
        ] {
            assert!(!fits("bytes=2-5", bad), "{bad}");
        }
        assert!(!fits("bytes=-3", "bytes 6-8/10") && check("bytes=0-1", None).is_err());
    }
}
