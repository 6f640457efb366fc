#pragma once

#include <string>
#include <string_view>

namespace profline::kernels {

/// A regular expression that matches this name and no other, in ncu's dialect as in Python's.
std::string exact_regex(std::string_view name);

/// A regular expression that finds the kernel however nsys, ncu or Kineto spells it: they write
/// casts, blanks, lambdas, unnamed namespaces and parameters of templates each in their own way. It
/// names the function and, in their order, the first things that tell its template arguments apart;
/// a kernel that differs only in later ones is found as well. A name that all tools spell alike
/// gets its exact one.
std::string spelling_regex(std::string_view name);

}  // namespace profline::kernels
