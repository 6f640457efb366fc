#include "kernel_lab/command_file.h"

#include <array>

#include "formats/yaml.h"
#include "formats/yaml_write.h"
#include "schema/diff.h"
#include "schema/read.h"

namespace profline::kernel_lab {
namespace {

constexpr std::array kDecisive = {"launch_skip",  "launch_count", "launches_spread",
                                  "launch_range", "ncu_cli",      "launch_command",
                                  "working_dir"};

Node decisive_part(const CommandFile& file) {
  const Node whole = schema::write(file);
  NodeMap part;
  for (const char* key : kDecisive) part.set(key, *whole.find(key));
  return Node::map(std::move(part));
}

}  // namespace

std::string to_yaml(const CommandFile& file) {
  return write_yaml(schema::write(file));
}

Result<CommandFile> parse_command_file(const std::string& text, const std::string& source) {
  return schema::read<CommandFile>(PL_TRY(parse_yaml(text, source)));
}

std::vector<std::string> differences(const CommandFile& before, const CommandFile& now) {
  std::vector<std::string> texts;
  for (const schema::Change& change : schema::diff(decisive_part(before), decisive_part(now))) {
    texts.push_back(change.to_string());
  }
  return texts;
}

}  // namespace profline::kernel_lab
