#pragma once

#include <string_view>

#include "base/result.h"

/// stdout has the result, stderr everything else; see docs/commands.md. Nothing else in this
/// program writes to either, except the progress of a run (base/progress.h).
namespace profline {

/// What to do if nobody reads our result any more, depending on how we were started.
enum class ClosedPipe {
  EndsBySignal,  ///< the default: end silently by SIGPIPE
  IsAnError,     ///< SIGPIPE was ignored when we started
};

/// Prepares this process for any state of its streams; call once, before any file is opened.
///
/// - A pipe without a reader (SIGPIPE) and the file size limit (SIGXFSZ) become errors of the write
/// that hits them, instead of silently ending the program. Children get the default signal actions.
/// - A closed stream stays unusable, but no opened file gets its descriptor.
ClosedPipe prepare_standard_streams();

/// Writes a part of the result to stdout immediately. A command that cannot write has failed; the
/// Error's reason is kPipeClosed if nobody reads it.
Result<void> print_result(std::string_view text);
constexpr const char* kPipeClosed = "pipe_closed";

/// Whether everything that print_result() wrote has arrived, as far as the system knows: network
/// file systems report a full disk only when a file is closed.
Result<void> check_result_arrived();

/// Writes a line to stderr. A failure is ignored: there is nowhere to report it.
void print_remark(std::string_view line);

/// Ends the program like any program that writes to a closed pipe.
void end_by_closed_pipe();

}  // namespace profline
