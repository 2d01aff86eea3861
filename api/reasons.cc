#include "api/reasons.h"

#include "base/strings.h"

namespace capi::api {
namespace {

constexpr ConditionInfo kConditions[] = {
    {condition::kPreflightCheckPassed, "Everything that is checked before the first write is as it must be."},
    {condition::kProviderInstalled, "Every object of the release is applied and every CRD is established."},
    {condition::kProviderUpgraded, "The last change of version went through; absent until there was one."},
    {condition::kReady, "The summary: installed as declared, and every workload is healthy."},
    {condition::kReconciling, "The operator is at work or waits for something that comes by itself (kstatus)."},
    {condition::kStalled,
     "Only a change lets the operator go on: of an input, of what a server allows, or of the release at its source. It "
     "looks again when an input changes, and now and then (kstatus)."},
    {condition::kPaused, "The provider is scaled to zero, or hands are off it."},
    {condition::kContractCompatible, "The contract of the provider is one that the core provider accepts."},
    {condition::kDrifted, "Somebody keeps changing what the operator applied."},
    {condition::kStorageMigrated,
     "Every object of the provider's kinds is stored at the version that its CRD stores; absent until there was "
     "something to migrate."},
    {condition::kWarnings,
     "The release was applied, but something in the declaration had no effect, or the API server warned of an object; "
     "absent when there is nothing to say."},
    {condition::kUpgradeAvailable,
     "A newer version than the installed one is known; absent until there was something to tell. It says nothing of "
     "health."},
};

constexpr std::string_view kOtherBuilds = "Written by other builds";
constexpr std::string_view kPeers = "Not set by this operator; an object that the peer wrote may carry it.";
constexpr std::string_view kNextPass = "Nothing; it goes away once this operator has installed the provider.";

constexpr ReasonInfo kReasons[] = {
    {"All is well", reason::kPreflightChecksPassed, "PreflightCheckPassed",
     "All checks before the installation passed.", "Nothing."},
    {"All is well", reason::kProviderInstalled, "ProviderInstalled", "The provider is installed as declared.",
     "Nothing."},
    {"All is well", reason::kProviderUpgraded, "ProviderUpgraded", "The last upgrade went through.", "Nothing."},
    {"All is well", reason::kWorkloadsReady, "Ready", "Installed, and every workload is healthy.", "Nothing."},
    {"All is well", reason::kContractAccepted, "ContractCompatible",
     "The core provider accepts the contract of this provider.", "Nothing."},
    {"All is well", reason::kRenderWarnings, "Warnings",
     "Something in the declaration had no effect, or the API server warned of an object; the message says what.",
     "Correct it where the message says, or leave it: the provider works."},
    {"All is well", reason::kUpgradeAvailable, "UpgradeAvailable", "A newer version than the installed one is known.",
     "Read what status.availableUpgrades says of it; set spec.version when it suits you."},
    {"All is well", reason::kUpToDate, "UpgradeAvailable", "No newer version than the installed one is known.",
     "Nothing."},
    {"All is well", reason::kUpdateCheckFailed, "UpgradeAvailable",
     "It could not be found out whether there is a newer version; the provider works.",
     "Nothing, or what the message says; the next look is at the time that it names."},
    {"All is well", reason::kUpgradeChosen, "(event)", "spec.upgradePolicy has begun an upgrade to a newer version.",
     "Nothing."},
    {"All is well", reason::kPruned, "(event)", "Objects that the release no longer has were removed.", "Nothing."},
    {"All is well", reason::kStorageMigrated, "StorageMigrated",
     "Objects stored at an older version were written anew, and status.storedVersions of the CRDs is one version.",
     "Nothing."},
    {"All is well", reason::kNoDrift, "Drifted", "What the operator applied is as it applied it.", "Nothing."},
    {"At work", reason::kUpgrading, "ProviderUpgraded", "Another version is being applied over the installed one.",
     "Wait."},
    {"At work", reason::kProgressing, "Paused", "The pods are going, or come back after a pause.", "Wait."},
    {"At work", reason::kWaitingForSource, "ProviderInstalled, Reconciling",
     "The releases of other providers are fetched first, as many as may be at once (`--concurrency` less one).",
     "Wait."},
    {"At work", reason::kAdopting, "ProviderInstalled, Ready, Reconciling",
     "A provider that another tool installed is being taken over.",
     "Wait; where the message names differences, resolve them."},
    {"At work", reason::kWorkloadsNotReady, "ProviderInstalled, Ready, Reconciling",
     "Everything is applied, but a Deployment, DaemonSet, StatefulSet or Job is not healthy yet.",
     "Wait; if it stays, look at the pods of the workload that the message names."},
    {"At work", reason::kRolloutTimedOut, "ProviderInstalled, ProviderUpgraded, Stalled",
     "A workload did not become healthy within spec.rollout.timeout.",
     "Look at the pods that the message names, then change the declaration; where the message says so, pods "
     "still serve."},
    {"At work", reason::kMigratingStorage, "Ready, Reconciling, StorageMigrated",
     "Objects are being written anew at the version that their CRD stores.", "Wait."},
    {"At work", reason::kStorageMigrationFailed, "Ready, Reconciling, StorageMigrated",
     "Objects could not be written anew at the version that their CRD stores; the provider works.",
     "Read the message; most often the provider's conversion webhook doesn't answer. It is tried again, and a deletion "
     "waits for it."},
    {"At work", reason::kRolledBack, "ProviderUpgraded, Stalled",
     "The new version failed and the last good one was applied again (spec.rollout.onFailure: Rollback).",
     "Find out why the new version failed, then set another spec.version; a policy that chose it "
     "waits for a newer one by itself."},
    {"At work", reason::kCRDsNotEstablished, "ProviderInstalled, Ready, Reconciling",
     "The API server has not accepted a CustomResourceDefinition of the release yet.",
     "Wait; if it stays, read the conditions of the CRD that the message names."},
    {"At work", reason::kPaused, "Paused, ProviderInstalled, Ready, Reconciling",
     "All workloads of the provider are at zero replicas: spec.paused is true, or was and can't be taken back yet.",
     "Set spec.paused to false when you are done."},
    {"At work", reason::kHandsOff, "Paused, Ready",
     "The annotation cluster.x-k8s.io/paused is set: the operator changes nothing.",
     "Remove the annotation when you are done."},
    {"The object itself", reason::kInvalidSpec, "PreflightCheckPassed, Stalled",
     "A field of the spec has a value that can not be used; the message begins with its path.", "Correct the field."},
    {"The object itself", reason::kIncorrectVersionFormat, "PreflightCheckPassed, Stalled",
     "spec.version is not a semantic version.", "Write it as v1.2.3, with or without the v."},
    {"The object itself", reason::kIncorrectCoreProviderNameReason, "PreflightCheckPassed, Stalled",
     "A CoreProvider has another name than cluster-api.", "Create it again under the name cluster-api."},
    {"The object itself", reason::kMoreThanOneExists, "PreflightCheckPassed, Reconciling",
     "An older object of the same kind and name exists, perhaps in another namespace.", "Delete one of the two."},
    {"The object itself", reason::kFetchConfigValidationError, "PreflightCheckPassed, ProviderInstalled, Stalled",
     "spec.fetchConfig names no source or more than one, or a host that the operator may not ask, or a provider that "
     "is not "
     "built in has none.",
     "Give exactly one source: url of a repository, oci of a registry, git, or selector of ConfigMaps; hosts are "
     "allowed by the operator's flag --allowed-sources."},
    {"The object itself", reason::kVerificationRequired, "PreflightCheckPassed, Stalled",
     "spec.fetchConfig has neither digest nor verify, and this operator runs with --require-verified.",
     "Name a Secret with public keys in spec.fetchConfig.verify, or set spec.fetchConfig.digest."},
    {"The object itself", reason::kUnsupportedProviderDowngradeReason, "PreflightCheckPassed, Stalled",
     "spec.version is older than what is installed.",
     "Set a newer version, or allow it with annotation operator.cluster.x-k8s.io/allow-downgrade: \"true\"."},
    {"The object itself", reason::kUnsupportedVersionSkip, "PreflightCheckPassed, Stalled",
     "The upgrade would skip more minor versions than the provider supports.",
     "Upgrade to the version that the message names first."},
    {"The object itself", reason::kComponentsCustomizationError, "ProviderInstalled, Reconciling, Stalled",
     "spec.manager, spec.deployment or spec.additionalDeployments does not fit the release.",
     "Correct the field that the message names."},
    {"The object itself", reason::kUnsupportedManagerField, "PreflightCheckPassed, Stalled",
     "A field of spec.manager has no flag in this manager, and an unknown flag would end it.",
     "Remove the field that the message names."},
    {"The object itself", reason::kComponentsPatchError, "ProviderInstalled, Stalled",
     "A patch does not parse, or could not be applied to an object of the release.",
     "Correct the patch that the message names."},
    {"The object itself", reason::kComponentsImageOverrideError, "ProviderInstalled, Stalled",
     "An image override could not be applied.", "Correct the image configuration that the message names."},
    {"What the object refers to", reason::kSecretNotFound, "PreflightCheckPassed, Reconciling",
     "The Secret that spec.configSecret, spec.fetchConfig.secretRef or spec.fetchConfig.verify names does not exist.",
     "Create it; the provider goes on by itself."},
    {"What the object refers to", reason::kMissingVariables, "PreflightCheckPassed, Reconciling",
     "The release needs variables that have no value; the message names all of them.",
     "Add them to the config Secret; the provider goes on by itself."},
    {"What the object refers to", reason::kAdditionalManifestsNotFound, "PreflightCheckPassed, Reconciling",
     "The ConfigMap that spec.additionalManifests names does not exist, or lacks the key manifests.",
     "Create it; the provider goes on by itself."},
    {"What the object refers to", reason::kCrossNamespaceReference, "PreflightCheckPassed, Stalled",
     "The spec names an object of another namespace, and nobody with the right to read it is on record for that; the "
     "message begins with the field's path.",
     "Put the object into the provider's own namespace; or somebody who may read it writes the reference while the "
     "operator's webhooks run; or whoever runs the operator allows all, with --allow-cross-namespace-references."},
    {"What the object refers to", reason::kServiceAccountNotFound, "PreflightCheckPassed, Reconciling",
     "The ServiceAccount that spec.serviceAccountName names does not exist in the provider's namespace.",
     "Create it, with the rights that the release needs; the provider goes on by itself."},
    {"What the object refers to", reason::kServiceAccountRequired, "PreflightCheckPassed, Stalled",
     "spec.serviceAccountName is not set, and this operator runs with --require-service-account: it installs, changes "
     "and removes nothing in its own name.",
     "Name a ServiceAccount of the provider's namespace that has the rights which the release needs."},
    {"The release", reason::kComponentsFetchError, "ProviderInstalled, Reconciling, Stalled",
     "The release could not be read from its source, or is broken as stored: a key is missing, or its compression is "
     "damaged.",
     "Read the message; a passing failure is tried again at the time it names. What is broken, store again."},
    {"The release", reason::kSourceUnreachable, "ProviderInstalled, Reconciling",
     "The place where the releases are does not answer.",
     "Check network and proxy, or use a source inside the cluster; it is tried again at the time in the message."},
    {"The release", reason::kRateLimited, "ProviderInstalled, Reconciling",
     "The source limits requests; the message says until when.",
     "Wait, or add a token (key github-token or gitlab-access-token) to the Secret of spec.configSecret, or the "
     "credentials of a registry to the Secret of spec.fetchConfig.secretRef, or else of spec.configSecret."},
    {"The release", reason::kSourceCredentialsRejected, "ProviderInstalled, Stalled",
     "The source refused the credentials, or asks for some.",
     "Correct them in the Secret that spec.configSecret names, or, for oci, spec.fetchConfig.secretRef: the key "
     "github-token or gitlab-access-token, or OCI_USERNAME and OCI_PASSWORD for a registry; for git in that of "
     "spec.fetchConfig.git.secretRef. A folder on a server gets none: let everybody read it there."},
    {"The release", reason::kNoReleaseFound, "ProviderInstalled, Reconciling",
     "The source has no release that can be chosen: none at all, none of the five newest with a metadata.yaml, or none "
     "of a contract that the core accepts; or the selector matches no ConfigMap.",
     "Read the message; set spec.version, put a release there, or correct spec.fetchConfig."},
    {"The release", reason::kVersionNotFound, "ProviderInstalled, Reconciling",
     "The source has releases, but not this version.", "Set one of the versions that the message names."},
    {"The release", reason::kInvalidMetadata, "ProviderInstalled, Stalled", "metadata.yaml does not parse.",
     "Use another version, or correct metadata.yaml at the source."},
    {"The release", reason::kInvalidComponents, "ProviderInstalled, Stalled",
     "The components file is empty or is no list of Kubernetes objects; the message names line and column.",
     "Use another version, or correct the file at the source."},
    {"The release", reason::kMultipleNamespaces, "ProviderInstalled, Stalled",
     "The release has more than one Namespace object, so it can not go into one namespace.",
     "Use a newer version of the provider."},
    {"The release", reason::kComponentsNamespaceError, "ProviderInstalled, Stalled",
     "An object of the release can not be moved into the provider's namespace.",
     "Use another version, or correct the object that the message names at the source."},
    {"The release", reason::kDuplicateObjects, "ProviderInstalled, Stalled",
     "Two objects of the release are one once they are in the provider's namespace; the message names both places.",
     "Use another version, or take one of the two out of the file or of spec.additionalManifests."},
    {"The release", reason::kVerificationFailed, "ProviderInstalled, Stalled",
     "The release is not the one that spec.fetchConfig.digest asks for, or was not signed with a key of "
     "spec.fetchConfig.verify, or a file is not the one whose digest GitHub, GitLab or the registry names; or the "
     "Secret of spec.fetchConfig.verify has no key *.pub, or one that can not be read.",
     "Do not install it before you know why; then correct the digest, the keys or the source. Where the message names "
     "a key that is missing or can not be read, correct the Secret."},
    {"The cluster", reason::kWaitingForCoreProviderReady, "PreflightCheckPassed, Reconciling",
     "The CoreProvider is missing, or its CRDs are not established yet.",
     "Install the CoreProvider; the provider goes on by itself."},
    {"The cluster", reason::kMissingKinds, "PreflightCheckPassed, Reconciling",
     "The release uses kinds that the cluster does not have; the message names them and how to get them.",
     "Install what brings these kinds (often cert-manager); the provider goes on by itself."},
    {"The cluster", reason::kPermissionsMissing, "PreflightCheckPassed, Reconciling, Stalled",
     "The operator, or the ServiceAccount in whose name the provider is applied, may not do with the release's objects "
     "what that takes; the message ends in the roles that let it. Of an upgrade that a policy has chosen, "
     "`status.availableUpgrades[].refused.message` has them.",
     "Apply what follows the first line, if it is to have these rights (install.md, Rights, has the command); the "
     "provider goes on by the time named there."},
    {"The cluster", reason::kObjectOwnedByAnotherProvider, "ProviderInstalled, Reconciling",
     "An object of the release belongs to another provider already.",
     "Remove one of the two providers, or use another version."},
    {"The cluster", reason::kDryRunFailed, "ProviderInstalled, Reconciling, Stalled",
     "The API server would refuse an object of the release, or fails to try it: it reaches no webhook that it has to "
     "ask, gives no answer in time, or somebody else's write stands in the way.",
     "Read its answer in the message; it is tried again at the time named there."},
    {"The cluster", reason::kNamespaceTerminating, "PreflightCheckPassed, Reconciling",
     "The namespace of the provider is being deleted.", "Nothing, or create the provider in another namespace."},
    {"The cluster", reason::kInstallFailed, "ProviderInstalled, Reconciling, Stalled",
     "An object of the release could not be applied.",
     "Read the answer of the API server in the message; it is tried again at the time named there."},
    {"The cluster", reason::kCertificateNotKept, "Ready, Reconciling",
     "A certificate that the operator makes for the provider could not be renewed or mended, or API servers could not "
     "be "
     "told to trust it.",
     "Read the answer of the API server in the message; it is tried again at the time named there."},
    {"The cluster", reason::kCertificateIssued, "(event)",
     "The operator made or renewed a certificate for the provider, or left somebody else's caBundle as it is; or who "
     "makes the provider's certificates has changed.",
     "Nothing."},
    {"The cluster", reason::kUnsupportedCertificate, "PreflightCheckPassed, Reconciling",
     "The release asks cert-manager for something that the operator does not make itself; the message names it.",
     "Install cert-manager, and let the operator use it (--certificates)."},
    {"The cluster", reason::kOldComponentsDeletionError, "ProviderInstalled, Reconciling, Stalled",
     "An object that the new version no longer has could not be deleted.",
     "Read the message; it is tried again at the time named there."},
    {"The cluster", reason::kTimedOutWaitingForDeployment, "ProviderInstalled, Stalled",
     "A workload of the first installation did not become healthy in time.",
     "Look at the pods of the workload that the message names."},
    {"The cluster", reason::kStoredVersionsInUse, "PreflightCheckPassed, Reconciling, Stalled",
     "The release drops an API version at which objects are still stored.",
     "Unpause the provider, let its objects migrate, then upgrade; or go by a version between that has both."},
    {"The cluster", reason::kInvalidInventory, "PreflightCheckPassed, Stalled",
     "status.inventory can not be read, so the operator deletes nothing.",
     "Remove status.inventory; it is built again from the labels."},
    {"The cluster", reason::kAPIServerUnavailable, "ProviderInstalled, Ready, Reconciling, Stalled",
     "The API server does not answer, asks to slow down, or refuses what the operator has to read or write first.",
     "Read its answer in the message; it is tried again at the time named there."},
    {"The cluster", reason::kInternalError, "Ready, Stalled", "A bug of the operator.",
     "Report it with the message; it is tried again at the time named there."},
    {"Contracts", reason::kCAPIVersionIncompatibility, "ProviderInstalled, ContractCompatible, Reconciling, Stalled",
     "The contract of the release is not one that the core provider accepts or this operator knows, or metadata.yaml "
     "has no series for this version.",
     "Use a version with a contract that the message names, or upgrade the core provider, or the operator."},
    {"Contracts", reason::kWaitingForOrder, "PreflightCheckPassed, Reconciling",
     "Another provider has to be upgraded first; the message names it.", "Wait, or upgrade that provider."},
    {"Contracts", reason::kWaitingForPause, "PreflightCheckPassed, Reconciling",
     "A contract change needs every provider paused; the message names those that are not.",
     "Set spec.paused on them."},
    {"Contracts", reason::kWaitingForContracts, "Ready, Reconciling",
     "Not unpaused yet: some provider has a contract that the core provider does not accept.",
     "Upgrade the providers that the message names."},
    {"Drift", reason::kDriftCorrected, "(event)",
     "Something that the operator applied was changed or deleted, and is back.",
     "Nothing; to keep a change, declare it in the Provider's spec."},
    {"Drift", reason::kFieldFight, "Drifted",
     "The same field or object was changed again and again by somebody else; the operator restores it less often.",
     "Stop the other writer that the message names, or declare what it wants."},
    {"Deletion", reason::kDeleting, "Ready, Reconciling", "The provider is being removed.", "Wait."},
    {"Deletion", reason::kDeletionBlocked, "Ready, Reconciling",
     "The CoreProvider is deleted while other providers or Clusters exist, or while the operator can't list a kind of "
     "providers. Or, of any provider: annotation operator.cluster.x-k8s.io/delete-crds asks for the CRDs to go too, "
     "but "
     "objects of them exist; or the status was lost, and the operator can't find out what there is to delete, or the "
     "message names kinds whose objects nobody can read.",
     "Read the message, and delete what it names first, let the operator list the kind, or get the webhook to answer. "
     "Annotation operator.cluster.x-k8s.io/force-delete: \"true\" deletes the provider all the same, except with "
     "delete-crds: there, delete the objects, or remove delete-crds to keep the CRDs."},
    {"Deletion", reason::kInUse, "Ready, Reconciling",
     "The provider is deleted while workload clusters use it; the message names some, or says why that can't be found "
     "out.",
     "Delete those clusters, or set annotation operator.cluster.x-k8s.io/force-delete: \"true\"."},
    {"Deletion", reason::kDeletionFailed, "Ready, Reconciling",
     "An object could not be deleted, or, after the removal began, whether clusters use the provider could not be "
     "found out.",
     "Read the message; it is tried again at the time named there."},
    // No constants: nothing here sets them, and none of our code asks for them.
    {kOtherBuilds, "ComponentsUpgradeError", "ProviderUpgraded", kPeers, kNextPass},
    {kOtherBuilds, "FailedToUpdateProvidersHash", "ProviderInstalled", kPeers, kNextPass},
    {kOtherBuilds, "InvalidGithubTokenError", "PreflightCheckPassed", kPeers, kNextPass},
    {kOtherBuilds, "NoDeploymentAvailableConditionReason", "Ready", kPeers, kNextPass},
    {kOtherBuilds, "UnknownProvider", "ProviderInstalled", kPeers, kNextPass},
};

}  // namespace

std::span<const ConditionInfo> AllConditions() { return kConditions; }

std::span<const ReasonInfo> AllReasons() { return kReasons; }

const ReasonInfo* FindReason(std::string_view reason) {
  for (const ReasonInfo& info : kReasons) {
    if (info.reason == reason) return &info;
  }
  return nullptr;
}

std::string ReasonPlace(std::string_view reason) {
  if (FindReason(reason) == nullptr) return "";
  return "docs/reasons.md#" + ToLower(reason);
}

}  // namespace capi::api
