#include "cli/completion_scripts.h"

#include <array>
#include <cstdlib>

namespace capi::cli {
namespace {

// A word may have a colon in it (aws:v2.11.1), at which bash divides words: what stands before it is taken away again.
constexpr std::string_view kBash = R"(# bash completion for clusterctl
_clusterctl_complete() {
  local line=${COMP_LINE:0:COMP_POINT} words last prefix reply
  read -ra words <<<"$line"
  [[ $line == *' ' ]] && words+=("")
  last=${words[-1]}
  COMPREPLY=()
  while IFS= read -r reply; do
    [[ -n $reply ]] && COMPREPLY+=("${reply%%$'\t'*}")
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  prefix=${last%"${COMP_WORDS[COMP_CWORD]}"}
  if [[ ${COMP_WORDS[COMP_CWORD]} == [:=] ]]; then prefix=$last; fi
  if [[ -n $prefix ]]; then COMPREPLY=("${COMPREPLY[@]#"$prefix"}"); fi
  if ((${#COMPREPLY[@]} == 0)); then
    compopt -o default 2>/dev/null
  fi
}
complete -F _clusterctl_complete clusterctl kubectl-capi
)";

constexpr std::string_view kZsh = R"(#compdef clusterctl kubectl-capi
# zsh completion for clusterctl
_clusterctl() {
  local -a found described
  local reply
  for reply in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $reply ]] || continue
    found+=("${reply%%$'\t'*}")
    described+=("${${reply/$'\t'/ -- }}")
  done
  if (( ${#found} )); then
    compadd -l -d described -a found
  else
    _files
  fi
}
if [[ $funcstack[1] == _clusterctl ]]; then
  _clusterctl "$@"
else
  compdef _clusterctl clusterctl kubectl-capi
fi
)";

constexpr std::string_view kFish = R"(# fish completion for clusterctl
function __clusterctl_complete
    # Of the command at the cursor alone: others of the line are nothing to be run.
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l last (commandline --current-token --cut-at-cursor)
    $words[1] __complete $words[2..-1] "$last" 2>/dev/null
end
complete --command clusterctl --arguments '(__clusterctl_complete)'
complete --command kubectl-capi --arguments '(__clusterctl_complete)'
)";

constexpr std::string_view kPowershell = R"(# PowerShell completion for clusterctl
Register-ArgumentCompleter -Native -CommandName clusterctl, kubectl-capi -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | ForEach-Object { $_.ToString() })
    $program = $words[0]
    $rest = @($words | Select-Object -Skip 1)
    if ($wordToComplete -eq '') { $rest += '""' }
    & $program __complete @rest 2>$null | ForEach-Object {
        $word, $about = $_ -split "`t", 2
        if (-not $about) { $about = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
}
)";

struct Shell {
  std::string_view name, script, use;
};

constexpr std::array<Shell, 4> kShells = {{
    {"bash", kBash,
     "  # In this shell\n  source <(clusterctl completion bash)\n\n"
     "  # In every shell\n  clusterctl completion bash > ~/.local/share/bash-completion/completions/clusterctl\n"},
    {"fish", kFish,
     "  # In this shell\n  clusterctl completion fish | source\n\n"
     "  # In every shell\n  clusterctl completion fish > ~/.config/fish/completions/clusterctl.fish\n"},
    {"powershell", kPowershell,
     "  # In this shell\n  clusterctl completion powershell | Out-String | Invoke-Expression\n"},
    {"zsh", kZsh,
     "  # In this shell\n  source <(clusterctl completion zsh)\n\n"
     "  # In every shell\n  clusterctl completion zsh > \"${fpath[1]}/_clusterctl\"\n"},
}};

const Shell& Find(std::string_view name) {
  for (const Shell& shell : kShells) {
    if (shell.name == name) return shell;
  }
  std::abort();
}

}  // namespace

std::string_view ScriptOf(std::string_view shell) { return Find(shell).script; }

std::string UseOf(std::string_view shell) { return std::string(Find(shell).use); }

}  // namespace capi::cli
