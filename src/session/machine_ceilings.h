#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/roofline/known_ceilings.h"
#include "base/result.h"
#include "config/defaults/search_path.h"
#include "records/ceilings.h"
#include "session/services.h"
#include "settings/hardware.h"

/// The ceilings that `profline ceilings` measured on this machine, and which of all known ones are
/// used.
namespace profline::session {

/// What ceilings are of.
struct MeasuredDevice {
  std::string name;          ///< the driver's name; empty: the CPU
  std::string uuid;          ///< "GPU-…"; empty: of any device of that name
  std::int64_t threads = 0;  ///< on a CPU; 0: all that this program may use

  bool is_gpu() const { return !name.empty(); }
};

/// Where measured ceilings are kept: `$XDG_DATA_HOME/profline/ceilings`, by default in
/// `~/.local/share`. Empty: neither variable is set.
std::filesystem::path ceilings_folder();

/// Keeps them for later runs, and returns the file.
Result<std::filesystem::path> keep_ceilings(const MachineCeilings& ceilings);

/// What was kept for a device; an Error of kind NotFound, which names `profline ceilings`, if
/// nothing was, or for another processor.
Result<MachineCeilings> kept_ceilings(const MeasuredDevice& device);

/// The file where those of a device are kept; empty: nothing was.
std::filesystem::path kept_file(const MeasuredDevice& device);

/// A file of `profline ceilings`.
Result<MachineCeilings> load_ceilings(const std::filesystem::path& file);

/// Which ceilings a run uses. `choice` is the config's key `ceilings`; files are relative to `cwd`.
struct CeilingsChoice {
  std::string choice = "auto";
  std::filesystem::path cwd{};
};

/// The ceilings of a device, which may be named without the driver's `NVIDIA`: from the table on
/// the search path and from measurements.
Result<roofline::KnownCeilings> ceilings_for(const config::SearchPath& search_path,
                                             const MeasuredDevice& device,
                                             const CeilingsChoice& choice = {});

struct CeilingsMeasurement {
  settings::Device device{.kind = settings::Device::Kind::Auto, .index = {}};
  std::int64_t threads = 0;  ///< on a CPU; 0: all
  double seconds = 90;       ///< at most
  std::string workload;      ///< profline-workload; empty: found automatically
};

/// Measures this machine with profline-workload.
Result<MachineCeilings> measure_machine(const CeilingsMeasurement& request,
                                        const Services& services);

/// The device that a measurement is of, so far as it is known without measuring.
Result<MeasuredDevice> device_to_measure(const CeilingsMeasurement& request);

}  // namespace profline::session
