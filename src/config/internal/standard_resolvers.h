#pragma once

#include "config/resolvers.h"

namespace profline::config::internal {

void add_omegaconf_resolvers(ResolverRegistry& registry);
void add_hydra_resolvers(ResolverRegistry& registry);

}  // namespace profline::config::internal
