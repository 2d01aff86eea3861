# `make` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help deps build run test test-unit test-full test-long mutate fuzz soak lint format bench site release no-release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing, those for tests and checks too
	@tools/deps

# What is built for: this machine's own architecture, in build/release, and arm64 by Debian's cross-compiler, in build/arm64.
own := $(or $(shell dpkg --print-architecture 2>/dev/null),amd64)
ARCHITECTURES ?= $(own)
unknown = $(filter-out $(own) arm64,$(ARCHITECTURES))
presets = $(patsubst $(own),release,$(ARCHITECTURES))

build: ## build/release/bin/capi-operator and clusterctl; ARCHITECTURES="amd64 arm64" makes those of build/arm64 too
	@[[ -z "$(unknown)" ]] || { echo "make: ARCHITECTURES names $(own), arm64 or both, not $(firstword $(unknown))" >&2; exit 1; }
	@tools/deps build
	@for preset in $(presets); do \
	  [[ $$preset == release ]] || tools/deps $$preset; \
	  tools/build $$preset capi-operator clusterctl; \
	done

run: ## a management plane on this machine with four providers and a Cluster; ONCE=1 leaves when that is Available
	@tools/run

test: ## every rule's tests, those on a real control plane included: minutes
	@tools/deps test
	@tools/test all

test-unit: ## tests that need nothing but the build
	@tools/deps test
	@tools/test unit

test-full: ## more crashes, sequences and releases, real managers; CI runs a fourth of it with each commit
	@tools/deps test
	@[[ $${CAPI_TEST_PART:-0} != 0 ]] || tools/deps browser || echo "The tests in a browser are skipped." >&2
	@tools/test full

test-long: ## every test at its full length: hours
	@tools/deps all
	@tools/deps browser || echo "The tests in a browser are skipped." >&2
	@tools/test long

mutate: ## break each rule and comparison, one at a time, and see that a test notices; part of test-long
	@tools/deps test
	@tools/mutate

fuzz: ## every fuzz target for FUZZ_SECONDS (60), with sanitizers; NAME= for one
	@tools/deps fuzz
	@tools/fuzz $(NAME)

soak: ## the operator's memory, threads and descriptors in SOAK_SECONDS (600) of churn
	@tools/deps test
	@tools/soak

lint: ## layers, rules, sizes, headers, format, names in Python, clang's thread-safety analysis, clang-tidy on what changed
	@tools/deps lint
	@tools/lint

format: ## lay out the C++ files as .clang-format says
	@tools/deps lint
	@tools/check_format --fix

bench: build ## time, memory and requests beside the real clusterctl's and the peer's
	@tools/deps bench
	@tools/build release templating_benchmark verify_benchmark versions_benchmark http_benchmark floor_benchmark
	@tools/bench

site: ## the book as a site with a search, in build/site; the first time it needs PyPI
	@tools/deps site
	@tools/site

release: no-release build ## manifests, chart, image, clusterctl, checksums in build/dist; IMAGE= its place, ARCHITECTURES= as with build
	@tools/deps run
	@command -v kubectl >/dev/null || tools/assets kubectl >/dev/null
	@tools/release build/dist $${IMAGE:+--image "$$IMAGE"} $(foreach preset,$(presets), \
	  --operator build/$(preset)/bin/capi-operator --clusterctl build/$(preset)/bin/clusterctl)

# Said before the build, which takes long.
no-release:
	@[[ ! -e build/dist ]] || { echo "make release: build/dist is there already: remove it" >&2; exit 1; }

clean: ## remove what was built here (the cache of programs and releases stays)
	rm -rf build
