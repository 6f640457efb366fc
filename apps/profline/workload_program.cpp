#include "workload_program.h"

#include "process/find_program.h"

namespace profline {

namespace fs = std::filesystem;

Result<fs::path> find_workload(const std::string& given) {
  if (!given.empty()) return find_program(given);
  std::error_code failure;
  const auto self = fs::read_symlink("/proc/self/exe", failure);
  const auto beside = self.parent_path() / "profline-workload";
  if (!failure && fs::exists(beside, failure)) return beside;
  return find_program("profline-workload");
}

Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver) {
  using Kind = settings::Device::Kind;
  const settings::Device cpu{.kind = Kind::Cpu, .index = {}};
  if (asked.kind == Kind::Cpu) return cpu;
  if (asked.kind == Kind::Auto && !driver) return cpu;
  const std::uint16_t index = asked.index.value_or(0);
  if (!driver) {
    return Error(ErrorKind::NotFound, "device " + asked.to_string() + ": " +
                                          driver.error().message() + "; device=cpu does without");
  }
  if (index >= driver->devices.size()) {
    return Error(ErrorKind::NotFound, "device " + asked.to_string() + ": there are " +
                                          std::to_string(driver->devices.size()) +
                                          " CUDA devices here");
  }
  return settings::Device{.kind = Kind::Cuda, .index = index};
}

}  // namespace profline
