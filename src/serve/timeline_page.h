#pragma once

#include "serve/site.h"
#include "tiles/timelines.h"

namespace profline::serve {

/// The timelines of a run's captures: `/runs/ID/timeline?capture=PATH` and its data,
/// `/api/runs/ID/tiles/PATH?QUERY` with the queries of docs/formats/tiles.md.
TimelineView timeline_view(tiles::Timelines& timelines);

}  // namespace profline::serve
