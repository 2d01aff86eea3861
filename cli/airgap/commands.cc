#include "cli/airgap/commands.h"

#include <memory>

#include "cli/airgap/bundle_commands.h"
#include "cli/airgap/preload.h"
#include "cli/airgap/publish.h"
#include "cli/install/commands.h"

namespace capi::cli {
namespace {

// Files of which each has a flag of its own.
void AddFilesFlag(CLI::App& command, const std::string& names, std::vector<std::string>& files,
                  const std::string& about) {
  command.add_option(names, files, about)->allow_extra_args(false);
}

void TakeAll(CLI::App& command, const std::string& name) {
  command.get_option(name)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddCollectFlags(CommandLine& line, CLI::App& command, CollectOptions& collect) {
  AddProviderFlags(line, command, collect.providers, collect.with_defaults);
  AddFilesFlag(command, "-f,--filename", collect.files,
               "Files and folders with Provider objects, repeatable; - is standard input");
  command.add_flag("-e,--existing", collect.existing, "The providers that the cluster has declared");
  command.add_option(
      "-u,--artifact-url", collect.artifact_url,
      "Where the releases are, instead of each provider's source: an artifact of a registry "
      "(oci://host/repository[:tag]), of several providers if its files' titles have them, or a file of "
      "a release on GitHub or GitLab; for objects with fetchConfig.oci the same, to send credentials there");
}

void AddPreload(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "preload",
      "Put releases of providers into a cluster, for an operator that reaches no source of them.\n\n"
      "Each becomes a ConfigMap (or a few, if it is large) in its provider's namespace, where the operator finds it: "
      "by\nfetchConfig.selector, or without any fetchConfig. One that is there is left alone if it is the same, and "
      "is else a\nreason to refuse. With -o or --to-file nothing is written to a cluster. A registry that asks for "
      "credentials gets those\nof OCI_USERNAME and OCI_PASSWORD, OCI_ACCESS_TOKEN or OCI_REFRESH_TOKEN in the "
      "environment.",
      "  # Into the cluster that kubectl reaches\n"
      "  clusterctl preload --core cluster-api:v1.12.0 --infrastructure aws:v2.11.1\n\n"
      "  # What the Provider objects of a folder ask for, to be carried over\n"
      "  clusterctl preload -f clusters/management -o yaml > releases.yaml\n\n"
      "  # From a registry\n"
      "  clusterctl preload -i aws:v2.11.1 -u oci://registry.example.com/providers/aws\n");
  auto options = std::make_shared<PreloadOptions>();
  AddCollectFlags(line, command, options->collect);
  command.add_option("-n,--target-namespace", options->collect.ns,
                     "Namespace for what flags name, without it the one of each release; of objects, the one that "
                     "they are in");
  command.add_option("-o,--output", options->output, "Print the ConfigMaps, as yaml or json");
  command.add_option("--to-file", options->to_file, "Write them into this file, as yaml unless -o says json");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Preload(Context{}, line.global(), *options, line.world()); });
  TakeAll(command, "--filename");
}

void AddPublish(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "publish",
      "Put a release of a provider into a registry, as an artifact.\n\n"
      "Of a folder its metadata.yaml and components files are taken, and nothing else that it has, or the release of "
      "a\nprovider's own source. The same files give the same artifact. A tag that names another one is left alone, "
      "unless\n--force. Credentials are those of OCI_USERNAME and OCI_PASSWORD, OCI_ACCESS_TOKEN or "
      "OCI_REFRESH_TOKEN in the environment.",
      "  # What a build has left in a folder\n"
      "  clusterctl publish --dir out -u oci://registry.example.com/providers/example:v1.2.3\n\n"
      "  # What the AWS provider has on GitHub\n"
      "  clusterctl publish -i aws:v2.11.1 -u oci://registry.example.com/providers/aws\n");
  auto options = std::make_shared<PublishOptions>();
  command.add_option("-u,--artifact-url", options->artifact_url,
                     "The registry, the repository and the tag: oci://host/repository:v1.2.3; of a provider that flags "
                     "name the tag is its version, without one");
  command.add_option("-d,--dir", options->folder, "A folder with a release; the current one, where nothing is named");
  AddFilesFlag(command, "-f,--file", options->files, "A file that goes along, repeatable");
  AddProviderFlags(line, command, options->providers, false);
  command.add_flag("--force", options->force, "Have a tag that is there name this artifact from now on");
  line.AddOutputFlag(command, options->output);
  line.Finish(command, [&line, options] { return Publish(Context{}, line.global(), *options, line.world()); });
  TakeAll(command, "--file");
}

