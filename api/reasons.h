// Every condition type and every reason that a provider's status can carry. Part of the API: users alert on them.
//
// reasons.cc has a row for each reason; docs/reasons.md is printed from those rows (schema/reasons_page.cc), and a test
// compares all three. A reason comes with the code that sets it (tools/check_rules).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace capi::api {

namespace condition {

// Everything that is checked before the first write is as it must be.
inline constexpr std::string_view kPreflightCheckPassed = "PreflightCheckPassed";
// Every object of the release is applied and every CRD is established.
inline constexpr std::string_view kProviderInstalled = "ProviderInstalled";
// The last change of version went through; absent until there was one.
inline constexpr std::string_view kProviderUpgraded = "ProviderUpgraded";
// The summary: installed as declared, and every workload is healthy.
inline constexpr std::string_view kReady = "Ready";
// The operator is at work or waits for something that comes by itself (kstatus).
inline constexpr std::string_view kReconciling = "Reconciling";
// Only a change lets the operator go on: of an input, of what a server allows, or of the release at its source. It
// looks again when an input changes, and now and then (kstatus).
inline constexpr std::string_view kStalled = "Stalled";
// The provider is scaled to zero, or hands are off it.
inline constexpr std::string_view kPaused = "Paused";
// The contract of the provider is one that the core provider accepts.
inline constexpr std::string_view kContractCompatible = "ContractCompatible";
// Somebody keeps changing what the operator applied.
inline constexpr std::string_view kDrifted = "Drifted";
// Every object of the provider's kinds is stored at the version that its CRD stores; absent until there was something
// to migrate.
inline constexpr std::string_view kStorageMigrated = "StorageMigrated";
// The release was applied, but something in the declaration had no effect; absent when there is nothing to say.
inline constexpr std::string_view kWarnings = "Warnings";
// A newer version than the installed one is known; absent until there was something to tell. It says nothing of health.
inline constexpr std::string_view kUpgradeAvailable = "UpgradeAvailable";

}  // namespace condition

