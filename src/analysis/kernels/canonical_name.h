#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace profline::kernels {

/// One kernel as different tools spell it:
///
///   Kineto  void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...>
///   >(at::native::ReduceOp<float, ...>) nsys    void at::native::reduce_kernel<(int)512, (int)1,
///   at::native::ReduceOp<float, ...>>(T3) ncu     void at::reduce_kernel<512, 1,
///   at::ReduceOp<float, ...>>(T3)
///
/// A name is taken apart by its structure, once, without recursion and in time linear in its
/// length.
struct CanonicalName {
  /// The name with one spelling for each thing and with its namespaces: no return types, `const`
  /// before the type, `(anonymous namespace)`, `{lambda(int)#1}`, numbers and bools without casts
  /// and suffixes, single blanks. For people, and to tell names with one `key` apart.
  std::string full;
  /// What is left of `full` when all is taken away that a tool may leave out: namespaces, what the
  /// parameters of templates are called, the parameters of a template. Names of one kernel have the
  /// same key, whichever tool wrote them; names of two kernels may.
  std::string key;
  /// What people call it: `reduce_kernel<ReduceOp>`, `gpu_kernel_impl_nocast<DivFunctor>`.
  std::string short_name;
  /// The function alone: `reduce_kernel`. All that a tool asked for function names only shows.
  std::string function;

  /// The namespaces that `key` lacks: of the name that begins at a place in it.
  struct Namespaces {
    std::size_t at = 0;
    std::string path;  ///< `at::native`

    bool operator==(const Namespaces&) const = default;
  };
  std::vector<Namespaces> namespaces;  ///< in the order of the key

  bool operator==(const CanonicalName&) const = default;
};

/// Any text has a canonical name; one that is no C++ (`nvjet_sm90_tst_64x8`, `triton_poi_fused_0`)
/// is its own. Mangled names are demangled first.
CanonicalName canonical_name(std::string_view text);

/// Whether two spellings with the same key can be of one kernel: each name in the one has the
/// namespaces of its counterpart in the other, or some of them in the same order.
bool compatible(const CanonicalName& a, const CanonicalName& b);

/// A regular expression that matches this name and no other, in ncu's dialect as in Python's.
std::string exact_regex(std::string_view name);

/// A regular expression that finds the kernel however nsys, ncu or Kineto spells it: they write
/// casts, blanks, lambdas, unnamed namespaces and parameters of templates each in their own way. It
/// names the function and, in their order, the first things that tell its template arguments apart;
/// a kernel that differs only in later ones is found as well. A name that all tools spell alike
/// gets its exact one.
std::string spelling_regex(std::string_view name);

}  // namespace profline::kernels
