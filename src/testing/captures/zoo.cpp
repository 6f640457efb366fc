#include "testing/captures/zoo.h"

#include <array>

#include "formats/chunks.h"
#include "testing/paths.h"

namespace profline::testing {

std::filesystem::path zoo_capture(const std::string& name) {
  return source_dir() / "tests/golden/zoo/nsys-2025.3_ncu-2025.3_kineto-2.11_h200" / name;
}

Result<std::string> unzipped(const std::filesystem::path& path) {
  GzipReader reader(PL_TRY(chunks_of_file(path)));
  std::string text;
  std::array<char, 65536> buffer{};
  while (const std::size_t bytes = PL_TRY(reader.read(buffer))) text.append(buffer.data(), bytes);
  if (reader.problem()) return Error(ErrorKind::Parse, *reader.problem());
  return text;
}

}  // namespace profline::testing