namespace reason {

// ---- All is well ----

// All checks before the installation passed.
inline constexpr std::string_view kPreflightChecksPassed = "PreflightChecksPassed";
// The provider is installed as declared.
inline constexpr std::string_view kProviderInstalled = "ProviderInstalled";
// The last upgrade went through.
inline constexpr std::string_view kProviderUpgraded = "ProviderUpgraded";
// Installed, and every workload is healthy.
inline constexpr std::string_view kWorkloadsReady = "WorkloadsReady";
// The core provider accepts the contract of this provider.
inline constexpr std::string_view kContractAccepted = "ContractAccepted";
// Something in the declaration had no effect; the message says what.
inline constexpr std::string_view kRenderWarnings = "RenderWarnings";
// A newer version than the installed one is known.
inline constexpr std::string_view kUpgradeAvailable = "UpgradeAvailable";
// No newer version than the installed one is known.
inline constexpr std::string_view kUpToDate = "UpToDate";
// It couldn't be found out whether there is a newer version; the provider works.
inline constexpr std::string_view kUpdateCheckFailed = "UpdateCheckFailed";
// spec.upgradePolicy has begun an upgrade to a newer version (event).
inline constexpr std::string_view kUpgradeChosen = "UpgradeChosen";
// Objects that the release no longer has were removed (event).
inline constexpr std::string_view kPruned = "Pruned";
// Objects stored at an older version were written anew, and status.storedVersions of the CRDs is one version.
inline constexpr std::string_view kStorageMigrated = "StorageMigrated";
// What the operator applied is as it applied it.
inline constexpr std::string_view kNoDrift = "NoDrift";

// ---- At work ----

// Another version is being applied over the installed one.
inline constexpr std::string_view kUpgrading = "Upgrading";
// A change of the declaration is being applied.
inline constexpr std::string_view kProgressing = "Progressing";
// The releases of other providers are fetched first, as many as may be at once.
inline constexpr std::string_view kWaitingForSource = "WaitingForSource";
// A provider that another tool installed is being taken over.
inline constexpr std::string_view kAdopting = "Adopting";
// Everything is applied, but a Deployment, DaemonSet, StatefulSet or Job is not healthy yet.
inline constexpr std::string_view kWorkloadsNotReady = "WorkloadsNotReady";
// A workload did not become healthy within spec.rollout.timeout.
inline constexpr std::string_view kRolloutTimedOut = "RolloutTimedOut";
// Objects are being written anew at the version that their CRD stores.
inline constexpr std::string_view kMigratingStorage = "MigratingStorage";
// Objects could not be written anew at the version that their CRD stores; the provider works.
inline constexpr std::string_view kStorageMigrationFailed = "StorageMigrationFailed";
// The new version failed and the last good one was applied again (spec.rollout.onFailure: Rollback).
inline constexpr std::string_view kRolledBack = "RolledBack";
// The API server has not accepted a CustomResourceDefinition of the release yet.
inline constexpr std::string_view kCRDsNotEstablished = "CRDsNotEstablished";
// spec.paused is true: all workloads of the provider are at zero replicas.
inline constexpr std::string_view kPaused = "Paused";
// The annotation cluster.x-k8s.io/paused is set: the operator changes nothing.
inline constexpr std::string_view kHandsOff = "HandsOff";

// ---- The object itself ----

// A field of the spec has a value that can not be used; the message begins with its path.
inline constexpr std::string_view kInvalidSpec = "InvalidSpec";
// spec.version is not a semantic version.
inline constexpr std::string_view kIncorrectVersionFormat = "IncorrectVersionFormat";
// A CoreProvider has another name than cluster-api.
inline constexpr std::string_view kIncorrectCoreProviderNameReason = "IncorrectCoreProviderNameReason";
// An older object of the same kind and name exists, perhaps in another namespace.
inline constexpr std::string_view kMoreThanOneExists = "MoreThanOneExists";
// spec.fetchConfig names no source or more than one, or a provider that is not built in has none.
inline constexpr std::string_view kFetchConfigValidationError = "FetchConfigValidationError";
// spec.version is older than what is installed.
inline constexpr std::string_view kUnsupportedProviderDowngradeReason = "UnsupportedProviderDowngradeReason";
// The upgrade would skip more minor versions than the provider supports.
inline constexpr std::string_view kUnsupportedVersionSkip = "UnsupportedVersionSkip";
// spec.manager, spec.deployment or spec.additionalDeployments does not fit the release.
inline constexpr std::string_view kComponentsCustomizationError = "ComponentsCustomizationError";
// A field of spec.manager has no flag in this manager, and an unknown flag would end it.
inline constexpr std::string_view kUnsupportedManagerField = "UnsupportedManagerField";
// A patch does not parse, or could not be applied to an object of the release.
inline constexpr std::string_view kComponentsPatchError = "ComponentsPatchError";
// An image override could not be applied.
inline constexpr std::string_view kComponentsImageOverrideError = "ComponentsImageOverrideError";

// ---- What the object refers to ----

// The Secret that spec.configSecret names does not exist.
inline constexpr std::string_view kSecretNotFound = "SecretNotFound";
// The release needs variables that have no value; the message names all of them.
inline constexpr std::string_view kMissingVariables = "MissingVariables";
// The ConfigMap that spec.additionalManifests names does not exist, or lacks the key manifests.
inline constexpr std::string_view kAdditionalManifestsNotFound = "AdditionalManifestsNotFound";
// The spec names an object of another namespace, and this operator reads none of these.
inline constexpr std::string_view kCrossNamespaceReference = "CrossNamespaceReference";

// The ServiceAccount that spec.serviceAccountName names does not exist.
inline constexpr std::string_view kServiceAccountNotFound = "ServiceAccountNotFound";
// spec.serviceAccountName is not set, and this operator does nothing without it.
inline constexpr std::string_view kServiceAccountRequired = "ServiceAccountRequired";

// ---- The release ----

// The release could not be read from its source, or is broken as stored.
inline constexpr std::string_view kComponentsFetchError = "ComponentsFetchError";
// The place where the releases are does not answer.
inline constexpr std::string_view kSourceUnreachable = "SourceUnreachable";
// The source limits requests; the message says until when.
inline constexpr std::string_view kRateLimited = "RateLimited";
// The source refused the credentials.
inline constexpr std::string_view kSourceCredentialsRejected = "SourceCredentialsRejected";
// The source has no release that can be chosen, or the selector matches no ConfigMap.
inline constexpr std::string_view kNoReleaseFound = "NoReleaseFound";
// The source has releases, but not this version.
inline constexpr std::string_view kVersionNotFound = "VersionNotFound";
// metadata.yaml does not parse.
inline constexpr std::string_view kInvalidMetadata = "InvalidMetadata";
// The components file is empty or is no list of Kubernetes objects; the message names line and column.
inline constexpr std::string_view kInvalidComponents = "InvalidComponents";
// The release has more than one Namespace object, so it can not go into one namespace.
inline constexpr std::string_view kMultipleNamespaces = "MultipleNamespaces";
// An object of the release can not be moved into the provider's namespace.
inline constexpr std::string_view kComponentsNamespaceError = "ComponentsNamespaceError";
// Two objects of the release are one once they are in the provider's namespace; the message names both places.
inline constexpr std::string_view kDuplicateObjects = "DuplicateObjects";
// The release is not the one that spec.fetchConfig.digest asks for, or isn't signed as spec.fetchConfig.verify wants
// it; or that one's keys can't be read.
inline constexpr std::string_view kVerificationFailed = "VerificationFailed";
inline constexpr std::string_view kVerificationRequired = "VerificationRequired";

// ---- The cluster ----

// The CoreProvider is missing, or its CRDs are not established yet.
inline constexpr std::string_view kWaitingForCoreProviderReady = "WaitingForCoreProviderReady";
// The release uses kinds that the cluster does not have; the message names them and how to get them.
inline constexpr std::string_view kMissingKinds = "MissingKinds";
// The operator may not write or watch what the release has; the message ends in the ClusterRole that lets it.
inline constexpr std::string_view kPermissionsMissing = "PermissionsMissing";
// An object of the release belongs to another provider already.
inline constexpr std::string_view kObjectOwnedByAnotherProvider = "ObjectOwnedByAnotherProvider";
// The API server would refuse an object of the release.
inline constexpr std::string_view kDryRunFailed = "DryRunFailed";
// The namespace of the provider is being deleted.
inline constexpr std::string_view kNamespaceTerminating = "NamespaceTerminating";
// An object of the release could not be applied.
inline constexpr std::string_view kInstallFailed = "InstallFailed";
// A certificate that the operator makes for the provider could not be renewed, or is not trusted.
inline constexpr std::string_view kCertificateNotKept = "CertificateNotKept";
// A certificate was made or renewed, or who makes the provider's certificates has changed (event).
inline constexpr std::string_view kCertificateIssued = "CertificateIssued";
// The release asks for a certificate of a kind that the operator does not make.
inline constexpr std::string_view kUnsupportedCertificate = "UnsupportedCertificate";
// An object that the new version no longer has could not be deleted.
inline constexpr std::string_view kOldComponentsDeletionError = "OldComponentsDeletionError";
// A workload of the first installation did not become healthy in time.
inline constexpr std::string_view kTimedOutWaitingForDeployment = "TimedOutWaitingForDeployment";
// The release drops an API version at which objects are still stored.
inline constexpr std::string_view kStoredVersionsInUse = "StoredVersionsInUse";
// status.inventory can not be read, so the operator deletes nothing.
inline constexpr std::string_view kInvalidInventory = "InvalidInventory";
// The API server does not answer, asks to slow down, or refuses what the operator has to read or write first.
inline constexpr std::string_view kAPIServerUnavailable = "APIServerUnavailable";
// A bug of the operator.
inline constexpr std::string_view kInternalError = "InternalError";

// ---- Contracts ----

// The contract of the release is not one that the core provider accepts or this operator knows.
inline constexpr std::string_view kCAPIVersionIncompatibility = "CAPIVersionIncompatibility";
// Another provider has to be upgraded first; the message names it.
inline constexpr std::string_view kWaitingForOrder = "WaitingForOrder";
// A contract change needs every provider paused; the message names those that are not.
inline constexpr std::string_view kWaitingForPause = "WaitingForPause";
// Not unpaused yet: some provider has a contract that the core provider does not accept.
inline constexpr std::string_view kWaitingForContracts = "WaitingForContracts";

// ---- Drift ----

// Something that the operator applied was changed or deleted, and is back (event).
inline constexpr std::string_view kDriftCorrected = "DriftCorrected";
// The same field or object was changed again and again by somebody else; the operator restores it less often.
inline constexpr std::string_view kFieldFight = "FieldFight";

// ---- Deletion ----

// The provider is being removed.
inline constexpr std::string_view kDeleting = "Deleting";
// The CoreProvider is deleted while other providers or Clusters exist; or, of any provider, the status was lost and the
// message names kinds whose objects nobody can read.
inline constexpr std::string_view kDeletionBlocked = "DeletionBlocked";
// The provider is deleted while workload clusters use it; the message names some.
inline constexpr std::string_view kInUse = "InUse";
// An object could not be deleted, or what there is to delete could not be found out.
inline constexpr std::string_view kDeletionFailed = "DeletionFailed";

}  // namespace reason

struct ConditionInfo {
  std::string_view type, meaning;
};

struct ReasonInfo {
  std::string_view section;
  std::string_view reason;
  std::string_view conditions;  // types that carry it, "Ready, Stalled"
  std::string_view meaning;
  std::string_view action;  // what a person does about it
};

std::span<const ConditionInfo> AllConditions();
std::span<const ReasonInfo> AllReasons();
const ReasonInfo* FindReason(std::string_view reason);  // null for none of ours

// Where the book tells more of it, as a path of this repository: "docs/reasons.md#inuse". Empty for none of ours.
std::string ReasonPlace(std::string_view reason);

// The text of docs/reasons.md (schema/reasons_page.cc).
std::string ReasonsMarkdown();

}  // namespace capi::api
