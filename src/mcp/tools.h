#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "mcp/protocol.h"
#include "session/services.h"

namespace profline::mcp {

/// What an assistant should know before it uses the tools.
std::string_view instructions();

enum class AllowRun : bool { No, Yes };

/// The tools over the runs below some roots.
class Tools final : public Toolset {
 public:
  /// The services must outlive it.
  Tools(catalog::Catalog catalog, const session::Services& services, AllowRun allow_run)
      : catalog_(std::move(catalog)), services_(services), allow_run_(allow_run) {}

  std::vector<ToolDescription> list() const override;
  Result<Node> call(std::string_view tool, const Node& arguments,
                    const Follower& follower) override;

 private:
  catalog::Catalog catalog_;
  const session::Services& services_;
  AllowRun allow_run_;
};

}  // namespace profline::mcp
