# `make` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help deps build run test test-unit test-long fuzz soak lint format bench clean

JOBS ?= $(shell nproc)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing
	@tools/deps

build: deps ## build/release/bin/capi-operator and build/release/bin/clusterctl
	@tools/build release capi-operator clusterctl

run: ## a local control plane with the operator and four providers; ONCE=1 leaves when all are Ready
	@tools/run

test: deps ## every test, those on a real control plane included
	@tools/test all

test-unit: deps ## tests that need nothing but the build
	@tools/test unit

test-long: deps ## every test at its full length: hours
	@tools/test long

fuzz: deps ## every fuzz target for FUZZ_SECONDS (60), with sanitizers; NAME= for one
	@tools/fuzz $(NAME)

soak: deps ## the operator's memory, threads and descriptors in SOAK_SECONDS (600) of churn
	@tools/soak

lint: deps ## layers, rules, sizes, headers, format, clang's thread-safety analysis, clang-tidy on what changed
	@tools/lint

format: ## lay out the C++ files as .clang-format says
	@tools/check_format --fix

bench: build ## time, memory and requests beside the real clusterctl's and the peer's
	@tools/build release templating_benchmark
	@tools/bench

clean: ## remove what was built here (the cache of programs and releases stays)
	rm -rf build
