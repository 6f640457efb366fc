#include "workload/model/torch_errors.h"

#include <c10/util/Exception.h>

namespace profline::workload {

Error torch_error(const std::exception& thrown) {
  const auto* own = dynamic_cast<const c10::Error*>(&thrown);
  std::string message = own == nullptr ? thrown.what() : own->what_without_backtrace();
  if (const auto end = message.find('\n'); end != std::string::npos) message.resize(end);
  return {ErrorKind::Tool, "libtorch: " + message};
}

}  // namespace profline::workload
