#pragma once

#include <memory>

#include "base/progress.h"
#include "mcp/protocol.h"

namespace profline::mcp {

/// A Progress that does what `shown` does; the follower hears which step begins, ends or is going
/// on.
std::unique_ptr<Progress> followed_by(Follower follower, std::unique_ptr<Progress> shown);

}  // namespace profline::mcp
