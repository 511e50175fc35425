//! kalends-fuzz
