#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "mcp/protocol.h"

namespace profline::mcp {

/// Writes a whole line. An Error ends the conversation.
using Write = std::function<Result<void>(const std::string& line)>;

/// Answers everything that arrives on the descriptor `in` until it ends, in order and by this
/// thread. Another thread reads, and answers pings at once: a run takes minutes, and a client must
/// be able to see that somebody is there. Lines are written one at a time, by either thread.
Result<void> converse(Server& server, int in, const Write& write);

}  // namespace profline::mcp
