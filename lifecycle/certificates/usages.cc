#include "lifecycle/certificates/usages.h"

#include <set>

namespace capi::certificates {
namespace {

// cert-manager's pkg/apis/certmanager/v1/types.go, without those of IPsec, Microsoft and Netscape.
constexpr Usage kUsages[] = {
    {"signing", "digitalSignature"},
    {"digital signature", "digitalSignature"},
    {"content commitment", "nonRepudiation"},
    {"key encipherment", "keyEncipherment"},
    {"key agreement", "keyAgreement"},
    {"data encipherment", "dataEncipherment"},
    {"cert sign", "keyCertSign"},
    {"crl sign", "cRLSign"},
    {"encipher only", "encipherOnly"},
    {"decipher only", "decipherOnly"},
    {"any", "anyExtendedKeyUsage", true},
    {"server auth", "serverAuth", true},
    {"client auth", "clientAuth", true},
    {"code signing", "codeSigning", true},
    {"email protection", "emailProtection", true},
    {"s/mime", "emailProtection", true},
    {"timestamping", "timeStamping", true},
    {"ocsp signing", "OCSPSigning", true},
};

}  // namespace

const Usage* FindUsage(std::string_view name) {
  for (const Usage& usage : kUsages) {
    if (usage.name == name) return &usage;
  }
  return nullptr;
}

UsageNames NamesOf(const std::vector<std::string>& usages) {
  std::set<std::string> simple, extended;
  for (const std::string& name : usages) {
    const Usage* usage = FindUsage(name);
    if (usage != nullptr) (usage->extended ? extended : simple).emplace(usage->openssl);
  }
  return {{simple.begin(), simple.end()}, {extended.begin(), extended.end()}};
}

}  // namespace capi::certificates
