# Writes OUTPUT, a header that says which commit of SOURCE this is; leaves it alone where nothing changed. It asks git as
# tools/image.d/checkout.py does: a checkout that belongs to somebody else is one, too, and a repository above it isn't.
# Where git names no commit (there is no git, or a worktree's repository isn't at hand) the build goes on without one, which a
# release refuses.
cmake_minimum_required(VERSION 3.25)
file(REAL_PATH ${SOURCE} SOURCE)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above})
set(ENV{LC_ALL} C)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/git_environment.txt elsewhere REGEX "^GIT_")
foreach(name ${elsewhere})
  unset(ENV{${name}})
endforeach()
set(ENV{TZ} UTC)

# What git says in RESULT, and its exit code in CODE.
function(run_git RESULT CODE)
  execute_process(
    COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE} ${ARGN}
    OUTPUT_VARIABLE answer ERROR_VARIABLE words RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE
  )
  if(NOT code EQUAL 0)
    set(answer "${words}")
  endif()
  set(${RESULT} "${answer}" PARENT_SCOPE)
  set(${CODE} "${code}" PARENT_SCOPE)
endfunction()

# Of a commit that git has named. What it can't tell of it is told as nothing else: it ends the build.
function(ask_git RESULT)
  run_git(answer code ${ARGN})
  if(NOT code EQUAL 0)
    list(GET ARGN 0 command)
    message(FATAL_ERROR "${SOURCE}: git ${command}: ${answer}")
  endif()
  set(${RESULT} "${answer}" PARENT_SCOPE)
endfunction()

set(commit "")
set(date "")
set(state "")
if(EXISTS ${SOURCE}/.git)
  run_git(commit code rev-parse --verify HEAD)
  if(NOT code EQUAL 0)
    set(commit "")
  endif()
endif()
if(commit)
  ask_git(date log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
  ask_git(changes status --porcelain --untracked-files=no)
  set(state clean)
  if(changes)
    set(state dirty)
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[// Written by cmake/build_info.cmake.
#pragma once

namespace capi {

inline constexpr const char* kBuildCommit = "@commit@";
inline constexpr const char* kBuildTreeState = "@state@";
inline constexpr const char* kBuildDate = "@date@";

}  // namespace capi
]] @ONLY)
