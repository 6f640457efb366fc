// For any text: each line is read or reported as skipped, and requests are numbered in order.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/strings.h"
#include "workloads/program/python_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = profline::program::parse_python_record(text, "f");
  const std::size_t rows = record.requests.size() + record.models.size() + record.marks.size() +
                           record.gates.size() + record.problems.size() + record.skipped.size();
  PL_ASSERT(rows <= profline::lines(text).size(), "a line gives at most one row");
  for (std::size_t i = 0; i < record.requests.size(); ++i) {
    PL_ASSERT(record.requests[i].request.id == i, "requests are numbered in order");
    PL_ASSERT(record.requests[i].request.ns >= 0, "no request is negative");
  }
  return 0;
}