void AddCreate(CommandLine& line, CLI::App& bundle) {
  CLI::App& command = line.Add(
      bundle, "create",
      "Write the releases of a set of providers into one file.\n\n"
      "Those that are named, and as with the first `init` the core and kubeadm, unless it is by Provider objects that "
      "they\nare, or with --artifact-url. cert-manager's manifests go along, and the list of all images; with "
      "--images the\nimages themselves, from their registries. The file is an image layout of OCI in a tar archive. "
      "The "
      "same content gives the\nsame bytes.",
      "  # For the AWS provider\n"
      "  clusterctl bundle create --infrastructure aws:v2.11.1 -o bundle.tar\n\n"
      "  # For all that a cluster has, with the images\n"
      "  clusterctl bundle create --existing --images --platform linux/amd64 -o bundle.tar\n");
  auto options = std::make_shared<BundleCreateOptions>();
  options->collect.with_defaults = true;
  AddCollectFlags(line, command, options->collect);
  command.add_option("-n,--namespace", options->collect.ns, "Of Provider objects: the namespace that they are in");
  command.add_option("-o,--to-file", options->file, "The file to write");
  command.add_option("--install-cert-manager", options->cert_manager, "false leaves cert-manager and its images out")
      ->capture_default_str();
  command.add_option("--operator-image", options->operator_image,
                     "The operator's image in your registry, for the list; without it the configuration file's");
  command.add_flag("--images", options->images, "The images themselves, too");
  AddFilesFlag(command, "--platform", options->image_sources.platforms,
               "Of the images those for this platform alone, like linux/amd64; repeatable, without it all");
  command.add_option("--images-from", options->image_sources.from,
                     "A registry that has them all, instead of each one's own: oci://host/prefix (http://host/prefix "
                     "without TLS), and behind it the last part of each name. It gets the environment's credentials");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return CreateBundle(Context{}, line.global(), *options, line.world()); });
  TakeAll(command, "--filename");
  TakeAll(command, "--platform");
}

void AddLoad(CommandLine& line, CLI::App& bundle) {
  CLI::App& command = line.Add(
      bundle, "load",
      "Bring the releases of a bundle into a cluster, a registry or a folder.\n\n"
      "All of the file is checked before anything is written. Into a cluster they go as with `preload`, into a "
      "registry as\nwith `publish`, each under PREFIX/LABEL:VERSION. For a folder the configuration file with which "
      "it is used is printed.\nImages go into a registry alone (--images-to), each by the last part of its name and "
      "its "
      "tag, as\n`images: {all: {repository: host/prefix}}` in the configuration file looks for them.",
      "  # Into the cluster that kubectl reaches\n"
      "  clusterctl bundle load bundle.tar\n\n"
      "  # For init\n"
      "  clusterctl bundle load bundle.tar --to-folder /srv/releases \\\n"
      "    --images-to oci://registry.example.com/capi > clusterctl.yaml\n\n"
      "  # For spec.fetchConfig.oci: registry.example.com/providers/infrastructure-aws, for example\n"
      "  clusterctl bundle load bundle.tar --to oci://registry.example.com/providers\n");
  auto options = std::make_shared<BundleLoadOptions>();
  command.add_option("FILE", options->file, "The bundle");
  command.add_option("--to", options->to, "A registry, and what goes before each repository's name: oci://host/prefix");
  command.add_option("--to-folder", options->to_folder, "A folder, in clusterctl's layout of local repositories");
  command.add_option("--images-to", options->images_to,
                     "A registry for the images, and what goes before their names: oci://host/prefix; without --to and "
                     "--to-folder nothing else is brought");
  command.add_option("-n,--target-namespace", options->ns,
                     "Namespace for all ConfigMaps; without it the one of each release");
  command.add_flag("--force", options->force, "Have tags that are there name these artifacts from now on");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return LoadBundle(Context{}, line.global(), *options, line.world()); });
}

void AddListBundleImages(CommandLine& line, CLI::App& bundle) {
  CLI::App& command = line.Add(bundle, "list-images", "Print the images that a bundle's releases need, one a line.",
                               "  clusterctl bundle list-images bundle.tar\n");
  auto options = std::make_shared<BundleImagesOptions>();
  command.add_option("FILE", options->file, "The bundle");
  line.AddOutputFlag(command, options->output);
  line.Finish(command, [&line, options] { return ListBundleImages(*options, line.world()); });
}

}  // namespace

void AddAirGapCommands(CommandLine& line) {
  AddPreload(line);
  AddPublish(line);
  CLI::App& bundle =
      line.Add(line.root(), "bundle", "Releases of a set of providers in one file, for clusters that reach no server.");
  AddCreate(line, bundle);
  AddLoad(line, bundle);
  AddListBundleImages(line, bundle);
}

}  // namespace capi::cli
