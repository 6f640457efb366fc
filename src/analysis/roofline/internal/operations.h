#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/roofline/roofline.h"
#include "records/counters.h"

namespace profline::roofline::internal {

/// The counters of one kernel by name.
class Lookup {
 public:
  Lookup(const CounterReport& report, const ProfiledKernel& kernel);

  /// The counter, if it is in this unit; in another unit it means something else.
  std::optional<double> find(std::string_view name, std::string_view unit) const;
  /// In any unit.
  std::optional<double> find(std::string_view name) const;
  /// The first one that exists, of several names for the same counter.
  std::optional<double> first_of(std::initializer_list<std::string_view> names,
                                 std::string_view unit) const;

  template <typename Visit>
  void each(Visit visit) const {
    for (const auto& [name, counter] : first_) visit(name, counter->value);
  }

 private:
  const CounterReport& report_;
  const ProfiledKernel& kernel_;
  std::unordered_map<std::string_view, const Counter*> first_;
};

/// Adds the operations of the tensor cores and the vector cores to the measurement.
void add_tensor_work(const Lookup& counters, std::string_view compute_capability,
                     Measurement& measured);
void add_vector_work(const Lookup& counters, Measurement& measured);

}  // namespace profline::roofline::internal
