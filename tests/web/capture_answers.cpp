// Answers queries about the timeline of a capture, one per line of stdin, as `profline serve`
// would:
//
//   capture_answers CAPTURE INDEX           each answer is a line; an error is {"error": "..."}
//   capture_answers --make KERNELS CAPTURE  writes a capture of a decoding loop

#include <cstdio>
#include <iostream>
#include <string>

#include "formats/json.h"
#include "testing/captures/nsys_export.h"
#include "tiles/answer.h"
#include "tiles/build.h"

namespace {

using profline::Error;
using profline::Result;

int fail(const Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

Result<void> answer_all(const std::string& capture, const std::string& file) {
  PL_TRY(profline::tiles::build_index(capture, file, "test"));
  const profline::tiles::Index index = PL_TRY(profline::tiles::Index::open(file, "test"));
  std::string query;
  while (std::getline(std::cin, query)) {
    const Result<std::string> answer = profline::tiles::answer(index, query);
    std::cout << (answer ? *answer
                         : "{\"error\":" +
                               PL_TRY(profline::write_json(
                                   profline::Node::string(answer.error().to_string()),
                                   {.indent = 0})) +
                               "}")
              << std::endl;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (argc == 4 && first == "--make") {
    const auto made =
        profline::testing::write_decode_loop(argv[3], {.kernels = std::stoull(argv[2])});
    return made ? 0 : fail(made.error());
  }
  if (argc != 3) {
    std::cerr << "usage: capture_answers CAPTURE INDEX | --make KERNELS CAPTURE\n";
    return 2;
  }
  const auto done = answer_all(argv[1], argv[2]);
  return done ? 0 : fail(done.error());
}
