#pragma once

/// The two distributions that tests and intervals need; as good as a double allows, on every
/// machine.
namespace profline::statistics {

/// Share of the standard normal distribution below `z`.
double normal_cdf(double z);
/// The value below which the share `p` of it lies; 0 < p < 1.
double normal_quantile(double p);

/// The same of Student's t with `degrees` > 0 of freedom; infinitely many are the normal one.
double student_cdf(double t, double degrees);
double student_quantile(double p, double degrees);

}  // namespace profline::statistics
