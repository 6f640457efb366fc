#include "stages/ncu/internal/files.h"

namespace profline::stages::internal {

bool NcuFiles::has_report(std::size_t group) const {
  std::error_code failure;
  return std::filesystem::file_size(report(group), failure) > 0 && !failure;
}

bool NcuFiles::was_rerun() const {
  std::error_code failure;
  return std::filesystem::exists(command({.without_gate = true}), failure);
}

ncu::Installation ncu_of(const pipeline::Toolbox& tools) {
  if (tools.ncu && *tools.ncu) return **tools.ncu;
  return {"ncu", {}};
}

}  // namespace profline::stages::internal
