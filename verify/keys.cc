#include "verify/keys.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace capi::verify {
namespace {

constexpr size_t kMostKeys = 32;
constexpr size_t kMostOfKey = 16u << 10;  // bytes of one PEM
constexpr int kLeastRsaBits = 2048, kMostRsaBits = 8192;
constexpr std::string_view kSuffix = ".pub", kPemType = "PUBLIC KEY";
constexpr std::string_view kWhichKeys =
    "it has to be one PEM block PUBLIC KEY: ECDSA of P-256, P-384 or P-521, RSA of 2048 to 8192 bits, or Ed25519";

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using MessageContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;
using Pkey = std::shared_ptr<EVP_PKEY>;

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// The only block of a PEM text: its type and what is in it. A second one would be passed over in silence.
Result<std::string> PemBlock(std::string_view text) {
  auto bad = [](std::string why) { return Error{Code::kFailedPrecondition, std::move(why), {}}; };
  if (text.size() > kMostOfKey) return bad(fmt::format("it has more than {} bytes", kMostOfKey));
  const std::string_view trimmed = Trim(text);
  if (!trimmed.starts_with("-----BEGIN ")) return bad("it is no PEM");
  Bio bio(BIO_new_mem_buf(trimmed.data(), static_cast<int>(trimmed.size())), BIO_free);
  char *name = nullptr, *header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  const bool read = bio && PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1;
  std::string type = read ? name : "", der = read ? std::string(reinterpret_cast<char*>(data), size) : "";
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_free(data);
  if (!read) return bad("it is no PEM");
  if (type != kPemType) return bad(fmt::format("it is a {}", Shorten(type, 40)));
  std::array<char, 2> rest{};
  if (BIO_read(bio.get(), rest.data(), 1) > 0) return bad("more than one block is in it");
  return der;
}

bool IsOfKind(EVP_PKEY* key) {
  const int type = EVP_PKEY_get_base_id(key);
  if (type == EVP_PKEY_ED25519) return true;
  if (type == EVP_PKEY_RSA) return EVP_PKEY_get_bits(key) >= kLeastRsaBits && EVP_PKEY_get_bits(key) <= kMostRsaBits;
  if (type != EVP_PKEY_EC) return false;
  std::array<char, 32> group{};
  size_t size = 0;
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) != 1) return false;
  const std::string_view name(group.data(), size);
  return name == "prime256v1" || name == "secp384r1" || name == "secp521r1";
}

Result<Pkey> ReadKey(std::string_view text) {
  const std::string der = TRY(PemBlock(text));
  const unsigned char* at = Bytes(der);
  Pkey key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())), EVP_PKEY_free);
  if (!key || at != Bytes(der) + der.size()) return NotVerified("it can't be read");
  if (!IsOfKind(key.get())) return NotVerified("it is a key of another kind");
  KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr), EVP_PKEY_CTX_free);
  if (!context || EVP_PKEY_public_check(context.get()) != 1) return NotVerified("it is a damaged key");
  return key;
}

bool IsEd25519(EVP_PKEY* key) { return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519; }

// The plain one: OpenSSL 3.0 has no Ed25519ph.
bool MadeEd25519(EVP_PKEY* key, std::string_view bytes, std::string_view signature) {
  MessageContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(bytes), bytes.size()) == 1;
}

bool MadeOfDigest(EVP_PKEY* key, const char* algorithm, const std::string& digest, std::string_view signature) {
  KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr), EVP_PKEY_CTX_free);
  if (digest.empty() || !context || EVP_PKEY_verify_init(context.get()) != 1) return false;
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
      EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_PADDING) != 1) {
    return false;
  }
  if (EVP_PKEY_CTX_set_signature_md(context.get(), EVP_get_digestbyname(algorithm)) != 1) return false;
  return EVP_PKEY_verify(context.get(), Bytes(signature), signature.size(), Bytes(digest), digest.size()) == 1;
}

// The digest that a curve goes with, where that isn't SHA-256.
const char* OwnDigest(EVP_PKEY* key) {
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return nullptr;
  const int bits = EVP_PKEY_get_bits(key);
  return bits == 384 ? "SHA384" : bits == 521 ? "SHA512" : nullptr;
}

bool MadeBy(EVP_PKEY* key, Message& message, std::string_view signature) {
  if (IsEd25519(key)) return MadeEd25519(key, message.bytes(), signature);
  if (MadeOfDigest(key, "SHA256", message.Digest("SHA256"), signature)) return true;
  const char* own = OwnDigest(key);
  return own != nullptr && MadeOfDigest(key, own, message.Digest(own), signature);
}

}  // namespace

Error NotVerified(std::string message) { return Error{Code::kFailedPrecondition, std::move(message), {}}; }

const std::string& Message::Digest(const char* algorithm) {
  auto [digest, is_new] = digests_.try_emplace(algorithm);
  if (!is_new) return digest->second;
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  // Without that digest in the library nothing is verified: no signature is one of an empty text.
  if (EVP_Digest(bytes_.data(), bytes_.size(), out.data(), &size, EVP_get_digestbyname(algorithm), nullptr) != 1)
    size = 0;
  digest->second.assign(reinterpret_cast<char*>(out.data()), size);
  return digest->second;
}

Result<PublicKeys> PublicKeys::Read(const std::map<std::string, std::string>& secret) {
  PublicKeys out;
  for (const auto& [name, text] : secret) {
    if (!name.ends_with(kSuffix)) continue;
    if (out.keys_.size() == kMostKeys) return NotVerified(fmt::format("there are more than {} keys *.pub", kMostKeys));
    auto key = ReadKey(text);
    ERR_clear_error();
    if (!key.ok()) return NotVerified(fmt::format("key {}: {}; {}", name, key.error().message, kWhichKeys));
    out.keys_.push_back({name, *std::move(key)});
  }
  if (out.keys_.empty()) return NotVerified("it has no key *.pub: put the public keys there, cosign.pub as a rule");
  return out;
}

bool PublicKeys::Made(Message& message, std::string_view signature) const {
  bool made = false;
  for (const Key& key : keys_) made = made || MadeBy(key.key.get(), message, signature);
  ERR_clear_error();
  return made;
}

std::string PublicKeys::Names() const {
  std::vector<std::string> names;
  for (const Key& key : keys_) names.push_back(key.name);
  return JoinNames(names, 10);
}

bool PublicKeys::HasEd25519() const {
  return std::any_of(keys_.begin(), keys_.end(), [](const Key& key) { return IsEd25519(key.key.get()); });
}

}  // namespace capi::verify
