#include "lifecycle/certificates/usages.h"

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

}  // namespace capi::certificates
