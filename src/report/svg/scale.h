#pragma once

#include <string>
#include <vector>

namespace profline::svg {

/// Where a value lies on an axis, from `begin` to `end` in pixels.
class Scale {
 public:
  static Scale linear(double low, double high, double begin, double end);
  /// Whole decades around the values, which are above 0.
  static Scale decades(double low, double high, double begin, double end);

  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

  struct Tick {
    double value = 0;
    std::string label;  ///< empty: only a line
  };
  /// Round values, some four to eight; of decades also what lies between.
  std::vector<Tick> ticks() const;

 private:
  double low_ = 0;
  double high_ = 1;
  double begin_ = 0;
  double end_ = 1;
  bool is_log_ = false;
};

}  // namespace profline::svg
