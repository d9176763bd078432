#include "runtime/ssh_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <vector>

#include "base/strings.h"

namespace krater::runtime {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using BioPtr = std::unique_ptr<BIO, Freed<BIO_free>>;

// RFC 4251: a length of four bytes, then the bytes.
void append_field(std::string& out, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((size >> shift) & 0xffU);
  out += bytes;
}

// RFC 4251, mpint: big-endian, with a zero before a first byte that would read as a sign.
bool append_number(std::string& out, EVP_PKEY* key, const char* name) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw) != 1) return false;
  const NumberPtr number(raw);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(BN_num_bytes(number.get())));
  BN_bn2bin(number.get(), bytes.data());
  std::string text(bytes.begin(), bytes.end());
  if (!bytes.empty() && (bytes[0] & 0x80U) != 0) text.insert(text.begin(), '\0');
  append_field(out, text);
  return true;
}

}  // namespace

Result<SshKeyPair> make_ssh_key() {
  const KeyPtr key(EVP_RSA_gen(2048));
  const BioPtr pem(BIO_new(BIO_s_mem()));
  if (!key || !pem ||
      PEM_write_bio_PrivateKey_traditional(pem.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                           nullptr) != 1)
    return make_error(Code::Internal, "cannot make an RSA key");
  SshKeyPair out;
  char* text = nullptr;
  const long size = BIO_get_mem_data(pem.get(), &text);
  out.private_pem.assign(text, static_cast<std::size_t>(size));
  std::string blob;
  append_field(blob, "ssh-rsa");
  if (!append_number(blob, key.get(), OSSL_PKEY_PARAM_RSA_E) ||
      !append_number(blob, key.get(), OSSL_PKEY_PARAM_RSA_N))
    return make_error(Code::Internal, "cannot read an RSA key");
  out.public_line = "ssh-rsa " + base64_encode(blob) + "\n";
  return out;
}

}  // namespace krater::runtime
