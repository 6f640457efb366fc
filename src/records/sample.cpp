#include "records/sample.h"

#include "base/strings.h"
#include "formats/json.h"
#include "formats/json_write.h"
#include "schema/read.h"

namespace profline {

std::string to_json_line(const Sample& sample) {
  return write_json(schema::write(sample), {.indent = 0}).value();
}

Result<std::vector<Sample>> parse_samples(std::string_view text, const std::string& source) {
  std::vector<Sample> samples;
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const auto in_line = [&](Error error) {
      return std::move(error).during(source + ":" + std::to_string(number));
    };
    auto row = parse_json(line, "");
    if (!row) return in_line(std::move(row).error());
    auto sample = schema::read<Sample>(*row);
    if (!sample) return in_line(std::move(sample).error());
    samples.push_back(std::move(*sample));
  }
  return samples;
}

}  // namespace profline
