"""The libraries that the programs are built with, as cmake/dependencies.cmake asks for them."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# What CMake asks for, and the Debian packages that have it.
PACKAGES = {
    "Threads": [],
    "PkgConfig": ["pkg-config"],
    "fmt": ["libfmt-dev"],
    "spdlog": ["libspdlog-dev"],
    "nlohmann_json": ["nlohmann-json3-dev"],
    "OpenSSL": ["libssl-dev"],
    "ZLIB": ["zlib1g-dev"],
    "CLI11": ["libcli11-dev"],
    "prometheus-cpp": ["prometheus-cpp-dev"],
    "libssh": ["libssh-dev"],
    "libyaml": ["libyaml-dev"],
    "re2": ["libre2-dev"],
}
# The same of what tests and benchmarks alone are built with.
OF_TESTS = {"GTest": ["libgtest-dev", "libgmock-dev"], "benchmark": ["libbenchmark-dev"]}


def text():
    with open(os.path.join(ROOT, "cmake", "dependencies.cmake"), encoding="utf-8") as file:
        return file.read()


def asked():
    """The names by which CMake looks for them."""
    return set(re.findall(r"^ *(?:find_package|pkg_check_modules)\(([\w+-]+) .*?\bREQUIRED", text(), re.MULTILINE))


def asked_for_tests():
    """The same of what may be missing."""
    return set(re.findall(r"^ *find_package\(([\w+-]+) QUIET\)", text(), re.MULTILINE))


def archives():
    """The files that clusterctl is linked with in place of shared libraries."""
    (names,) = re.findall(r"^foreach\(archive ([a-z0-9 ]+)\)$", text(), re.MULTILINE)
    return [f"lib{name}.a" for name in names.split()]
