//! Takes a response body in, decoding `gzip` on the way.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::response::Parts;
use http::{HeaderMap, Response};
use kalends_core::machine::{Failure, FailureKind, Intake, Sent};

/// A response whose body is still coming. What is decoded but not yet counted never exceeds one small buffer.
pub(crate) struct Incoming {
    head: Parts,
    body: Body,
}

enum Body {
    Plain(Intake),
    /// Nothing has come yet of a body that will be `gzip`.
    Awaited(Intake),
    Gzip(Box<MultiGzDecoder<Counted>>),
}

impl Incoming {
    pub(crate) fn new(mut head: Parts, mut intake: Intake) -> Self {
        let length = head
            .headers
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        intake.expect(length.unwrap_or(0));
        let body = if take_gzip(&mut head.headers) {
            Body::Awaited(intake)
        } else {
            Body::Plain(intake)
        };
        Self { head, body }
    }

    /// Takes the next piece as it came over the wire.
    pub(crate) fn push(mut self, chunk: &[u8]) -> Result<Self, Failure> {
        self.body = match self.body {
            Body::Plain(mut intake) => {
                intake.push(chunk)?;
                Body::Plain(intake)
            }
            Body::Awaited(intake) if chunk.is_empty() => Body::Awaited(intake),
            Body::Awaited(intake) => decode(Box::new(MultiGzDecoder::new(Counted { intake, full: None })), chunk)?,
            Body::Gzip(decoder) => decode(decoder, chunk)?,
        };
        Ok(self)
    }

    /// The response, complete.
    pub(crate) fn finish(self) -> Result<Response<Bytes>, Failure> {
        let intake = match self.body {
            Body::Plain(intake) | Body::Awaited(intake) => intake,
            Body::Gzip(mut decoder) => {
                let end = decoder.try_finish();
                fault(&decoder, end)?;
                decoder.finish().map_err(|_| BROKEN)?.intake
            }
        };
        Ok(intake.finish(self.head))
    }
}

const BROKEN: Failure = Failure {
    sent: Sent::Maybe,
    kind: FailureKind::Broken,
};

fn decode(mut decoder: Box<MultiGzDecoder<Counted>>, chunk: &[u8]) -> Result<Body, Failure> {
    let end = decoder.write_all(chunk);
    fault(&decoder, end)?;
    Ok(Body::Gzip(decoder))
}

/// Tells a body that is too large from one that is no gzip.
fn fault(decoder: &MultiGzDecoder<Counted>, end: io::Result<()>) -> Result<(), Failure> {
    end.map_err(|_| decoder.get_ref().full.unwrap_or(BROKEN))
}

/// Where the decoder writes to.
struct Counted {
    intake: Intake,
    full: Option<Failure>,
}

impl Write for Counted {
    fn write(&mut self, decoded: &[u8]) -> io::Result<usize> {
        self.intake.push(decoded).map_err(|failure| {
            self.full = Some(failure);
            io::Error::other("the body passed its limit")
        })?;
        Ok(decoded.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether the body is `gzip` (RFC 9110, 8.4.1.3). If so, the headers stop describing its coded form.
fn take_gzip(headers: &mut HeaderMap) -> bool {
    let coding = headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().trim_ascii());
    let is_gzip = coding.is_some_and(|name| name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip"));
    if is_gzip {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    is_gzip
}
