#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/ceilings.h"
#include "settings/hardware.h"

/// Which ceilings a run compares itself with: measured on the device, or published for it.
namespace profline::roofline {

/// The highest rates that were reached while a device was measured, in a burst or sustained, with
/// any shape and loop: no kernel should be faster. Floors of phases use the rate of reads. What was
/// not measured is as in `datasheet`; the source says so, and which loop each memory rate is from.
settings::Ceilings measured_ceilings(const MachineCeilings& measured,
                                     const settings::Ceilings& datasheet);

/// What is known about a device.
struct CeilingSources {
  std::string choice = "auto";  ///< the config's key `ceilings`
  settings::Ceilings datasheet{};
  std::optional<MachineCeilings> measured{};
  std::string why_not_measured{};  ///< why `measured` is absent
};

struct KnownCeilings {
  settings::Ceilings used;
  RunCeilings record;
};

/// Chooses: `datasheet`, or else the measured ones; `auto` uses the datasheet if the device was not
/// measured. The environment takes precedence. An Error of kind NotFound if measured ones were
/// asked for and do not exist.
Result<KnownCeilings> choose_ceilings(const CeilingSources& sources,
                                      const settings::Environment& environment);

}  // namespace profline::roofline
