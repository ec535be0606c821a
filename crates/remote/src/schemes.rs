//! Stores of URLs: which one a URL is for, and how it is made.

#[cfg(feature = "http")]
use crate::http::User;
use crate::location::Location;
use crate::options::RemoteOptions;
use crate::shown::{shown_text, shown_url};
use b2nd::{Error, Layout, Result};
use object_store::ObjectStore;
use object_store::path::Path;
use std::sync::Arc;
use url::Url;

/// The location of a URL, and the options with what the URL says: one that ends with a slash is that of a sparse frame.
pub(crate) fn location(text: &str, options: &RemoteOptions) -> Result<(Location, RemoteOptions)> {
    let url = Url::parse(text)
        .map_err(|error| Error::Usage(format!("`{}` is no URL: {error}", shown_text(text))))?;
    let mut options = options.clone();
    if url.path().ends_with('/') && url.path() != "/" {
        options.layout.get_or_insert(Layout::Sparse);
    }
    let (store, path) = store_of(&url, &options)?;
    Ok((Location::new(store, path).shown_as(&url), options))
}

/// The store of a URL, and the path in it.
fn store_of(url: &Url, options: &RemoteOptions) -> Result<(Arc<dyn ObjectStore>, Path)> {
    let shown = shown_url(url);
    match url.scheme() {
        #[cfg(feature = "http")]
        "http" | "https" => Ok((http(url, options)?, path_of(url.path(), &shown)?)),
        #[cfg(feature = "s3")]
        "s3" | "s3a" => Ok((s3(url, options)?, path_of(url.path(), &shown)?)),
        #[cfg(feature = "gcs")]
        "gs" => Ok((gcs(url, options)?, path_of(url.path(), &shown)?)),
        #[cfg(feature = "azure")]
        "az" | "adl" | "azure" | "abfs" | "abfss" => Ok((azure(url, options)?, path_of(url.path(), &shown)?)),
        #[cfg(feature = "fs")]
        "file" => Ok((Arc::new(object_store::local::LocalFileSystem::new()), path_of(url.path(), &shown)?)),
        other => {
            let _ = options;
            let known = "http, https, s3, gs, az, abfs, file, as this build has them";
            Err(Error::Usage(format!("{shown}: URLs of `{other}` are not read; known are {known}")))
        }
    }
}

/// The path of an object, out of that of a URL.
#[cfg(any(feature = "network", feature = "fs"))]
fn path_of(path: &str, shown: &str) -> Result<Path> {
    Path::from_url_path(path)
        .map_err(|error| Error::Usage(format!("{shown}: {}", shown_text(&error.to_string()))))
}

/// The error of a store that cannot be made.
#[cfg(feature = "network")]
fn unfit(url: &Url) -> impl FnOnce(object_store::Error) -> Error {
    let shown = shown_url(url);
    move |error| Error::Usage(format!("{shown}: {}", shown_text(&error.to_string())))
}

/// Requests are repeated by this crate, not by the store.
#[cfg(feature = "network")]
fn no_retries() -> object_store::RetryConfig {
    object_store::RetryConfig { max_retries: 0, ..object_store::RetryConfig::default() }
}

/// User and password of a URL, with percent signs decoded.
#[cfg(feature = "http")]
fn user_of(url: &Url) -> Option<User> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    // The form decoder knows percent signs; it takes a plus for a space.
    let decoded = |text: &str| {
        let text = format!("x={}", text.replace('+', "%2B"));
        url::form_urlencoded::parse(text.as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    let name = decoded(url.username()).unwrap_or_default();
    Some(User { name, password: url.password().and_then(decoded) })
}

#[cfg(feature = "http")]
fn http(url: &Url, options: &RemoteOptions) -> Result<Arc<dyn ObjectStore>> {
    // The query, which may be a signature, stays with each request.
    let mut base = url.clone();
    base.set_path("/");
    base.set_fragment(None);
    let user = user_of(url);
    // A URL with a host takes both.
    let _ = base.set_username("");
    let _ = base.set_password(None);
    let store = object_store::http::HttpBuilder::new()
        .with_url(base)
        .with_retry(no_retries())
        .with_http_connector(crate::http::Connector::new(options, user))
        .build();
    Ok(Arc::new(store.map_err(unfit(url))?))
}

/// Sets the options that a builder of a store knows; an error for those that it does not.
#[cfg(any(feature = "s3", feature = "gcs", feature = "azure"))]
macro_rules! configured {
    ($builder:expr, $url:expr, $options:expr) => {{
        let mut builder = $builder.with_url($url.as_str()).with_retry(no_retries());
        for (name, value) in &$options.store_options {
            let key = name.to_ascii_lowercase().parse().map_err(|_| {
                Error::Usage(format!("{}: the store has no option `{name}`", shown_url($url)))
            })?;
            builder = builder.with_config(key, value.clone());
        }
        builder
            .with_http_connector(crate::http::Connector::new($options, None))
            .build()
            .map_err(unfit($url))?
    }};
}

#[cfg(feature = "s3")]
fn s3(url: &Url, options: &RemoteOptions) -> Result<Arc<dyn ObjectStore>> {
    Ok(Arc::new(configured!(object_store::aws::AmazonS3Builder::from_env(), url, options)))
}

#[cfg(feature = "gcs")]
fn gcs(url: &Url, options: &RemoteOptions) -> Result<Arc<dyn ObjectStore>> {
    Ok(Arc::new(configured!(object_store::gcp::GoogleCloudStorageBuilder::from_env(), url, options)))
}

#[cfg(feature = "azure")]
fn azure(url: &Url, options: &RemoteOptions) -> Result<Arc<dyn ObjectStore>> {
    Ok(Arc::new(configured!(object_store::azure::MicrosoftAzureBuilder::from_env(), url, options)))
}
