# Short names for what people do with weft; the build itself is CMake's (see CMakePresets.json).
#
# WEFT_DATA: folder of public traces that some tests and benchmarks read; they say so and are skipped where it is not set.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 20
BENCH_ARGS ?=
CTEST_ARGS ?=
ifneq ($(wildcard ../shared/data),)
WEFT_DATA ?= $(abspath ../shared/data)
endif
export WEFT_DATA

.DEFAULT_GOAL := help
.PHONY: help setup run release dev test asan tsan bench fuzz format lint check clean

help:  ## this list
	@echo "weft: a GPU cluster scheduler. Start with: make run"
	@echo
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */\1\t/' | \
	  awk -F'\t' '{printf "  make %-9s %s\n", $$1, $$2}'

run: release  ## build weft, start it on this machine with virtual GPUs and run example jobs
	build/release/weft demo

setup:  ## install the Debian packages that building, testing and checking need
	@tools/setup all

release:  ## build build/release/weft
	@tools/setup build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target weft -j $(JOBS)

dev:  ## build everything for daily work, in build/dev
	@tools/setup test
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)

test: dev  ## build in build/dev and run all tests
	@ctest --preset dev -j $(JOBS) $(CTEST_ARGS)

asan tsan:  ## build and run all tests under the address + undefined-behaviour, or the thread sanitizer
	@tools/setup clang
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@ -j $(JOBS) $(CTEST_ARGS)

bench:  ## build and run the benchmarks (release build)
	@tools/setup test
	@cmake --preset release -D WEFT_BENCH=ON >/dev/null
	@cmake --build --preset release --target weft benchmarks -j $(JOBS)
	@tools/run_benchmarks build/release $(BENCH_ARGS)

fuzz:  ## build the fuzzers and run each for FUZZ_SECONDS (20)
	@tools/setup clang
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz --target fuzzers -j $(JOBS)
	@tools/run_fuzzers build/fuzz $(FUZZ_SECONDS)

format:  ## rewrite our sources as .clang-format says
	@tools/setup all
	@tools/format --fix

lint:  ## clang-tidy over our sources
	@tools/setup all
	@tools/lint

check:  ## include law, sizes, forbidden words, format, and that each header compiles alone
	@tools/setup all
	@cmake --preset dev >/dev/null
	@rc=0; \
	for check in tools/check_includes tools/check_sizes tools/check_words "tools/format --check" \
	    "cmake --build --preset dev --target check_headers -j $(JOBS)"; do $$check || rc=1; done; \
	exit $$rc

clean:  ## remove build/
	rm -rf build
