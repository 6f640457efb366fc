#pragma once

#include <string_view>

#include "base/result.h"

/// stdout has the result and stderr what is said about it; see docs/commands.md. Nothing else of
/// this program writes to either, the progress of a run aside (base/progress.h).
namespace profline {

/// How the shell that started us wants to learn that nobody reads our result any more.
enum class ClosedPipe {
  EndsBySignal,  ///< as usual: by SIGPIPE, without a word
  IsAnError,     ///< SIGPIPE was ignored when we started
};

/// Readies this process for whatever its streams are; to be called once, before any file is opened.
///
/// - A pipe that nobody reads (SIGPIPE) and the limit on the size of files (SIGXFSZ) are errors of
///   the write that meets them from now on, instead of the silent end of the program. Children have
///   the signals' defaults.
/// - A stream that is closed stays unusable, but no file that is opened gets its number.
ClosedPipe prepare_standard_streams();

/// Writes a part of the result to stdout, at once. A command that cannot has failed; the Error's
/// reason is kPipeClosed when nobody reads it.
Result<void> print_result(std::string_view text);
constexpr const char* kPipeClosed = "pipe_closed";

/// Whether all that print_result() wrote has arrived, as far as the system knows by now: file
/// systems of a network report a full disk only when a file is closed.
Result<void> check_result_arrived();

/// Writes a line to stderr. Where that is impossible nobody is left to tell.
void print_remark(std::string_view line);

/// Ends the program as one that writes to a closed pipe ends.
void end_by_closed_pipe();

}  // namespace profline
