#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tiles/internal/row_writer.h"
#include "tiles/lanes.h"

namespace profline::tiles::internal {

/// What an open index keeps in memory: about 1/100 of the file.
struct Directory {
  std::string identity;  ///< of the capture
  CaptureFacts facts;
  std::vector<Lane> lanes;
  std::vector<RowDirectory> rows;
  std::vector<std::string> names;
  std::vector<Detail> details;

  /// Appends it and the trailer.
  Result<void> write(IndexFile& to) const;
  /// An Error of kind Parse, without a position, if it is not a directory.
  static Result<Directory> read(std::string_view bytes);
};

}  // namespace profline::tiles::internal
