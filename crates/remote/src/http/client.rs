//! Sends requests of a store: one after the other where an answer redirects.

use super::addresses::{PublicOnly, leads_inside};
use super::redirects;
use super::refusal::Refusal;
use super::{ranges, tls};
use crate::options::RemoteOptions;
use async_trait::async_trait;
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use reqwest::header::{CONTENT_RANGE, HeaderMap, HeaderName, HeaderValue, LOCATION, RANGE, RETRY_AFTER};
use reqwest::{Body, Client, Method, Request, Response, StatusCode, Url};
use std::error::Error as StdError;
use std::io;
use std::time::Duration;

/// User and password of a URL.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) password: Option<String>,
}

/// Makes clients with the options of a location.
#[derive(Clone)]
pub(crate) struct Connector {
    options: RemoteOptions,
    user: Option<User>,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    pub(crate) fn new(options: &RemoteOptions, user: Option<User>) -> Self {
        Connector { options: options.clone(), user }
    }

    fn client(&self, public_only: bool) -> object_store::Result<Client> {
        let failed = |error: Box<dyn StdError + Send + Sync>| object_store::Error::Generic {
            store: "HTTP",
            source: error,
        };
        let tls = tls::config().map_err(|error| failed(Box::new(error)))?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(self.options.connect_timeout)
            .pool_max_idle_per_host(self.options.concurrency.max(16))
            .user_agent(concat!("b2nd/", env!("CARGO_PKG_VERSION")));
        if public_only {
            builder = builder.dns_resolver(PublicOnly);
        }
        builder.build().map_err(|error| failed(Box::new(error.without_url())))
    }

    /// The headers that the caller adds to each request.
    fn headers(&self) -> object_store::Result<HeaderMap> {
        let bad = |name: &str| object_store::Error::Generic {
            store: "HTTP",
            source: format!("`{name}` is no header of HTTP, or its value is none").into(),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in &self.options.headers {
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(name))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad(name))?;
            value.set_sensitive(true);
            headers.append(parsed, value);
        }
        Ok(headers)
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Service {
            direct: self.client(false)?,
            public_only: self.client(true)?,
            headers: self.headers()?,
            user: self.user.clone(),
            redirects: self.options.redirects,
        }))
    }
}

/// Answers requests of a store.
struct Service {
    direct: Client,
    /// Connects to public addresses only.
    public_only: Client,
    headers: HeaderMap,
    user: Option<User>,
    redirects: usize,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers and user are secrets.
        f.write_str("Service")
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let bad = |_| refused(Refusal::Answer("the URL cannot be sent".to_owned()));
        let url: Url = parts.uri.to_string().parse().map_err(bad)?;
        let mut headers = parts.headers;
        for (name, value) in &self.headers {
            headers.append(name.clone(), value.clone());
        }
        let range = headers.get(RANGE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let is_read = matches!(parts.method, Method::GET | Method::HEAD);
        let body = if is_read { None } else { Some(Body::wrap(body)) };
        let response = self.send(parts.method.clone(), url, headers, body).await?;
        let range = range.filter(|_| parts.method == Method::GET);
        answer(response, range.as_deref())
    }
}

impl Service {
    /// Sends a request, and follows redirects of those that read.
    async fn send(
        &self,
        method: Method,
        first: Url,
        mut headers: HeaderMap,
        mut body: Option<Body>,
    ) -> Result<Response, HttpError> {
        let is_read = body.is_none();
        let (mut url, mut inside, mut user) = (first.clone(), None, self.user.as_ref());
        for hop in 0..=self.redirects {
            let client = if hop == 0 || inside == Some(true) { &self.direct } else { &self.public_only };
            let mut request = Request::new(method.clone(), url.clone());
            *request.headers_mut() = headers.clone();
            *request.body_mut() = body.take();
            let mut builder = reqwest::RequestBuilder::from_parts(client.clone(), request);
            if let Some(User { name, password }) = user {
                builder = builder.basic_auth(name, password.as_ref());
            }
            let response = builder.send().await.map_err(failed)?;
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location.filter(|_| is_read && is_redirect(response.status())) else {
                return Ok(response);
            };
            let to =
                redirects::target(&url, location).map_err(|reason| refused(Refusal::Redirect(reason)))?;
            let inside = match inside {
                Some(inside) => inside,
                None => *inside.insert(leads_inside(&first).await),
            };
            if !inside && redirects::names_inside(&to) {
                let reason = "a redirect to a private address".to_owned();
                return Err(refused(Refusal::Redirect(reason)));
            }
            if !redirects::same_origin(&first, &to) {
                redirects::keep_harmless(&mut headers);
                user = None;
            }
            url = to;
        }
        Err(refused(Refusal::Redirect(format!("more than {} redirects", self.redirects))))
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// What the store sees of an answer: one with the range that was asked for, or one that says why there is none.
fn answer(response: Response, range: Option<&str>) -> Result<HttpResponse, HttpError> {
    let status = response.status();
    match status.as_u16() {
        200..300 => {}
        408 | 425 | 429 | 500..600 if status.as_u16() != 501 && status.as_u16() != 505 => {
            let pause = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            // A date is not worth a clock: the own pause is taken.
            let pause = pause.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
            return Err(refused(Refusal::Busy(status.as_u16(), pause)));
        }
        // The store itself tells these apart.
        304 | 401 | 403 | 404 | 409 | 412 => return Ok(without_body(response)),
        other => return Err(refused(Refusal::Status(other))),
    }
    if let Some(range) = range {
        if status != StatusCode::PARTIAL_CONTENT {
            let reason = format!("status {} for a part: the server does not read ranges", status.as_u16());
            return Err(refused(Refusal::Answer(reason)));
        }
        let found = response.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
        let expected = ranges::check(range, found).map_err(|reason| refused(Refusal::Answer(reason)))?;
        let found = response.content_length().unwrap_or(expected);
        if found != expected {
            return Err(refused(Refusal::Length { expected, found }));
        }
    }
    let (parts, body) = ::http::Response::<Body>::from(response).into_parts();
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body.map_err(failed))))
}

/// The answer without its body, which may be endless, or have secrets.
fn without_body(response: Response) -> HttpResponse {
    let (parts, _) = ::http::Response::<Body>::from(response).into_parts();
    HttpResponse::from_parts(parts, HttpResponseBody::from(Vec::new()))
}

fn refused(refusal: Refusal) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, refusal)
}

/// Why a request of reqwest failed, without its URL.
fn failed(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    let mut kind = match () {
        () if error.is_timeout() => HttpErrorKind::Timeout,
        () if error.is_connect() => HttpErrorKind::Connect,
        () => HttpErrorKind::Interrupted,
    };
    let mut source: Option<&(dyn StdError + 'static)> = Some(&error);
    while let Some(current) = source {
        if let Some(found) = current.downcast_ref::<io::Error>() {
            match found.kind() {
                io::ErrorKind::TimedOut => kind = HttpErrorKind::Timeout,
                io::ErrorKind::PermissionDenied => {
                    return refused(Refusal::Redirect("a redirect to a private address".to_owned()));
                }
                _ => {}
            }
        }
        source = current.source();
    }
    HttpError::new(kind, error)
}
