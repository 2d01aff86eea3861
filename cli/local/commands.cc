#include "cli/local/commands.h"

#include <memory>

#include "cli/frame/structured.h"
#include "cli/local/down.h"
#include "cli/local/logs.h"
#include "cli/local/place.h"
#include "cli/local/status.h"
#include "cli/local/supervise.h"
#include "cli/local/up.h"

namespace capi::cli {
namespace {

// Of `status`, beside 0 and 1.
constexpr int kNotReady = 2, kDown = 3;

void AddUp(CommandLine& line, CLI::App& local) {
  CLI::App& command = line.Add(
      local, "up",
      "Bring a management plane up on this machine: etcd, kube-apiserver, the operator and providers, all of them\n"
      "plain processes.\n\n"
      "At the first time the core provider, and kubeadm for bootstrap and control plane, are installed beside those "
      "that\n"
      "are named, unless the files have a core. What is there already is left alone; broken off, the same command goes "
      "on.",
      "  # Cluster API with its docker provider\n"
      "  clusterctl local up --provider infrastructure/docker:v1.12.1\n\n"
      "  # The providers of a file, with credentials from the environment\n"
      "  clusterctl local up -f providers.yaml --env AWS_ACCESS_KEY_ID --env AWS_SECRET_ACCESS_KEY\n\n"
      "  # A manager that was built here\n"
      "  clusterctl local up -f providers.yaml --binary example.com/my-manager:v0.1.0=bin/manager\n");
  auto options = std::make_shared<LocalUpOptions>();
  command
      .add_option("-f,--filename", options->files,
                  "Files and folders with Provider objects, and the Secrets, ConfigMaps and Namespaces that they need, "
                  "repeatable; - is standard input")
      ->allow_extra_args(false);
  line.AddListFlag(command, "--provider", options->providers,
                   "A provider, as TYPE/NAME[:VERSION] (infrastructure/docker:v1.12.1), repeatable");
  command
      .add_option(
          "--binary", options->binaries,
          "IMAGE=PATH: the program of a container image, repeatable; IMAGE= takes back what an earlier run has named")
      ->allow_extra_args(false);
  command
      .add_option("--build", options->builds,
                  "IMAGE=MODULE[/PACKAGE]@VERSION: the Go module that a container image's program is built from, "
                  "repeatable")
      ->allow_extra_args(false);
  line.AddListFlag(command, "--env", options->environment,
                   "Name of a variable of the environment that managers see, too, repeatable");
  command
      .add_option("--programs", options->programs,
                  "Folder with etcd, kube-apiserver and kube-controller-manager; without it $KUBEBUILDER_ASSETS, "
                  "the folder of clusterctl, PATH; - takes back what an earlier run has named")
      ->check(CheckHasValue);
  command.add_option("--timeout", options->timeout, "How long to wait for the plane, and for each provider: 90s, 5m")
      ->capture_default_str();
  AddFolderFlag(line, command, options->folder);
  // Each of these has values of its own, and none is the last one's.
  line.Finish(command, [&line, options] { return LocalUp(Context{}, line.global(), *options, line.world()); });
  for (const char* list : {"--filename", "--binary", "--build"})
    command.get_option(list)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddStatus(CommandLine& line, CLI::App& local) {
  CLI::App& command = line.Add(local, "status", "Print the processes of the plane, and how each of them is.",
                               "  # Whether all is ready, for a script\n"
                               "  clusterctl local status -o name > /dev/null && echo ready\n");
  auto options = std::make_shared<LocalStatusOptions>();
  line.AddOutputFlag(command, options->output);
  AddFolderFlag(line, command, options->folder);
  line.Finish(command, [&line, options]() -> Status {
    const PlaneHealth health = TRY(LocalStatus(Context{}, *options, line.world()));
    line.set_success_code(health == PlaneHealth::kReady ? 0 : health == PlaneHealth::kDown ? kDown : kNotReady);
    return Ok();
  });
  line.SetErrorCode(
      command, 1,
      "0 where all is ready, 2 where something isn't, 3 where the plane doesn't run, and 1 where something "
      "failed");
}

void AddLogs(CommandLine& line, CLI::App& local) {
  CLI::App& command =
      line.Add(local, "logs", "Print what a process of the plane has printed, or the end of what all have.",
               "  # Of the API server\n"
               "  clusterctl local logs kube-apiserver\n\n"
               "  # Of a manager, by its Deployment, and what it prints from now on\n"
               "  clusterctl local logs -f capi-controller-manager\n");
  auto options = std::make_shared<LocalLogsOptions>();
  command.add_option("PROCESS", options->names,
                     "As status has it, or the name of a Deployment; without it all of them");
  command.add_flag("-f,--follow", options->follow, "Go on with what they print, until Ctrl-C");
  command.add_option("--tail", options->tail, "The last lines alone: how many");
  AddFolderFlag(line, command, options->folder);
  line.Finish(command, [&line, options] { return LocalLogs(Context{}, *options, line.world()); });
}

void AddDown(CommandLine& line, CLI::App& local) {
  CLI::App& command =
      line.Add(local, "down", "End all processes of the plane. Its data stays: `local up` goes on with it.",
               "  # And nothing is left\n"
               "  clusterctl local down --delete\n");
  auto options = std::make_shared<LocalDownOptions>();
  command.add_flag("--delete", options->deletes, "Delete the plane's files, too: all that it has is gone");
  AddFolderFlag(line, command, options->folder);
  line.Finish(command, [&line, options] { return LocalDown(Context{}, *options, line.world()); });
}

void AddSupervise(CommandLine& line, CLI::App& local) {
  CLI::App& command = line.Add(local, "supervise", "Run the plane of a folder. `local up` starts this; people don't.");
  command.group("");
  auto folder = std::make_shared<std::string>();
  AddFolderFlag(line, command, *folder);
  line.Finish(command, [&line, folder]() -> Status {
    return SupervisePlane(TRY(PlaneFolderPath(*folder, line.world().getenv)), line.world());
  });
}

}  // namespace

void AddLocalCommands(CommandLine& line) {
  CLI::App* found = FindCommand(line.root(), "local");
  CLI::App& local = found != nullptr
                        ? *found
                        : line.Add(line.root(), "local", "A management plane of plain processes on this machine.");
  AddUp(line, local);
  AddStatus(line, local);
  AddLogs(line, local);
  AddDown(line, local);
  AddSupervise(line, local);
}

}  // namespace capi::cli
