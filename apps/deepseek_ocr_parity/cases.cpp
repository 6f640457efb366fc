#include "cases.h"

#include "base/files.h"
#include "formats/json.h"
#include "schema/read.h"

namespace profline::parity {

const std::string kPattern =
    "x[c,i,j]=sin(0.011*(c+1)*(i+1+37*k))*cos(0.017*(j+1+11*c)), k=0 for the global view, k=1.. "
    "for "
    "local views; float64 then cast to float32";

namespace {

Result<void> check(const Case& one, const std::string& source) {
  const auto wrong = [&](const std::string& what) {
    return Error(ErrorKind::Parse, "case '" + one.name + "': " + what, {source});
  };
  if (one.grid_wh.size() != 2) return wrong("grid_wh must be two numbers");
  if (one.local) {
    if (one.local->size() != 2) return wrong("local must be two numbers or null");
    if (one.local->front() != one.grid_wh[0] * one.grid_wh[1]) {
      return wrong("local must have as many tiles as grid_wh");
    }
  }
  if (one.greedy_ids.empty()) return wrong("greedy_ids must not be empty");
  return {};
}

}  // namespace

Result<Cases> load_cases(const std::filesystem::path& path) {
  const std::string text = PL_TRY(read_file(path));
  auto cases = PL_TRY(schema::read<Cases>(PL_TRY(parse_json(text, path.string()))));
  for (const Case& one : cases.cases) PL_TRY(check(one, path.string()));
  return cases;
}

}  // namespace profline::parity
