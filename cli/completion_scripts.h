// The scripts that shells complete with.
#pragma once

#include <string>
#include <string_view>

namespace capi::cli {

// Of "bash", "fish", "powershell" or "zsh"; another one ends the process. They complete what `clusterctl __complete`
// answers, and the names of files where it answers nothing.
std::string_view ScriptOf(std::string_view shell);
// How one loads it, for a help text.
std::string UseOf(std::string_view shell);

}  // namespace capi::cli
