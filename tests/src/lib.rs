//! kalends-tests
