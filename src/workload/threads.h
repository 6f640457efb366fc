#pragma once

namespace profline::workload {

/// Lets libtorch, and the BLAS it was given, use this many CPU threads from now on.
///
/// libtorch's own switch does not reach Debian's OpenBLAS, which then starts a thread a core for
/// every product worth it; on a busy machine those wait for each other (the tiny model's first
/// tower took 226 ms instead of 2.5 on two loaded cores).
void use_threads(int count);

}  // namespace profline::workload
