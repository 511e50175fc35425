//! Request bodies and answers of WebDAV (RFC 4918) and CalDAV (RFC 4791): pure writers and streaming readers.
//!
//! Nothing here sends a request, trusts a server or decides what an answer means for an operation. Answers are read
//! leniently where servers are known to be odd and the meaning is still certain, and refused as [`fault::DavFault`]
//! everywhere else: a reader never turns a broken answer into an empty one.

pub mod calendar_multiget;
pub mod calendar_query;
pub mod compliance;
pub mod descriptor;
pub mod error_body;
pub mod etag;
pub mod fault;
pub mod free_busy_query;
pub mod mkcalendar;
pub mod multistatus;
pub mod name;
pub mod propfind;
pub mod proppatch;
pub mod props;
pub mod sync_collection;
pub mod xml;
