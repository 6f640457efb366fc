#pragma once

namespace profline {

/// The variable in which profline-workload gets the values that its config file has as
/// `<redacted>`: JSON, under their keys. By its name it is a secret itself.
inline constexpr const char* kConfigSecrets = "PROFLINE_CONFIG_SECRETS";

}  // namespace profline
