//! What a TZID means: local time to instant and back.
