#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace profline::kernels {

/// One kernel as different tools spell it:
///
///   Kineto  void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...>
///           >(at::native::ReduceOp<float, ...>)
///   nsys    void at::native::reduce_kernel<(int)512, (int)1,
///           at::native::ReduceOp<float, ...>>(T3)
///   ncu     void at::reduce_kernel<512, 1, at::ReduceOp<float, ...>>(T3)
///
/// Names are parsed once, without recursion and in time linear in their length.
struct CanonicalName {
  /// The name with its namespaces and a single spelling of everything: no return types, `const`
  /// before the type, `(anonymous namespace)`, `{lambda(int)#1}`, numbers and bools without casts
  /// and suffixes, single blanks. For display, and to distinguish names with the same `key`.
  std::string full;
  /// `full` without everything that a tool may leave out: namespaces, names of template parameters,
  /// the parameters of a template. Spellings of one kernel have the same key, whichever tool wrote
  /// them; two different kernels may share one.
  std::string key;
  /// For display: `reduce_kernel<ReduceOp>`, `gpu_kernel_impl_nocast<DivFunctor>`.
  std::string short_name;
  /// The function alone: `reduce_kernel`. This is all that a tool shows if asked for function names
  /// only.
  std::string function;

  /// The namespaces that `key` lacks, for the name that begins at a position in it.
  struct Namespaces {
    std::size_t at = 0;
    std::string path;  ///< `at::native`

    bool operator==(const Namespaces&) const = default;
  };
  std::vector<Namespaces> namespaces;  ///< in the order of the key

  bool operator==(const CanonicalName&) const = default;
};

/// Every text has a canonical name; one that is not C++ (`nvjet_sm90_tst_64x8`,
/// `triton_poi_fused_0`) is its own. Mangled names are demangled first.
CanonicalName canonical_name(std::string_view text);

/// Whether two spellings with the same key can belong to one kernel: each name in one has the
/// namespaces of its counterpart in the other, or a subsequence of them.
bool compatible(const CanonicalName& a, const CanonicalName& b);

/// A regular expression that matches only this name, valid for both ncu and Python.
std::string exact_regex(std::string_view name);

/// A regular expression that finds the kernel however nsys, ncu or Kineto spells it: they differ in
/// casts, blanks, lambdas, unnamed namespaces and template parameters. It contains the function
/// and, in order, the first parts that distinguish its template arguments; a kernel that differs
/// only in later ones is found as well. A name that all tools spell alike gets an exact expression.
std::string spelling_regex(std::string_view name);

}  // namespace profline::kernels
