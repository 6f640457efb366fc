#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"

/// One ncu capture a kernel: which kernels, which of their launches, by which command, into which
/// files (`profline kernels profile`).
namespace profline::kernel_lab {

/// A kernel somebody wants to know more about.
struct WantedKernel {
  std::string name;
  std::string regex;  ///< what its name must match, somewhere; of names with template arguments
  std::string description;

  bool operator==(const WantedKernel&) const = default;
};
constexpr auto fields(std::type_identity<WantedKernel>) {
  using schema::field;
  return field_list(field("name", &WantedKernel::name, "what the kernel is called").required(),
                    field("regex", &WantedKernel::regex, "what its name must match").required(),
                    field("description", &WantedKernel::description, "for people"));
}

/// The name of a kernel that was given as a regular expression only.
inline constexpr std::string_view kUnnamed = "user_provided";

/// The kernels of a file as `profline kernels top` writes it, the first `at_most` of them. An Error
/// when there is none, or one that matches everything.
Result<std::vector<WantedKernel>> read_kernel_list(const Node& tree,
                                                   std::optional<std::size_t> at_most);

/// `kernel_0001_<md5 of the name>`: the folder of the kernel with this rank (from 1) among `count`.
std::string kernel_folder(std::size_t rank, std::size_t count, std::string_view name);

}  // namespace profline::kernel_lab
