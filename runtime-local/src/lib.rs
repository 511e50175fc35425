//! kalends-local
