//! kalends-mcp
