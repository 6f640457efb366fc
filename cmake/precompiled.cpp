// Intentionally empty: this file's target exists for its precompiled headers.
