// docs/reasons.md: each reason with its cause, how to see it, what to do, and the test that shows it.
#include <fmt/format.h>

#include <algorithm>

#include "api/reasons.h"

namespace capi::api {
namespace {

struct Hint {
  std::string_view reason, text;
};

constexpr std::string_view kAnswer = "`clusterctl why NAME` has the API server's answer, and when it is tried again.";

// How a person sees it, and sees more.
constexpr Hint kSee[] = {
    {reason::kPreflightChecksPassed,
     "`kubectl get KIND NAME -n NAMESPACE -o "
     "jsonpath='{.status.conditions[?(@.type==\"PreflightCheckPassed\")].message}'`"},
    {reason::kProviderInstalled, "`kubectl get KIND NAME -n NAMESPACE`: column INSTALLED."},
    {reason::kProviderUpgraded, "`clusterctl history NAME`"},
    {reason::kWorkloadsReady, "`kubectl get KIND NAME -n NAMESPACE`: column READY."},
    {reason::kContractAccepted,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kRenderWarnings, "`clusterctl why NAME`: line `Also: Warnings`."},
    {reason::kUpgradeAvailable,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.availableUpgrades}'`, or `clusterctl upgrade plan`."},
    {reason::kUpToDate,
     "`kubectl get KIND NAME -n NAMESPACE -o "
     "jsonpath='{.status.conditions[?(@.type==\"UpgradeAvailable\")].message}'`"},
    {reason::kUpdateCheckFailed,
     "`kubectl get KIND NAME -n NAMESPACE -o "
     "jsonpath='{.status.conditions[?(@.type==\"UpgradeAvailable\")].message}'`"},
    {reason::kUpgradeChosen, "`kubectl get events -n NAMESPACE --field-selector reason=UpgradeChosen`"},
    {reason::kPruned, "`kubectl get events -n NAMESPACE --field-selector reason=Pruned`"},
    {reason::kStorageMigrated,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type==\"StorageMigrated\")].message}'`"},
    {reason::kNoDrift,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type==\"Drifted\")].message}'`"},
    {reason::kUpgrading, "`kubectl get KIND NAME -n NAMESPACE`: columns INSTALLED and DESIRED differ."},
    {reason::kProgressing,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type==\"Paused\")].message}'`"},
    {reason::kWaitingForSource,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kAdopting, "`clusterctl why NAME` names the differences; `clusterctl diff NAME` shows them."},
    {reason::kWorkloadsNotReady,
     "`clusterctl why NAME` names the workload; then `kubectl get pods -n NAMESPACE` and `kubectl describe pod POD -n "
     "NAMESPACE`."},
    {reason::kRolloutTimedOut,
     "`clusterctl why NAME` names the workload; then `kubectl get pods -n NAMESPACE` and `kubectl describe pod POD -n "
     "NAMESPACE`."},
    {reason::kMigratingStorage,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type==\"StorageMigrated\")].message}'`"},
    {reason::kStorageMigrationFailed,
     "`clusterctl why NAME`; then `kubectl get crds -o "
     "custom-columns=NAME:.metadata.name,STORED:.status.storedVersions`."},
    {reason::kRolledBack, "`clusterctl history NAME` has the version that failed, and why."},
    {reason::kCRDsNotEstablished, "`clusterctl why NAME` names the CRD; then `kubectl describe crd CRD`."},
    {reason::kPaused, "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.spec.paused}'`"},
    {reason::kHandsOff, "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.metadata.annotations}'`"},
    {reason::kInvalidSpec,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kIncorrectVersionFormat,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kIncorrectCoreProviderNameReason, "`kubectl get coreproviders -A`"},
    {reason::kMoreThanOneExists,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kFetchConfigValidationError,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kUnsupportedProviderDowngradeReason,
     "`kubectl get KIND NAME -n NAMESPACE`: DESIRED is older than INSTALLED."},
    {reason::kUnsupportedVersionSkip,
     "`clusterctl why NAME` names the version to go to first; `clusterctl upgrade plan` lists what there is."},
    {reason::kComponentsCustomizationError,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kUnsupportedManagerField,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kComponentsPatchError,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kComponentsImageOverrideError,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it. `clusterctl lint "
     "FILE` finds it before it reaches a cluster."},
    {reason::kSecretNotFound,
     "`clusterctl why NAME` names the Secret; `kubectl get secrets -n NAMESPACE` shows those that are there."},
    {reason::kMissingVariables,
     "`clusterctl why NAME` names them; `clusterctl generate provider --describe`, with the provider and its version, "
     "lists all variables of the release."},
    {reason::kAdditionalManifestsNotFound,
     "`clusterctl why NAME` names the ConfigMap; `kubectl get configmaps -n NAMESPACE` shows those that are there."},
    {reason::kCrossNamespaceReference,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it."},
    {reason::kServiceAccountNotFound, "`kubectl get serviceaccounts -n NAMESPACE`"},
    {reason::kServiceAccountRequired,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.spec.serviceAccountName}'` prints nothing."},
    {reason::kComponentsFetchError, "`clusterctl why NAME` names the source, and when it is tried again."},
    {reason::kSourceUnreachable, "`clusterctl why NAME` names the source, and when it is tried again."},
    {reason::kRateLimited, "`clusterctl why NAME` names the source, and when it is tried again."},
    {reason::kSourceCredentialsRejected, "`clusterctl why NAME` names the source, and when it is tried again."},
    {reason::kNoReleaseFound, "`clusterctl why NAME` names the source, and when it is tried again."},
    {reason::kVersionNotFound, "`clusterctl why NAME` names the versions that the source has."},
    {reason::kInvalidMetadata,
     "`clusterctl why NAME` has what is wrong; `clusterctl generate provider` with the provider and its version reads "
     "the same release on your machine."},
    {reason::kInvalidComponents,
     "`clusterctl why NAME` has what is wrong; `clusterctl generate provider` with the provider and its version reads "
     "the same release on your machine."},
    {reason::kMultipleNamespaces,
     "`clusterctl why NAME` has what is wrong; `clusterctl generate provider` with the provider and its version reads "
     "the same release on your machine."},
    {reason::kComponentsNamespaceError,
     "`clusterctl why NAME` has what is wrong; `clusterctl generate provider` with the provider and its version reads "
     "the same release on your machine."},
    {reason::kDuplicateObjects,
     "`clusterctl why NAME` has what is wrong; `clusterctl generate provider` with the provider and its version reads "
     "the same release on your machine."},
    {reason::kVerificationFailed, "`clusterctl why NAME` says which file, digest or key it is."},
    {reason::kVerificationRequired,
     "`clusterctl why NAME` names the field; `kubectl get KIND NAME -n NAMESPACE -o yaml` shows it."},
    {reason::kWaitingForCoreProviderReady, "`kubectl get coreproviders -A`, then `clusterctl why cluster-api`."},
    {reason::kMissingKinds,
     "`clusterctl why NAME` names the kinds; `kubectl api-resources` lists those that the cluster has."},
    {reason::kPermissionsMissing,
     "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type==\"Ready\")].message}'` prints the "
     "roles."},
    {reason::kObjectOwnedByAnotherProvider, "`clusterctl why NAME` names the object and its owner."},
    {reason::kDryRunFailed,
     "`clusterctl why NAME` has the API server's answer; where it names a webhook, look at that one's pods."},
    {reason::kNamespaceTerminating, "`kubectl get namespace NAMESPACE`: STATUS is Terminating."},
    {reason::kInstallFailed, kAnswer},
    {reason::kCertificateNotKept, kAnswer},
    {reason::kCertificateIssued, "`kubectl get events -n NAMESPACE --field-selector reason=CertificateIssued`"},
    {reason::kUnsupportedCertificate, "`clusterctl why NAME` names the Certificate or Issuer."},
    {reason::kOldComponentsDeletionError, kAnswer},
    {reason::kTimedOutWaitingForDeployment,
     "`clusterctl why NAME` names the workload; then `kubectl get pods -n NAMESPACE` and `kubectl describe pod POD -n "
     "NAMESPACE`."},
    {reason::kStoredVersionsInUse,
     "`kubectl get crds -o custom-columns=NAME:.metadata.name,STORED:.status.storedVersions`"},
    {reason::kInvalidInventory, "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.status.inventory}'`"},
    {reason::kAPIServerUnavailable, kAnswer},
    {reason::kInternalError,
     "`clusterctl why NAME`, and the operator's log: `kubectl logs -n capi-operator-system "
     "deployment/capi-operator-controller-manager`."},
    {reason::kCAPIVersionIncompatibility,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kWaitingForOrder,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kWaitingForPause,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kWaitingForContracts,
     "`kubectl get capi-providers -A` shows all providers with version, contract and reason."},
    {reason::kDriftCorrected, "`kubectl get events -n NAMESPACE --field-selector reason=DriftCorrected`"},
    {reason::kFieldFight, "`clusterctl why NAME`: line `Also: Drifted` names the field and the other writer."},
    {reason::kDeleting, "`kubectl get KIND NAME -n NAMESPACE -o jsonpath='{.metadata.deletionTimestamp}'`"},
    {reason::kDeletionBlocked, "`clusterctl why NAME` names what stands in its way."},
    {reason::kInUse, "`clusterctl why NAME` names some of the objects; `kubectl get clusters -A` shows the clusters."},
    {reason::kDeletionFailed, kAnswer},
};

// The test that names it. Written by `tools/check_rules --write`, which fails where it is out of date.
constexpr Hint kShownBy[] = {
#include "api/schema/reasons_shown_by.inc"
};

std::string_view Find(std::span<const Hint> hints, std::string_view reason) {
  const auto* found =
      std::find_if(hints.data(), hints.data() + hints.size(), [&](const Hint& one) { return one.reason == reason; });
  return found == hints.data() + hints.size() ? "" : found->text;
}

constexpr std::string_view kIntroduction =
    "# Conditions and reasons\n\n"
    "Printed from api/reasons.cc and api/schema/reasons_page.cc by `gen_crds`; do not edit.\n\n"
    "`clusterctl why NAME` says what holds a provider back, and its line `See` is the place on this page. Each\n"
    "condition of a provider has one of these reasons, and a message with the particulars. What holds a provider back\n"
    "is the reason of `Ready`, too: a paragraph names `Ready` only where that says more.\n\n"
    "In the commands, KIND is the kind of your provider (such as `infrastructureprovider`), NAME its name, and "
    "NAMESPACE\n"
    "the namespace of its object.\n";

std::string Paragraph(const ReasonInfo& info) {
  std::string out =
      fmt::format("\n### {}\n\n- **Conditions**: {}\n- **Cause**: {}\n", info.reason, info.conditions, info.meaning);
  if (std::string_view see = Find(kSee, info.reason); !see.empty()) out += fmt::format("- **See it**: {}\n", see);
  out += fmt::format("- **Do**: {}\n", info.action);
  if (std::string_view test = Find(kShownBy, info.reason); !test.empty()) out += fmt::format("- **Test**: {}\n", test);
  return out;
}

}  // namespace

std::string ReasonsMarkdown() {
  std::string out(kIntroduction);
  out += "\n## Conditions\n\n| Type | True means |\n| --- | --- |\n";
  for (const ConditionInfo& info : AllConditions()) out += fmt::format("| `{}` | {} |\n", info.type, info.meaning);
  std::string_view section;
  for (const ReasonInfo& info : AllReasons()) {
    if (info.section != section) {
      section = info.section;
      out += fmt::format("\n## {}\n", section);
    }
    out += Paragraph(info);
  }
  return out;
}

}  // namespace capi::api
