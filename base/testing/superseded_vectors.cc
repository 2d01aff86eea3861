#include <algorithm>
#include <iterator>

#include "base/testing/vectors.h"

namespace capi {
namespace {

// {file, id, rule}, sorted. W numbers are known defects of cluster-api-operator.
constexpr Superseded kTable[] = {
    {"cert-manager-upgrade.json", "C09", "L13: images count, as they do in v1.14.0"},
    {"contract-gate.json", "G05", "L6: no command works on a cluster of another contract than v1beta1 and v1beta2"},
    {"customisation.json", "I006",
     "F1: an image of the spec that is no reference is refused, as one of the release is"},
    {"customisation.json", "K035", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K036", "I9: namespace args are ignored"},
    {"customisation.json", "K069", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K081", "I9a: the release's own args tell the flag"},
    {"customisation.json", "K102", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K103", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K104", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K105", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K106", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K107", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K108", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K109", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K110", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K122", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K126", "I9, W23: `--flag` and `--flag value` are understood"},
    {"customisation.json", "K127", "I9a: what a known manager has no flag for is refused"},
    {"customisation.json", "K128", "I9a: what a known manager has no flag for is refused"},
    {"latest.json", "R08e", "I3: where no series fits, it is the newest version"},
    {"latest.json", "R45", "I3: a release without the file is passed over, like one that isn't there"},
    {"latest.json", "R48", "I3: a stable version with the contract is there, so there is no failure"},
    {"latest.json", "R49", "I3: no prerelease while a stable version fits"},
    {"latest.json", "R50", "I3: the next series of the contract where one has no release"},
    {"metadata.json", "M05", "A missing file is the repository's to report, by its path (kNotFound)"},
    {"metadata.json", "M16", "A negative series is dropped: no version is ever in it"},
    {"namespace.json", "N11c", "A name without the old namespace stays (the reference rewrites the first `..`)"},
    {"namespace.json", "N11f", "W25: a Certificate of another group is left alone"},
    {"namespace.json", "N15d", "F2: bindings of `v1beta1` are moved as those of `v1` are"},
    {"namespace.json", "N20-CSIDriver", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-CSINode", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-CertificateSigningRequest", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-ClusterRole", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-Node", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-PersistentVolume", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-PodSecurityPolicy", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-PriorityClass", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-RuntimeClass", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-StorageClass", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N20-VolumeAttachment", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "N21", "W25: scope goes by group and kind, not by the kind's name"},
    {"namespace.json", "S6", "W25: a Namespace of another group is an object like others"},
    {"namespace.json", "V10", "F2: an empty components file is refused"},
    {"namespace.json", "V12", "F2: a List is its items"},
    {"namespace.json", "V13", "F2: a document that is no object is refused"},
    {"namespace.json", "V14", "F2: a document that is no object is refused"},
    {"namespace.json", "V5", "F2: the error has line and column"},
    {"namespace.json", "V9", "F2: an empty components file is refused"},
    {"oci-reference.json", "S10", "T9: without a host it is refused"},
    {"oci-reference.json", "S11", "T9: without a host it is refused"},
    {"oci-reference.json", "S12", "T9: without a host it is refused"},
    {"oci-reference.json", "S17", "T9: an empty tag is refused"},
    {"oci-reference.json", "S18", "T9: an empty tag is refused"},
    {"oci-reference.json", "S19", "T9: a digest is one"},
    {"oci-reference.json", "S20", "T9: a digest is one"},
    {"oci-reference.json", "S21", "T9: `oci://` and `https://` may stand before it"},
    {"oci-reference.json", "S22", "T9: two schemes are refused"},
    {"oci-reference.json", "S23", "T9: `oci://` and `https://` may stand before it"},
    {"oci-reference.json", "S24", "T9: two schemes are refused"},
    {"oci-reference.json", "S9", "T9: without a host it is refused"},
    {"patches.json", "T007", "I9, W24: a patch without apiVersion matches any"},
    {"patches.json", "T008", "I9, W24: apiVersion is compared"},
    {"patches.json", "T009", "I9, W24: namespace is compared"},
    {"plural.json", "DNS", "`dnses`: the reference has `dnsDNSes`, which is no name for a CRD"},
    {"plural.json", "Octopus", "`octopuses`: the reference misspells it"},
    {"yaml-split.json", "Y24", "U1: integers beyond 2^53 keep their digits"},
    {"yaml-split.json", "Y36", "U1: integers beyond 2^53 keep their digits"},
};

// {file, kind or id, how many, why}, sorted.
constexpr ForeignVectors kForeign[] = {
    {"cli.json", "W09b", 1, "the values of a log line are texts: numbers among them are quoted, too"},
    {"cli.json", "W09c", 1, "an error is told once, at the end, behind `Error: `; no log line has one"},
    {"cli.json", "W09d", 1, "no log line has a prefix"},
    {"cli.json", "operator-reference", 6,
     "the grammar of cluster-api-operator's plug-in for kubectl, `name:namespace:version`. `clusterctl init` takes "
     "clusterctl's, `name:version`, with `--target-namespace`"},
    {"cli.json", "self-check", 12, "no command looks for a newer clusterctl: it would ask GitHub, which may be away"},
    {"cli.json", "self-check-message", 1, "no command looks for a newer clusterctl"},
};

}  // namespace

std::span<const ForeignVectors> VectorsOfOthersAlone() { return kForeign; }

bool IsOfOthersAlone(std::string_view file, const Json& test_case) {
  std::string kind = GetString(test_case, {"kind"}), id = GetString(test_case, {"id"});
  return std::any_of(std::begin(kForeign), std::end(kForeign), [&](const ForeignVectors& foreign) {
    return foreign.file == file && (foreign.part == kind || foreign.part == id);
  });
}

std::span<const Superseded> SupersededVectors() { return kTable; }

}  // namespace capi
