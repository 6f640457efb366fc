# Entry points for users and developers. `make demo` and `make test` work on a fresh machine. The build itself is done by
# CMake, see CMakePresets.json.

PREFIX  ?= /usr/local
DESTDIR ?=
# How many seconds `make fuzz` runs each fuzz entry.
FUZZ_SECONDS ?= 60
# Set to 0 to install no packages.
PROFLINE_SETUP ?= 1
export PROFLINE_SETUP
# Debian release whose Nsight tools the tests use: bookworm or trixie. NSIGHT=0 skips those tests.
NSIGHT ?= 1
NSIGHT_SUITE ?= trixie
export NSIGHT NSIGHT_SUITE

.DEFAULT_GOAL := help
.PHONY: deb help setup build nsight python demo test test-tools test-long bench asan asan-workload tidy format format-check fuzz install clean
.PHONY: stage1-run stage2-profile stage-all-run

help:
	@echo 'make demo      install missing packages, build, and run the demo'
	@echo 'make test      install missing packages, build, and run all tests'
	@echo 'make test-long run fault campaigns in full, test with PyTorch and transformers, compile every header without precompiled ones, count how often compare calls identical runs different'
	@echo 'make build     build the programs into build/bin/'
	@echo 'make bench     run the benchmarks (release build) and describe the machine'
	@echo 'make install   install a release build into $$DESTDIR$$PREFIX ($(DESTDIR)$(PREFIX))'
	@echo 'make deb       build Debian packages of profline and profline-workload into build/packages/'
	@echo 'make asan      run all tests under AddressSanitizer and UndefinedBehaviorSanitizer; asan-workload: the tests that use libtorch'
	@echo 'make tidy      check formatting, clang warnings and clang-tidy, all as errors'
	@echo 'make format    run clang-format on the tree'
	@echo 'make fuzz      run each fuzz entry for FUZZ_SECONDS ($(FUZZ_SECONDS)) seconds'
	@echo 'make clean     remove build/'
	@echo 'make stage1-run, stage2-profile, stage-all-run   tasks of the Python system, see docs/migration.md'

setup:
	@scripts/setup build torch nvtx web

build: setup
	@scripts/build dev

# Unpacks the tools under build/tools once; installs nothing.
nsight:
	@[ '$(NSIGHT)' = 0 ] || scripts/fetch_nsight pair '$(NSIGHT_SUITE)' >/dev/null || \
	  echo 'make: tests that need Nsight tools will be skipped' >&2

# Debian's Python with PyTorch: 540 MB, so `make test` uses it only where it is already there.
python:
	@for suite in sid bookworm; do scripts/fetch_python $$suite >/dev/null || \
	  echo "make: tests that need Python and PyTorch of Debian $$suite will be skipped" >&2; done

# Builds only the programs: a first-time user should not have to wait for the tests.
demo: setup
	@scripts/build dev programs
	@scripts/demo

# What tests use besides the build.
test-tools:
	@scripts/setup browser shells slurm packages
	@$(MAKE) --no-print-directory nsight
	@scripts/fetch_llama >/dev/null || echo 'make: tests that need llama-server will be skipped' >&2
	@scripts/fetch_npm mcp || echo 'make: tests with clients of the Model Context Protocol will be skipped' >&2

test:
	@scripts/setup build torch nvtx web ranks
	@scripts/build_for_tests
	@ctest --preset dev

# Not part of `make test`: it takes long, and part of the result depends on the machine and its load.
test-long: build nsight python
	@PROFLINE_TEST_LONG=1 ctest --preset dev -R 'Interrupt|^TorchProgram\.|^TransformersProgram\.|^KinetoOnDemand\.|^python\.|^slurm\.|^ranks\.|^load\.search|^server\.faults'
	@tests/tree/check_headers build --all
	@scripts/identical_runs 20 build/identical-runs

bench: setup
	@scripts/build release programs benches
	@scripts/bench build/release/bench

install: setup
	@scripts/build release programs
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

deb: setup
	@scripts/setup packages
	@scripts/build release programs
	@cd build/release && cpack -B ../packages >../packages.log || { cat ../packages.log >&2; exit 1; }
	@ls build/packages/*.deb

asan: setup nsight
	@scripts/build asan
	@ctest --preset asan

asan-workload: setup
	@scripts/build asan-workload
	@ctest --preset asan-workload

tidy: format-check
	@scripts/build tidy

format:
	@scripts/setup build lint
	@scripts/format

format-check:
	@scripts/setup build torch nvtx lint
	@scripts/format --check

fuzz:
	@scripts/setup build lint
	@scripts/build fuzz fuzzers
	@scripts/fuzz build/fuzz/fuzz $(FUZZ_SECONDS)

clean:
	@rm -rf build

# Tasks of the Python system under their old names. OVERRIDES are appended: make stage1-run OVERRIDES='device=cpu'.
STAGE_RUN := dataset.subset_filelist=datasets/omnidocbench/subsets/dev-20.txt dataset.sampling.num_samples_per_epoch=3 \
  dataset.sampling.num_epochs=1 infer.max_new_tokens=64
stage1-run:
	@scripts/llm_profile_runner $(STAGE_RUN) 'pipeline.torch_profiler.activities=[cpu,cuda]' $(OVERRIDES)
stage2-profile:
	@scripts/deep_profile_runner $(STAGE_RUN) pipeline.nsys.enable=true pipeline.ncu.enable=false $(OVERRIDES)
stage-all-run:
	@scripts/stage-all-run.sh $(STAGE_RUN) 'pipeline.torch_profiler.activities=[cpu,cuda]' \
	  pipeline.nsys.enable=true pipeline.ncu.enable=true $(OVERRIDES)
