"""The built-in adapters. Each imports `collectord.sessiondata`, `.sources` and `.adapter` only."""
