#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "schema/read.h"
#include "serve/internal/pages.h"
#include "sweep/report.h"
#include "sweep/status.h"
#include "web/write_page.h"

namespace profline::serve {
namespace {

using web::Table;
using Align = Table::Align;

}  // namespace

Response sweeps_page(const Context& context) {
  constexpr std::size_t kMost = 200;
  const Snapshot& snapshot = *context.snapshot;
  Content content{.title = "Sweeps", .section = "Sweeps", .main = {}};
  Table table("sweeps", "sweeps, newest first",
              {{"sweep", Align::Left},
               {"started, UTC", Align::Left},
               {"jobs"},
               {"states", Align::Left},
               {"swept keys", Align::Left},
               {"launcher", Align::Left}});
  Markup problems;
  for (const ListedSweep& each : snapshot.sweeps) {
    if (table.rows() == kMost) break;
    const auto is_safe = context.library.check_files(each.folder);
    auto record = is_safe ? sweep::read_progress(each.folder) : is_safe.error();
    if (!record) {
      problems += element("li", text(record.error().to_string()));
      continue;
    }
    sweep::summarise(*record);
    std::string keys;
    for (const auto& [key, name] : sweep::short_keys(*record)) {
      keys += (keys.empty() ? "" : ", ") + name;
    }
    const std::string name = each.folder.filename().string();
    table.add({{link(address_of({.page = Page::Sweep, .id = each.id}), web::code(name)), {}, {}},
               {moment(record->started), {}, {}},
               web::number_cell(record->jobs.size()),
               web::text_cell(sweep::state_counts(*record)),
               web::text_cell(keys),
               web::text_cell(schema::name_of(record->launcher))});
  }
  content.main = element("h1", text("Sweeps")) +
                 element("p", {{"class", "lead"}}, text(counted(table.rows(), "sweep")));
  content.main += table.empty() ? note("There is no sweep. 'profline run --multirun' makes one.")
                                : table.markup();
  if (!problems.empty()) content.main += element("ul", {{"class", "notes"}}, problems);
  content.main += notes_of(context);
  return page_response(content);
}

Result<Response> sweep_page(const Context& context, const ListedSweep& listed) {
  PL_TRY(context.library.check_files(listed.folder));
  sweep::Sweep record = PL_TRY(sweep::read_progress(listed.folder));
  sweep::summarise(record);
  Response response;
  response.body = PL_TRY(
      web::sweep_page(record, listed.folder.filename().string(), site_links(context, nullptr)));
  return response;
}

}  // namespace profline::serve
