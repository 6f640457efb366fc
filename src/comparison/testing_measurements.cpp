#include "comparison/testing_measurements.h"

#include <cmath>
#include <numeric>

namespace profline::comparison {

RunMeasurements measured_run(std::string id, std::vector<double> units, const std::string& metric) {
  RunMeasurements run;
  run.run.id = std::move(id);
  run.run.folder = "runs/" + run.run.id;
  run.run.state = "ok";
  run.run.device = "cuda:0";
  Node inputs = Node::map();
  Node images = Node::list();
  Series series;
  series.name = series.short_name = metric;
  series.unit = "ms";
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string image = "page-" + std::to_string(1000 + i);
    series.keys.push_back(image);
    NodeMap entry;
    entry.set("image", Node::string(image));
    entry.set("sha256", Node::string("digest of " + image));
    images.as_list().push_back(Node::map(std::move(entry)));
  }
  series.units = std::move(units);
  inputs.as_map().set("images", std::move(images));
  run.inputs = std::move(inputs);
  run.series.push_back(std::move(series));
  return run;
}

std::vector<double> noisy(std::uint64_t seed, std::size_t n, double centre, double deviation) {
  statistics::RandomNumbers random(seed);
  std::vector<double> values(n);
  for (double& value : values) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += (0.5 + random.below(1U << 30U)) / (1U << 30U);
    value = centre * std::exp(deviation * sum);
  }
  return values;
}

void add_kernel(RunMeasurements& run, const std::string& name, std::vector<double> units) {
  Series series;
  series.family = Family::Kernel;
  series.name = "ns::" + name;
  series.short_name = name;
  series.shape = "grid 4,1,1 block 128,1,1";
  series.unit = "us";
  series.calls = units.size() * 10;
  series.total = 10 * std::accumulate(units.begin(), units.end(), 0.0);
  series.units = std::move(units);
  run.series.push_back(std::move(series));
}

std::vector<std::string> hostile_names() {
  return {"<script>alert(1)</script>",
          "\"><img src=x onerror=alert(1)>",
          "' onmouseover='alert(1)",
          "| a | b |\n|--|--|\n# heading",
          "[click](javascript:alert(1)) ![i](http://x/y.png) https://evil.example",
          "`code` ``` <b>",
          "\x1b[31mred\x1b]0;title\x07",
          "\u202Egnirts\u2066",
          "--> <!-- ]]>",
          std::string(10'240, 'k')};
}

}  // namespace profline::comparison
