# The front door. `make demo` and `make test` do everything on a fresh machine; the rest is for
# developers. The build itself is CMake's: see CMakePresets.json.

PREFIX  ?= /usr/local
DESTDIR ?=
# Seconds that `make fuzz` spends on each fuzz entry.
FUZZ_SECONDS ?= 60
# Set to 0 to leave the machine's packages alone.
PROFLINE_SETUP ?= 1
export PROFLINE_SETUP
# Whose Nsight tools the tests run: bookworm's or trixie's; NSIGHT=0 skips those tests.
NSIGHT ?= 1
NSIGHT_SUITE ?= trixie
export NSIGHT NSIGHT_SUITE

.DEFAULT_GOAL := help
.PHONY: deb help setup build nsight demo test test-long bench asan asan-workload tidy format format-check fuzz install clean
.PHONY: stage1-run stage2-profile stage-all-run

help:
	@echo 'make demo      install what is missing, build, show what profline does'
	@echo 'make test      install what is missing, build, run every test'
	@echo 'make test-long how often profline compare calls identical runs different; takes minutes, best on a quiet machine'
	@echo 'make build     programs in build/bin/'
	@echo 'make bench     benchmarks (release build), with the machine they ran on'
	@echo 'make install   release build into $$DESTDIR$$PREFIX ($(DESTDIR)$(PREFIX))'
	@echo 'make deb       Debian packages of profline and profline-workload in build/packages/'
	@echo 'make asan      every test under AddressSanitizer and UndefinedBehaviorSanitizer; asan-workload: those that use libtorch'
	@echo 'make tidy      formatting, clang warnings and clang-tidy, all of them errors'
	@echo 'make format    clang-format over the tree'
	@echo 'make fuzz      each fuzz entry for FUZZ_SECONDS ($(FUZZ_SECONDS))'
	@echo 'make clean     remove build/'
	@echo 'make stage1-run, stage2-profile, stage-all-run   tasks of the Python system; docs/migration.md has more'

setup:
	@scripts/setup build torch nvtx web

build: setup
	@scripts/build dev

# Unpacked under build/tools, once; nothing is installed.
nsight:
	@[ '$(NSIGHT)' = 0 ] || scripts/fetch_nsight pair '$(NSIGHT_SUITE)' >/dev/null || \
	  echo 'make: tests that need Nsight tools will say that they were skipped' >&2

# Only the programs: whoever tries profline for the first time should not wait for its tests.
demo: setup
	@scripts/build dev programs
	@scripts/demo

test: build nsight
	@scripts/setup browser shells packages
	@ctest --preset dev

# What a test cannot hold: it depends on the machine and on what else happens there.
test-long: build
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

# Tasks of the Python system, by their names. OVERRIDES are added: make stage1-run OVERRIDES='device=cpu'.
STAGE_RUN := dataset.subset_filelist=datasets/omnidocbench/subsets/dev-20.txt dataset.sampling.num_samples_per_epoch=3 \
  dataset.sampling.num_epochs=1 infer.max_new_tokens=64
stage1-run:
	@scripts/llm_profile_runner $(STAGE_RUN) 'pipeline.torch_profiler.activities=[cpu,cuda]' $(OVERRIDES)
stage2-profile:
	@scripts/deep_profile_runner $(STAGE_RUN) pipeline.nsys.enable=true pipeline.ncu.enable=false $(OVERRIDES)
stage-all-run:
	@scripts/stage-all-run.sh $(STAGE_RUN) 'pipeline.torch_profiler.activities=[cpu,cuda]' \
	  pipeline.nsys.enable=true pipeline.ncu.enable=true $(OVERRIDES)
