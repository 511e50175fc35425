//! kalends-blocking
