# Writes OUTPUT, a header that says which commit of SOURCE this is; leaves it alone where nothing changed. It asks git as
# tools/image.d/checkout.py does: a checkout that belongs to somebody else is one, too.
function(ask_git RESULT)
  execute_process(COMMAND git -c "safe.directory=*" -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${RESULT} "${answer}" PARENT_SCOPE)
endfunction()

set(ENV{TZ} UTC)
ask_git(commit rev-parse HEAD)
ask_git(date log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
set(state "")
if(commit)
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
