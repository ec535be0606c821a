//! Addresses of this machine and of private networks, where a redirect from outside must not lead.

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use url::Host;

/// Whether an address belongs to this machine, a private network, or to no network that the world can reach.
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || shared
        || protocols
        || benchmarks
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    let inside = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    let [.., seventh, eighth] = address.segments();
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_private_v4(mapped);
    }
    // Addresses of IPv4 inside those of IPv6: translation, and 6to4.
    let translated = (first, second) == (0x64, 0xff9b) && inside(seventh, eighth);
    let six_to_four = first == 0x2002 && inside(second, third);
    let old = address.segments()[..6] == [0; 6];
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || first & 0xfe00 == 0xfc00
        || first & 0xffc0 == 0xfe80
        || translated
        || six_to_four
        || old
}

/// The address that a URL names itself; `None` for a name.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// Whether a URL leads to a private address.
pub(super) async fn leads_inside(url: &Url) -> bool {
    if let Some(address) = literal(url) {
        return is_private(address);
    }
    let Some(host) = url.host_str() else { return false };
    let Ok(mut found) = tokio::net::lookup_host((host, url.port_or_known_default().unwrap_or(80))).await
    else {
        return false;
    };
    found.any(|address| is_private(address.ip()))
}

/// Finds public addresses only: for redirects from outside.
#[derive(Debug)]
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| !is_private(address.ip())).collect();
            if public.is_empty() {
                return Err(
                    io::Error::new(io::ErrorKind::PermissionDenied, "it leads to a private address").into()
                );
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_all_their_forms() {
        for text in [
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.0.8",
            "198.18.0.1",
            "::1",
            "::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
            "ff02::1",
        ] {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
        let host = |url: &str| literal(&Url::parse(url).unwrap());
        assert_eq!(host("http://[::1]:80/a"), Some("::1".parse().unwrap()));
        // The numbers that a browser takes for an address.
        assert_eq!(host("http://2130706433/"), Some("127.0.0.1".parse().unwrap()));
        assert_eq!(host("http://0x7f.1/"), Some("127.0.0.1".parse().unwrap()));
        assert_eq!(host("http://localhost/"), None);
    }

    #[test]
    fn names_of_private_addresses_are_not_found() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let found = PublicOnly.resolve("localhost".parse().unwrap()).await;
            assert!(found.is_err_and(|error| error.to_string().contains("private")));
            assert!(leads_inside(&Url::parse("http://localhost:1/a").unwrap()).await);
            assert!(!leads_inside(&Url::parse("http://8.8.8.8/a").unwrap()).await);
        });
    }
}
