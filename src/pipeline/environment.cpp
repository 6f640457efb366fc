#include "pipeline/environment.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "process/runner.h"
#include "schema/read.h"

namespace profline::pipeline {
namespace {

Result<nsys::Installation> find_nsys(ProcessRunner& processes, const std::string& name) {
  return nsys::survey(processes, PL_TRY(nsys::choose_nsys(processes, name)));
}

Result<ncu::Installation> find_ncu(ProcessRunner& processes, const std::string& name,
                                   bool has_gpu) {
  return ncu::survey(processes, PL_TRY(find_program(name)), has_gpu);
}

std::string absolute_name(const std::filesystem::path& program) {
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::absolute(program, failure);
  return failure ? program.string() : path.lexically_normal().string();
}

constexpr double kKilo = 1000;

std::string text_of(const char* file) {
  return std::string(trim(read_file(file).value_or("")));
}

/// The value after `key` and `separator` in the first line that begins with the key.
std::string value_of(const std::string& text, std::string_view key, char separator) {
  for (const std::string_view line : lines(text)) {
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos || trim(line.substr(0, at)) != key) continue;
    return std::string(trim(line.substr(at + 1)));
  }
  return {};
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<double> megahertz(const char* file) {
  const auto kilohertz = number(text_of(file));
  if (!kilohertz) return std::nullopt;
  return *kilohertz / kKilo;
}

std::string model_in(const std::string& info) {
  return value_of(info, "model name", ':');
}

CpuFacts look_at_cpu() {
  const std::string info = read_file("/proc/cpuinfo").value_or("");
  CpuFacts cpu;
  cpu.model = model_in(info);
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) cpu.threads = CPU_COUNT(&usable);
  cpu.governor = text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  cpu.mhz = number(value_of(info, "cpu MHz", ':'));
  cpu.max_mhz = megahertz("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  return cpu;
}

std::string unquoted(std::string text) {
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

void look_at_gpus(const Toolbox& tools, ProcessRunner& processes, Environment& environment) {
  if (!tools.driver || !*tools.driver) return;
  const gpu::Driver& driver = tools.driver->value();
  environment.driver =
      gpu::kernel_module_version(read_file("/proc/driver/nvidia/version").value_or(""));
  environment.cuda = std::to_string(driver.cuda_major) + "." + std::to_string(driver.cuda_minor);
  for (const gpu::Device& device : driver.devices) {
    GpuFacts facts;
    facts.index = device.index;
    facts.name = device.name;
    facts.uuid = device.uuid;
    facts.compute_capability =
        std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
    facts.memory_bytes = device.memory_bytes;
    environment.gpus.push_back(std::move(facts));
  }
  const auto clocks = output_of(
      processes, {"nvidia-smi",
                  "--query-gpu=uuid,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.limit,"
                  "persistence_mode",
                  "--format=csv,noheader,nounits"});
  if (clocks) add_clocks(*clocks, environment.gpus);
}

template <typename Installation>
std::optional<ProgramFacts> program_facts(const std::optional<Result<Installation>>& found) {
  if (!found || !*found) return std::nullopt;
  return ProgramFacts{(*found)->program.string(), (*found)->version.to_string()};
}

void look_at_workload(const Toolbox& tools, ProcessRunner& processes, Environment& environment) {
  if (!tools.workload || !*tools.workload) return;
  const std::string path = tools.workload->value().string();
  environment.workload = ProgramFacts{path, ""};
  const auto answer = output_of(processes, {path, "--version", "--format", "json"});
  if (!answer) return;
  auto facts = parse_json(*answer, "profline-workload --version");
  if (!facts) return;
  const Node* version = facts->find_path("workload.version");
  if (version != nullptr && version->is_string()) {
    environment.workload->version = version->as_string();
  }
  if (facts->is_map()) facts->as_map().erase("workload");
  environment.libtorch = std::move(*facts);
}

std::map<std::string, std::string> relevant_variables() {
  std::map<std::string, std::string> variables;
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
        "CUBLAS_WORKSPACE_CONFIG", "MFU_PEAK_TFLOPS", "MEM_BANDWIDTH_GBS", "MKL_NUM_THREADS",
        "NVIDIA_TF32_OVERRIDE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
        "PYTORCH_CUDA_ALLOC_CONF"}) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  return variables;
}

}  // namespace

std::string cpu_model() {
  return model_in(read_file("/proc/cpuinfo").value_or(""));
}

Toolbox survey(const Survey& survey, ProcessRunner& processes) {
  Toolbox tools;
  tools.driver = survey.driver;
  if (survey.workload) tools.workload = survey.find_workload();
  if (!survey.executable.empty()) tools.companions = program::find_companions(survey.executable);
  tools.profline = survey.executable;
  if (survey.nsys) tools.nsys = find_nsys(processes, survey.nsys_program);
  const bool has_gpu = tools.driver && *tools.driver;
  if (survey.ncu) tools.ncu = find_ncu(processes, survey.ncu_program, has_gpu);
  return tools;
}

ToolsRecord remembered_tools(const Toolbox& tools, ToolsRecord before) {
  ToolsRecord remembered = std::move(before);
  if (tools.workload && *tools.workload) remembered.workload = absolute_name(**tools.workload);
  if (tools.nsys && *tools.nsys) remembered.nsys = absolute_name((*tools.nsys)->program);
  if (tools.ncu && *tools.ncu) remembered.ncu = absolute_name((*tools.ncu)->program);
  return remembered;
}

void add_clocks(const std::string& csv, std::vector<GpuFacts>& gpus) {
  constexpr std::size_t kColumns = 7;
  for (const std::string_view line : lines(csv)) {
    const auto cells = split(line, ',');
    if (cells.size() != kColumns) continue;
    for (GpuFacts& gpu : gpus) {
      if (gpu.uuid != trim(cells[0])) continue;
      gpu.sm_mhz = number(trim(cells[1]));
      gpu.max_sm_mhz = number(trim(cells[2]));
      gpu.memory_mhz = number(trim(cells[3]));
      gpu.max_memory_mhz = number(trim(cells[4]));
      gpu.power_limit_w = number(trim(cells[5]));
      gpu.persistence = trim(cells[6]);
    }
  }
}

Environment look_around(const Toolbox& tools, ProcessRunner& processes) {
  Environment environment;
  utsname system{};
  if (::uname(&system) == 0) {
    environment.host = system.nodename;
    environment.kernel = system.release;
  }
  const std::string release = read_file("/etc/os-release").value_or("");
  environment.os = unquoted(value_of(release, "PRETTY_NAME", '='));
  environment.cpu = look_at_cpu();
  environment.memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                             static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  look_at_gpus(tools, processes, environment);
  environment.nsys = program_facts(tools.nsys);
  environment.ncu = program_facts(tools.ncu);
  look_at_workload(tools, processes, environment);
  environment.variables = relevant_variables();
  return environment;
}

Node to_node(const Environment& environment) {
  NodeMap document;
  document.set("schema", Node::string(kEnvironmentSchema));
  const Node written = schema::write(environment);
  for (const NodeMap::Entry& entry : written.as_map()) document.set(entry.key, entry.value);
  return Node::map(std::move(document));
}

}  // namespace profline::pipeline
