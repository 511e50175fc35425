//! A guarded, namespace-aware pull reader and a small writer of XML 1.0.
//!
//! The tokens are quick-xml's, which checks little; this module refuses what is dangerous or broken: a DOCTYPE, any
//! entity but the five of XML, illegal characters, a second root, text or an XML declaration in the wrong place, an
//! end of input inside an element, an undeclared prefix, and everything above [`Limits`]. Accepted although XML or
//! Namespaces forbid it, because it is harmless and met: relative namespace names, `]]>` in text, and, where the
//! reader is told so by [`Reader::tolerate_undeclared`], undeclared prefixes on names that nothing would be read from.

mod reader;
mod text;
mod writer;

pub use reader::Reader;
pub(in crate::dav) use text::resolved;
pub use writer::Writer;

/// The deepest nesting of elements that is accepted.
pub const MAX_DEPTH: usize = 64;

/// Bounds of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the body.
    pub bytes: usize,
    /// Elements in the document.
    pub elements: usize,
    /// Attributes of one element.
    pub attributes: usize,
    /// Bytes of text of one element.
    pub text: usize,
    /// Hrefs in a multistatus.
    pub responses: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            elements: 4_000_000,
            attributes: 64,
            text: 4 << 20,
            responses: 50_000,
        }
    }
}

/// Which of the [`Limits`] was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// Bytes of the body.
    Bytes,
    /// Elements.
    Elements,
    /// Attributes of one element.
    Attributes,
    /// Namespace declarations in force.
    Bindings,
    /// Elements within each other.
    Depth,
    /// Bytes of text of one element.
    Text,
    /// Hrefs in a multistatus.
    Responses,
}

impl std::fmt::Display for Limited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Elements => "elements",
            Self::Attributes => "attributes of one element",
            Self::Bindings => "namespace declarations in force",
            Self::Depth => "elements within each other",
            Self::Text => "bytes of text of one element",
            Self::Responses => "responses",
        })
    }
}

/// Why a document is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XmlFault {
    /// There is no element.
    Empty,
    /// Declared in, or evidently written in, an encoding other than UTF-8; the name is ASCII and at most 40 long.
    Encoding(String),
    /// Not UTF-8, and no other encoding is declared.
    NotUtf8,
    /// A character that XML forbids, written as itself or as a reference.
    Character,
    /// A document type declaration.
    Doctype,
    /// An entity other than the five that XML defines.
    Entity,
    /// Text, a second root or an XML declaration where none may stand.
    Misplaced,
    /// The end of the input inside an element or tag.
    Truncated,
    /// A prefix that is not declared.
    UndeclaredPrefix,
    /// Any other breach of the grammar.
    Malformed,
    /// A bound was reached.
    Limit {
        /// Which.
        limited: Limited,
        /// How much was seen when that was noticed.
        observed: usize,
        /// The bound.
        limit: usize,
    },
}

impl std::fmt::Display for XmlFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no element"),
            Self::Encoding(name) => write!(f, "the encoding is {name}, not UTF-8"),
            Self::NotUtf8 => f.write_str("the text is not UTF-8"),
            Self::Character => f.write_str("there is a character that XML forbids"),
            Self::Doctype => f.write_str("there is a document type declaration"),
            Self::Entity => f.write_str("there is an unknown entity"),
            Self::Misplaced => f.write_str("there is text or a declaration outside of the document"),
            Self::Truncated => f.write_str("the document is cut short"),
            Self::UndeclaredPrefix => f.write_str("a namespace prefix is not declared"),
            Self::Malformed => f.write_str("the document is not well-formed"),
            Self::Limit {
                limited,
                observed,
                limit,
            } => write!(f, "there are {observed} {limited}, and {limit} are accepted"),
        }
    }
}

impl std::error::Error for XmlFault {}
