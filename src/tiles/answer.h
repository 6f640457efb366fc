#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tiles/index.h"

namespace profline::tiles {

/// The answer to a query (see query.h), as one JSON document of docs/formats/tiles.md:
///
///   answer(index, "what=window&from=0&to=1000000&pixels=1200&lanes=0,1")
///
/// A pure function of the index and the query; several threads may call it. An Error of kind Config
/// is about the query, one of kind NotFound about a lane or event that is not there, any other
/// about the index.
Result<std::string> answer(const Index& index, std::string_view query);

}  // namespace profline::tiles
