#include "api/auth/certificate_request.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include "base/strings.h"

namespace krater::api {
namespace {

const WallTime kNow = WallTime::from_unix_seconds(1'795'000'000);
const Validity kYear{kNow - 5min, kNow + 24h * 365};

// A request as `openssl req` would make it, with alternative names (nullptr: none).
std::string request_with_names(const char* names) {
  const auto key = openssl::new_p256_key();
  const openssl::RequestPtr request(X509_REQ_new());
  X509_REQ_set_pubkey(request.get(), key->get());
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  const auto add = [subject](const char* field, const char* text) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(text), -1, -1, 0);
  };
  add("C", "CH");
  add("O", "dev");
  add("O", "ops");
  add("CN", "jane");
  if (names != nullptr) {
    STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
    sk_X509_EXTENSION_push(extensions,
                           X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names));
    X509_REQ_add_extensions(request.get(), extensions);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  }
  X509_REQ_sign(request.get(), key->get(), EVP_sha256());
  const openssl::BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_REQ(bio.get(), request.get());
  return openssl::contents(bio.get());
}

std::string printed(const std::string& certificate_pem) {
  const auto cert = openssl::certificate(certificate_pem);
  const openssl::BioPtr bio(BIO_new(BIO_s_mem()));
  X509_print_ex(bio.get(), cert->get(), XN_FLAG_ONELINE, 0);
  return openssl::contents(bio.get());
}

TEST(CertificateRequest, WhatItAsksForIsRead) {
  const std::string pem =
      request_with_names("DNS:n1.local,IP:10.0.0.7,IP:::1,email:a@b.c,URI:spiffe://x/y");
  const auto read = read_request(pem);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->alternative_names);
  const auto names = alternative_names(pem);
  ASSERT_TRUE(names);
  EXPECT_EQ(read->subject.common_name, "jane");
  EXPECT_EQ(read->subject.organizations, (std::vector<std::string>{"dev", "ops"}));
  EXPECT_EQ(names->dns, std::vector<std::string>{"n1.local"});
  EXPECT_EQ(names->addresses, (std::vector<std::string>{"10.0.0.7", "::1"}));
  EXPECT_EQ(names->mail, std::vector<std::string>{"a@b.c"});
  EXPECT_EQ(names->uris, std::vector<std::string>{"spiffe://x/y"});
  EXPECT_FALSE(read_request(request_with_names(nullptr))->alternative_names);
}

TEST(CertificateRequest, WhatIsSignedSaysWhatWasAskedForAndNothingElse) {
  const auto ca = CertificateAuthority::create("test-ca", kYear);
  ASSERT_TRUE(ca);
  const auto pem =
      sign_request(*ca, request_with_names("DNS:n1.local,IP:10.0.0.7,RID:1.2.3.4"),
                   {"digital signature", "key encipherment", "server auth"}, {kNow, kNow + 1h});
  ASSERT_TRUE(pem) << pem.error().message;
  const std::string text = printed(*pem);
  for (const char* part :
       {"Subject: C = CH, O = dev, O = ops, CN = jane", "DNS:n1.local, IP Address:10.0.0.7\n",
        "Digital Signature, Key Encipherment", "TLS Web Server Authentication", "CA:FALSE",
        "Issuer: CN = test-ca"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("Client Authentication"), std::string::npos);
  EXPECT_EQ(validity_of(*pem)->until, kNow + 1h);
  EXPECT_EQ(subject_of(*pem)->organizations, (std::vector<std::string>{"dev", "ops"}));
}

TEST(CertificateRequest, NothingOutlivesItsAuthority) {
  const auto ca = CertificateAuthority::create("test-ca", {kNow - 5min, kNow + 1h});
  ASSERT_TRUE(ca);
  const auto pem = sign_request(*ca, request_with_names(nullptr), {"client auth"}, kYear);
  ASSERT_TRUE(pem);
  EXPECT_EQ(validity_of(*pem)->until, kNow + 1h);
}

TEST(CertificateRequest, UnknownUsagesAreNamed) {
  EXPECT_EQ(key_usages({"client auth", "flying", "swimming"}).error().message,
            R"(unrecognized usage values: ["flying" "swimming"])");
  const auto both = key_usages({"signing", "digital signature", "s/mime", "email protection"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->basic, std::vector<std::string>{"digitalSignature"});
  EXPECT_EQ(both->extended, std::vector<std::string>{"emailProtection"});
}

TEST(CertificateRequest, TheSameKeyHasTheSameDigest) {
  const auto first = make_certificate_request({"system:node:n1", {"system:nodes"}});
  ASSERT_TRUE(first);
  const auto again = request_with_key({"system:node:n1", {"system:nodes"}}, first->key_pem);
  ASSERT_TRUE(again);
  EXPECT_EQ(*key_digest(first->key_pem), *key_digest(again->key_pem));
  EXPECT_EQ(key_digest(first->key_pem)->size(), 43U);
  const auto other = make_certificate_request({"system:node:n1", {"system:nodes"}});
  EXPECT_NE(*key_digest(first->key_pem), *key_digest(other->key_pem));
  EXPECT_FALSE(key_digest("no key"));
}

}  // namespace
}  // namespace krater::api
