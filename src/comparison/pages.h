#pragma once

#include <cstddef>
#include <string>

#include "comparison/comparison.h"

namespace profline::comparison {

struct PageOptions {
  std::size_t top = 20;  ///< rows of operators and kernels that are shown
};

/// Markdown for a pull request: what matters first, the rest folded.
std::string markdown_page(const Comparison& comparison, const PageOptions& options = {});

/// A single HTML file that loads nothing.
std::string html_page(const Comparison& comparison, const PageOptions& options = {});

}  // namespace profline::comparison
