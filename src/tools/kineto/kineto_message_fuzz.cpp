#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tools/kineto/protocol.h"

// Any datagram is a message with at least one process, or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;
  const std::string_view datagram(reinterpret_cast<const char*>(data), size);
  const auto message = kineto::parse_message(datagram);
  if (!message) return 0;
  PL_ASSERT(!message->pids.empty() && message->pid() > 0, "a message names its process");
  PL_ASSERT(datagram.size() >= 40, "a message has a header");
  return 0;
}
