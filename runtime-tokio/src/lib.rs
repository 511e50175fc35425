//! kalends-tokio
