#pragma once

#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {

/// A folder whose `conf` has one group with two options, under the node in which any key is
/// allowed.
class SmallTree {
 public:
  SmallTree() {
    write_files(folder_.path(), {{"conf/config.yaml",
                                  "defaults:\n"
                                  "  - db: mysql\n"
                                  "  - _self_\n"
                                  "vars:\n"
                                  "  name: shop\n"
                                  "  url: ${vars.db.host}:${vars.db.port}\n"},
                                 {"conf/db/mysql.yaml",
                                  "# @package vars.db\n"
                                  "host: localhost\n"
                                  "port: 3306\n"},
                                 {"conf/db/postgresql.yaml",
                                  "# @package vars.db\n"
                                  "host: pg\n"
                                  "port: 5432\n"
                                  "ssl: true\n"}});
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  Outcome run(std::vector<std::string> arguments) const {
    return run_profline_in(path(), std::move(arguments));
  }

 private:
  testing::TempDir folder_;
};

}  // namespace profline::e2e
