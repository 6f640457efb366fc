#include "kernel_lab/kernel_list.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/md5.h"
#include "schema/read.h"

namespace profline::kernel_lab {
namespace {

struct KernelFile {
  std::vector<WantedKernel> kernels;
};
constexpr auto fields(std::type_identity<KernelFile>) {
  return field_list(
      schema::field("kernels", &KernelFile::kernels, "name and regex of each").required());
}

constexpr std::size_t kFewestDigits = 4;

}  // namespace

Result<std::vector<WantedKernel>> read_kernel_list(const Node& tree,
                                                   std::optional<std::size_t> at_most) {
  KernelFile file = PL_TRY(schema::read<KernelFile>(tree));
  if (file.kernels.empty()) {
    return Error(ErrorKind::Config, "'kernels' is empty: there is nothing to profile",
                 tree.position());
  }
  const Node::List& entries = tree.find("kernels")->as_list();
  for (std::size_t i = 0; i < file.kernels.size(); ++i) {
    if (!file.kernels[i].regex.empty()) continue;
    return Error(ErrorKind::Config,
                 fmt::format("kernels.{}: an empty regex would match every kernel", i),
                 entries[i].position());
  }
  if (at_most && *at_most < file.kernels.size()) file.kernels.resize(*at_most);
  return std::move(file.kernels);
}

std::string kernel_folder(std::size_t rank, std::size_t count, std::string_view name) {
  const std::size_t digits = std::max(kFewestDigits, fmt::format("{}", count).size());
  return fmt::format("kernel_{:0{}}_{}", rank, digits, md5_hex(name));
}

}  // namespace profline::kernel_lab
