#include "settings/root.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "formats/yaml.h"
#include "schema/read.h"

namespace profline::settings {
namespace {

Node yaml(std::string_view text) {
  auto node = parse_yaml(text, "c.yaml");
  EXPECT_TRUE(node) << node.error().to_string();
  return node ? *node : Node();
}

/// All problems, one per line; empty if the config is valid.
std::string problems_of(std::string_view text) {
  const auto root = read_settings(yaml(text));
  return root ? std::string() : root.error().to_string();
}

struct WrongInput {
  std::string_view name;
  std::string_view text;
  std::string_view problems;
};

void expect_problems(std::span<const WrongInput> cases) {
  for (const WrongInput& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(problems_of(c.text), c.problems);
  }
}

TEST(ReadSettings, GivesDefaultsForWhatIsNotThere) {
  const auto root = read_settings(yaml("{}"));
  ASSERT_TRUE(root) << root.error().to_string();
  EXPECT_EQ(*root, Root{});
  EXPECT_EQ(root->device.to_string(), "cuda:0");
  EXPECT_EQ(std::get<deepseek_ocr::Subject>(root->subject).infer.max_new_tokens, 8192U);
}

TEST(ReadSettings, FollowsTheKindOfWorkloadForModelAndInfer) {
  const auto root =
      read_settings(yaml("pipeline: {workload: {kind: dummy_shallow_resnet}}\n"
                         "device: cpu\n"
                         "infer: {batch_size: 8, dtype: bfloat16, device: cpu}\n"));
  ASSERT_TRUE(root) << root.error().to_string();
  const auto& subject = std::get<dummy_shallow_resnet::Subject>(root->subject);
  EXPECT_EQ(subject.infer.batch_size, 8U);
  EXPECT_EQ(subject.infer.dtype, Dtype::Bf16);
  EXPECT_EQ(root->device.kind, Device::Kind::Cpu);
}

TEST(ReadSettings, AProgramHasNeitherInferNorDataset) {
  const auto root = read_settings(
      yaml("pipeline: {workload: {kind: program, command: [python3, x.py], python: off}}\n"
           "experiment: ''\n"
           "model: {config: config.json}\n"));
  ASSERT_TRUE(root) << root.error().to_string();
  EXPECT_EQ(std::get<program::Subject>(root->subject).model.config, "config.json");
  EXPECT_EQ(root->pipeline.workload.python, PythonAdapter::Off);
  EXPECT_EQ(root->pipeline.workload.request_range, "request");
  EXPECT_EQ(root->experiment_name(), "x.py");
}

TEST(ReadSettings, TellsOfAProgramThatIsNotNamed) {
  constexpr WrongInput kCases[] = {
      {"no program", "pipeline: {workload: {kind: program}}",
       "c.yaml:1:29: pipeline.workload.kind: program needs a command line: put it after '--', as "
       "in 'profline "
       "run "
       "-- python3 infer.py', or set command or module"},
      {"infer", "pipeline: {workload: {kind: program, command: [x]}}\ninfer: {}",
       "c.yaml:2:1: unknown key 'infer' (known keys: experiment, device, use_flash_attn, ceilings, "
       "dataset, pipeline, vars, model)"},
      {"no range", "pipeline: {workload: {request_range: ''}}",
       "c.yaml:1:38: pipeline.workload.request_range: must name a range"},
  };
  expect_problems(kCases);
}

TEST(ReadSettings, FollowsTheSourceForTheDataset) {
  const auto root = read_settings(yaml("dataset: {source: files, files: [a.png, b.jpg]}"));
  ASSERT_TRUE(root) << root.error().to_string();
  EXPECT_EQ(std::get<ImageFiles>(root->dataset.images).files.size(), 2U);
}

TEST(ReadSettings, TakesEveryDocumentedFormOfAValue) {
  for (const char* text : {
           "device: cuda",
           "device: auto",
           "vars: {mine: [1, {a: null}], other: x}",
           "vars: 7",
           "model: {dtype: float16}",
           "infer: {do_sample: true, temperature: 0.7, top_k: 40, top_p: 1, seed: 3}",
           "infer: {context_len_mode: max, model_window: 8192, context_len_fixed: null}",
           "pipeline: {nsys: {enable: auto, timeout: 0.5}}",
           "pipeline: {nsys: {nvtx_capture: [prefill, decode@*], trace: [cuda, nvtx]}}",
           "pipeline: {nsys: {capture_range: cudaProfilerApi, capture_range_end: 'repeat:2'}}",
           "pipeline: {nsys: {capture_range_end: null, samples: null, cuda_graph_trace: node}}",
           "pipeline: {nsys: {enable: true, trace: null, sample: null}}",
           "pipeline: {ncu: {enable: true, ncu_cli: {set: null, metrics: '', sections: []}}}",
           "pipeline: {ncu: {ncu_cli: {target_processes: null, kernel_name_base: null}}}",
           "pipeline: {ncu: {ncu_cli: {metrics: 'a.sum, b.avg'}}}",
           "pipeline: {ncu: {ncu_cli: {metrics: null, sections: null, nvtx: {include: null}}}}",
           "pipeline: {ncu: {ncu_cli: {nvtx: {include: 'A;B;A::A1'}, replay_mode: app-range}}}",
           "pipeline: {ncu: {ncu_cli: {nvtx: {include: [A, B]}, kill: yes, launch_count: 1}}}",
           "pipeline: {ncu: {max_launches: null}}",
           "pipeline: {torch_profiler: {decode_steps: null, activities: [cuda]}}",
           "pipeline: {torch_profiler: {output: {prediction: {save_dir: null}}}}",
           "pipeline: {workload: {command: [python3, serve.py], threads: 4, engine: eager}}",
           "dataset: {sampling: {num_samples_per_epoch: 3, randomize: true, seed: 1}}",
           "dataset: {source: synthetic, page_sizes: [10x20]}",
       }) {
    EXPECT_EQ(problems_of(text), "") << text;
  }
}

TEST(ReadSettings, ListsAllProblemsTogether) {
  EXPECT_EQ(problems_of("experiment: 5\n"
                        "run:\n"
                        "  mode: deep\n"
                        "dataset:\n"
                        "  roots: x\n"
                        "pipeline:\n"
                        "  nsys:\n"
                        "    enable: maybe\n"
                        "    capture_rang: nvtx\n"
                        "infer:\n"
                        "  max_new_tokens: 0\n"
                        "extra: 1\n"),
            "c.yaml:3:3: key 'run.mode' was removed: switch stages with pipeline.<stage>.enable\n"
            "c.yaml:1:13: experiment: must be a string, not the integer 5\n"
            "c.yaml:5:3: dataset: unknown key 'roots' (did you mean 'root'?)\n"
            "c.yaml:8:13: pipeline.nsys.enable: must be one of true, false, auto, not 'maybe'\n"
            "c.yaml:9:5: pipeline.nsys: unknown key 'capture_rang' (did you mean "
            "'capture_range'?)\n"
            "c.yaml:11:19: infer.max_new_tokens: must be an integer from 1 to 1048576, not 0\n"
            "c.yaml:12:1: unknown key 'extra' (known keys: experiment, device, use_flash_attn, "
            "ceilings, dataset, pipeline, vars, model, infer)");
}

TEST(ReadSettings, TellsOfWrongValues) {
  constexpr WrongInput kCases[] = {
      {"infinite tokens", "infer: {max_new_tokens: inf}",
       "c.yaml:1:25: infer.max_new_tokens: must be an integer from 1 to 1048576, not the string "
       "'inf'"},
      {"float infinity", "infer: {max_new_tokens: .inf}",
       "c.yaml:1:25: infer.max_new_tokens: must be an integer from 1 to 1048576, not the float "
       ".inf"},
      {"no tokens", "infer: {max_new_tokens: null}",
       "c.yaml:1:25: infer.max_new_tokens: must be an integer from 1 to 1048576, not null"},
      {"a float of tokens", "infer: {max_new_tokens: 3.7}",
       "c.yaml:1:25: infer.max_new_tokens: must be an integer from 1 to 1048576, not the float "
       "3.7"},
      {"no sequence in a batch", "infer: {batch_size: 0}",
       "c.yaml:1:21: infer.batch_size: must be an integer from 1 to 64, not 0"},
      {"too many sequences in a batch", "infer: {batch_size: 65}",
       "c.yaml:1:21: infer.batch_size: must be an integer from 1 to 64, not 65"},
      {"device", "device: gpu",
       "c.yaml:1:9: device: must be one of auto, cpu, cuda, cuda:N, not 'gpu'"},
      {"dtype", "model: {dtype: int4}",
       "c.yaml:1:16: model.dtype: must be one of bf16, bfloat16, fp16, float16, fp32, float32, "
       "not 'int4'"},
      {"capture range", "pipeline: {nsys: {capture_range: range}}",
       "c.yaml:1:34: pipeline.nsys.capture_range: must be one of none, nvtx, cudaProfilerApi, "
       "hotkey, not 'range'"},
      {"spelling of a capture range", "pipeline: {nsys: {capture_range: cudaprofilerapi}}",
       "c.yaml:1:34: pipeline.nsys.capture_range: must be one of none, nvtx, cudaProfilerApi, "
       "hotkey, not 'cudaprofilerapi' (did you mean 'cudaProfilerApi'?)"},
      {"end of a range", "pipeline: {nsys: {capture_range_end: 'repeat:0'}}",
       "c.yaml:1:38: pipeline.nsys.capture_range_end: must be one of none, stop, stop-shutdown, "
       "repeat, repeat:N, repeat-shutdown:N (N up to 1000000) or null, not 'repeat:0'"},
      {"captures without end", "pipeline: {nsys: {capture_range_end: 'repeat:1000001'}}",
       "c.yaml:1:38: pipeline.nsys.capture_range_end: must be one of none, stop, stop-shutdown, "
       "repeat, repeat:N, repeat-shutdown:N (N up to 1000000) or null, not 'repeat:1000001'"},
      {"switch in quotes", "pipeline: {ncu: {enable: 'true'}}",
       "c.yaml:1:26: pipeline.ncu.enable: must be one of true, false, auto, not 'true' (without "
       "quotes)"},
      {"replay mode", "pipeline: {ncu: {ncu_cli: {replay_mode: kernels}}}",
       "c.yaml:1:41: pipeline.ncu.ncu_cli.replay_mode: must be one of kernel, application, range, "
       "app-range or null, not 'kernels' (did you mean 'kernel'?)"},
      {"no launches", "pipeline: {ncu: {ncu_cli: {launch_count: 0}}}",
       "c.yaml:1:42: pipeline.ncu.ncu_cli.launch_count: must be an integer from 1 to 1000000000 or "
       "null, not 0"},
      {"metrics", "pipeline: {ncu: {ncu_cli: {metrics: 'a,,b'}}}",
       "c.yaml:1:37: pipeline.ncu.ncu_cli.metrics: has an empty item: 'a,,b'"},
      {"time limit", "pipeline: {ncu: {timeout: 0}}",
       "c.yaml:1:27: pipeline.ncu.timeout: must be a number of seconds > 0 or null, not 0"},
      {"command as one string", "pipeline: {workload: {command: python3 x.py}}",
       "c.yaml:1:32: pipeline.workload.command: must be a list of string or null, not the string "
       "'python3 x.py'"},
      {"kind", "pipeline: {workload: {kind: deepseek}}",
       "c.yaml:1:29: pipeline.workload.kind: must be one of deepseek_ocr, dummy_shallow_resnet, "
       "program, server, not 'deepseek' (did you mean 'deepseek_ocr'?)"},
      {"source", "dataset: {source: web}",
       "c.yaml:1:19: dataset.source: must be one of folder, synthetic, files, not 'web'"},
      {"activity", "pipeline: {torch_profiler: {activities: [cpu, gpu]}}",
       "c.yaml:1:47: pipeline.torch_profiler.activities.1: must be one of cpu, cuda, not 'gpu' "
       "(did you mean 'cpu'?)"},
      {"no epochs", "dataset: {sampling: {num_epochs: 0}}",
       "c.yaml:1:34: dataset.sampling.num_epochs: must be an integer from 1 to 10000, not 0"},
      {"one tile", "model: {preprocess: {max_tiles: 1}}",
       "c.yaml:1:33: model.preprocess.max_tiles: must be an integer from 2 to 1000, not 1"},
      {"tiles without end", "model: {preprocess: {max_tiles: 100000}}",
       "c.yaml:1:33: model.preprocess.max_tiles: must be an integer from 2 to 1000, not 100000"},
      {"more than the type holds", "dataset: {source: synthetic, pages: 4294967296}",
       "c.yaml:1:37: dataset.pages: must be an integer from 1 to 100000, not 4294967296"},
      {"no map", "[]", "c.yaml:1:1: must be a map, not a list"},
  };
  expect_problems(kCases);
}

TEST(ReadSettings, TellsOfKeysOfAnotherWorkloadOrSource) {
  constexpr WrongInput kCases[] = {
      {"description of DeepSeek-OCR", "infer: {description: x}",
       "c.yaml:1:9: infer: unknown key 'description'"},
      {"tokens of the residual network",
       "pipeline: {workload: {kind: dummy_shallow_resnet}}\ninfer: {max_new_tokens: 4}",
       "c.yaml:2:9: infer: unknown key 'max_new_tokens' (known keys: description, dtype, "
       "batch_size, device)"},
      {"pages of a folder", "dataset: {pages: 3}",
       "c.yaml:1:11: dataset: unknown key 'pages' (known keys: name, source, root, "
       "subset_filelist, fallback_patterns, sampling)"},
  };
  expect_problems(kCases);
}

TEST(ReadSettings, TellsOfContradictions) {
  constexpr WrongInput kCases[] = {
      {"fp16 on a CPU", "device: cpu\nmodel: {dtype: fp16}",
       "c.yaml:2:16: model.dtype: must be bf16 or fp32 when device is cpu, not fp16"},
      {"a batch in the fast engine", "infer: {batch_size: 4}\npipeline: {workload: {engine: fast}}",
       "c.yaml:2:31: pipeline.workload.engine: must be eager or auto when infer.batch_size is 4: "
       "the fast engine generates one image at a time"},
      {"top_k without sampling", "infer: {top_k: 4, seed: 1}",
       "c.yaml:1:16: infer.top_k: must be null unless do_sample is true, else it has no effect\n"
       "c.yaml:1:25: infer.seed: must be null unless do_sample is true, else it has no effect"},
      {"top_p without sampling", "infer: {top_p: 0.5}",
       "c.yaml:1:16: infer.top_p: must be null unless do_sample is true, else it has no effect"},
      {"sampling at zero", "infer: {do_sample: true, temperature: 0}",
       "c.yaml:1:39: infer.temperature: must be above 0 when do_sample is true"},
      {"fixed context without a value", "infer: {context_len_mode: fixed, context_len_fixed: null}",
       "c.yaml:1:53: infer.context_len_fixed: must be a number when context_len_mode is fixed"},
      {"weights from nowhere", "model: {path: null}",
       "c.yaml:1:15: model.path: must name the folder with the weights when init is weights; the "
       "presets deepseek_ocr.random and deepseek_ocr.tiny need none"},
      {"tiny with weights", "model: {variant: tiny}",
       "c.yaml:1:18: model.variant: is only for init=random: with init=weights the model's "
       "config.json has the sizes"},
      {"tiles below a patch", "model: {preprocess: {image_size: 8}}",
       "c.yaml:1:34: model.preprocess.image_size: must be at least patch_size"},
      {"shapes that were not recorded", "pipeline: {torch_profiler: {group_by_input_shape: true}}",
       "c.yaml:1:51: pipeline.torch_profiler.group_by_input_shape: needs record_shapes=true"},
      {"nothing to record", "pipeline: {torch_profiler: {activities: []}}",
       "c.yaml:1:41: pipeline.torch_profiler.activities: must name cpu, cuda or both"},
      {"nothing to record", "pipeline: {nsys: {enable: true, trace: []}}",
       "c.yaml:1:40: pipeline.nsys.trace: must name something to record, such as cuda,nvtx,osrt, "
       "or be null"},
      {"end of nothing",
       "pipeline: {ncu: {enable: auto, max_launches: null, ncu_cli: {kill: true}}}",
       "c.yaml:1:68: pipeline.ncu.ncu_cli.kill: needs launch_count or max_launches, after which "
       "the "
       "workload is ended"},
      {"domains in and out",
       "pipeline: {nsys: {enable: true, nvtx_domain_include: a, nvtx_domain_exclude: b}}",
       "c.yaml:1:78: pipeline.nsys.nvtx_domain_exclude: must be null when nvtx_domain_include is "
       "given: nsys takes one of them"},
      {"two programs", "pipeline: {workload: {command: [a], module: b}}",
       "c.yaml:1:45: pipeline.workload.module: must be null when command is given: one program is "
       "profiled"},
      {"empty command", "pipeline: {workload: {command: []}}",
       "c.yaml:1:32: pipeline.workload.command: must begin with a program, or be null"},
      {"no image", "dataset: {source: files}",
       "c.yaml:1:10: dataset.files: must name an image: 'dataset.files=[page.png]'"},
      {"no pattern", "dataset: {fallback_patterns: []}",
       "c.yaml:1:30: dataset.fallback_patterns: must name a pattern such as images/*.png when "
       "subset_filelist is null"},
      {"another device for the residual network",
       "pipeline: {workload: {kind: dummy_shallow_resnet}}\ninfer: {device: cpu}",
       "c.yaml:2:17: infer.device: must be null or the same as device, cuda:0"},
      {"files of the residual network",
       "pipeline: {workload: {kind: dummy_shallow_resnet}}\nmodel: {path: x}",
       "c.yaml:2:15: model.path: must be null: the network has no files, its weights are random"},
  };
  expect_problems(kCases);
}

constexpr std::string_view kNoRange =
    "pipeline.nsys.nvtx_capture: must name a range such as prefill when capture_range is nvtx; "
    "gating_nvtx=false captures everything";

TEST(ReadSettings, WantsARangeForAnNvtxGateThatIsUsed) {
  for (const char* value : {"null", "''", "'  '", "[]", "[decode, ' ']"}) {
    SCOPED_TRACE(value);
    const std::string gate = "capture_range: nvtx, nvtx_capture: " + std::string(value) + "}}";
    EXPECT_EQ(problems_of("pipeline: {nsys: {enable: true, " + gate),
              "c.yaml:1:68: " + std::string(kNoRange));
    EXPECT_EQ(problems_of("pipeline: {nsys: {enable: auto, " + gate),
              "c.yaml:1:68: " + std::string(kNoRange));
    EXPECT_EQ(problems_of("pipeline: {nsys: {enable: false, " + gate), "");
    EXPECT_EQ(problems_of("pipeline: {nsys: {enable: true, gating_nvtx: false, " + gate), "");
  }
  EXPECT_EQ(problems_of("pipeline: {nsys: {enable: true, capture_range: nvtx, nvtx_capture: a, "
                        "trace: cuda}}"),
            "c.yaml:1:78: pipeline.nsys.trace: must contain nvtx when capture_range is nvtx");
  EXPECT_EQ(problems_of("pipeline: {nsys: {enable: true, capture_range: nvtx}}"),
            "c.yaml:1:18: " + std::string(kNoRange))
      << "a key that is left out is null";
  EXPECT_EQ(problems_of("pipeline: {nsys: {enable: false, capture_range: nvtx}}"), "");
}

TEST(ReadSettings, PassesNoOptionThatAPresetLeavesOut) {
  const auto root =
      read_settings(yaml("pipeline:\n"
                         "  nsys: {enable: true, capture_range: nvtx, nvtx_capture: decode}\n"
                         "  ncu: {enable: true, ncu_cli: {set: detailed}}\n"));
  ASSERT_TRUE(root) << root.error().to_string();
  const Nsys& nsys = root->pipeline.nsys;
  EXPECT_EQ(nsys.capture_range_end, std::nullopt);
  EXPECT_EQ(nsys.trace, std::nullopt);
  EXPECT_EQ(nsys.sample, std::nullopt);
  EXPECT_EQ(nsys.samples, std::nullopt);
  NcuCli only_a_set;
  only_a_set.set = "detailed";
  EXPECT_EQ(root->pipeline.ncu.ncu_cli, only_a_set);
  EXPECT_EQ(only_a_set.metrics, std::nullopt);
  EXPECT_EQ(only_a_set.sections, std::nullopt);
  EXPECT_EQ(only_a_set.replay_mode, std::nullopt);
  EXPECT_EQ(only_a_set.target_processes, std::nullopt);
  EXPECT_EQ(only_a_set.kernel_name_base, std::nullopt);
  EXPECT_FALSE(only_a_set.force_overwrite);
  EXPECT_EQ(root->pipeline.ncu.max_launches, std::nullopt);
}

TEST(ReadSettings, TakesAnEmptyEndOfARangeForNone) {
  for (const char* value : {"null", "''", "'  '"}) {
    const auto root =
        read_settings(yaml("pipeline: {nsys: {capture_range_end: " + std::string(value) + "}}"));
    ASSERT_TRUE(root) << root.error().to_string();
    EXPECT_EQ(root->pipeline.nsys.capture_range_end, std::nullopt) << value;
  }
}

TEST(RemovedKeys, SayWhatReplacedThem) {
  EXPECT_EQ(advice_for_removed_key("run.mode"), "switch stages with pipeline.<stage>.enable");
  EXPECT_EQ(advice_for_removed_key("run.device"), "use device");
  EXPECT_EQ(advice_for_removed_key("run.anything.else"),
            "stages are switched by pipeline.<stage>.enable, and there is no run section");
  EXPECT_EQ(advice_for_removed_key("pipeline.ncu.nvtx_include"),
            "use pipeline.ncu.ncu_cli.nvtx.include");
  for (const char* key : {"run.repeats", "run.stage1_repeats", "repeats"}) {
    EXPECT_EQ(advice_for_removed_key(key), "use dataset.sampling.num_samples_per_epoch") << key;
  }
  for (const char* key :
       {"", "runs", "pipeline", "pipeline.ncu", "pipeline.nsys.trace", "device"}) {
    EXPECT_EQ(advice_for_removed_key(key), std::nullopt) << key;
  }
}

TEST(RemovedKeys, AreToldOneByOne) {
  EXPECT_EQ(problems_of("run: {}"),
            "c.yaml:1:1: key 'run' was removed: stages are switched by pipeline.<stage>.enable, "
            "and there is no run section");
  EXPECT_EQ(problems_of("repeats: 3\n"
                        "run: {device: cpu, top_n_kernels: 30, x: {y: 1}}\n"
                        "analysis: {static: {enabled: true}}\n"
                        "pipeline: {ncu: {set: full, csv: true}, nsys: {capture: nvtx}}\n"),
            "c.yaml:1:1: key 'repeats' was removed: use "
            "dataset.sampling.num_samples_per_epoch\n"
            "c.yaml:2:7: key 'run.device' was removed: use device\n"
            "c.yaml:2:20: key 'run.top_n_kernels' was removed: use "
            "pipeline.ncu.ncu_cli.kernel_name, or `profline kernels top` with `profline kernels "
            "profile`\n"
            "c.yaml:2:43: key 'run.x.y' was removed: stages are switched by "
            "pipeline.<stage>.enable, and there is no run section\n"
            "c.yaml:3:21: key 'analysis.static.enabled' was removed: use "
            "pipeline.static_analysis.enable\n"
            "c.yaml:4:18: key 'pipeline.ncu.set' was removed: use pipeline.ncu.ncu_cli.set\n"
            "c.yaml:4:29: key 'pipeline.ncu.csv' was removed: use "
            "pipeline.ncu.ncu_cli.export.csv\n"
            "c.yaml:4:48: key 'pipeline.nsys.capture' was removed: use "
            "pipeline.nsys.capture_range");
}

TEST(Layout, IsWrittenSoThatItReadsBackEqual) {
  Layout<deepseek_ocr::Subject> settings;
  SyntheticPages pages;
  pages.page_sizes = {{1, 2}};
  settings.dataset.images = pages;
  settings.pipeline.nsys.capture_range_end =
      CaptureRangeEnd{.action = CaptureRangeEnd::Action::Repeat, .count = 3};
  settings.pipeline.ncu.ncu_cli.kill = false;
  settings.infer.top_p = 0.5;
  settings.infer.do_sample = true;
  settings.infer.temperature = 1.0;
  const auto again = schema::read<Layout<deepseek_ocr::Subject>>(schema::write(settings));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, settings);
}

}  // namespace
}  // namespace profline::settings
