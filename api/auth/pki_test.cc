#include "api/auth/pki.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/auth/openssl.h"
#include "base/strings.h"

namespace krater::api {
namespace {

const WallTime kNow = WallTime::from_unix_seconds(1'795'000'000);
const Validity kYear{kNow - 5min, kNow + 24h * 365};

class PkiDirectory : public ::testing::Test {
 protected:
  PkiDirectory()
      : path_(::testing::TempDir() + "krater-pki-" + hex_encode(openssl::random_bytes(6))) {}
  ~PkiDirectory() override { std::filesystem::remove_all(path_); }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  const std::string path_;
};

bool signed_by(std::string_view certificate_pem, const CertificateAuthority& authority) {
  const auto cert = openssl::certificate(certificate_pem);
  const auto ca = openssl::certificate(authority.certificate_pem());
  return cert && ca && X509_verify(cert->get(), X509_get0_pubkey(ca->get())) == 1;
}

TEST(Pki, AServerCertificateCarriesNamesAndAddresses) {
  const auto ca = CertificateAuthority::create("test-ca", kYear);
  ASSERT_TRUE(ca);
  const auto server =
      ca->issue_server({"localhost", "127.0.0.1", "kubernetes.default.svc", "::1"}, kYear);
  ASSERT_TRUE(server);
  EXPECT_TRUE(signed_by(server->certificate_pem, *ca));
  EXPECT_TRUE(
      covers(server->certificate_pem, {"127.0.0.1", "kubernetes.default.svc", "::1"}, kNow));
  EXPECT_FALSE(covers(server->certificate_pem, {"10.96.0.1"}, kNow));
  EXPECT_FALSE(covers(server->certificate_pem, {"other"}, kNow));
  EXPECT_FALSE(covers(server->certificate_pem, {}, kNow + 24h * 366));
  EXPECT_FALSE(covers(server->certificate_pem, {}, kNow - 1h));
}

TEST(Pki, ARequestGivesAwayOnlyItsKey) {
  const auto ca = CertificateAuthority::create("test-ca", kYear);
  const auto request = make_certificate_request({"kubernetes-admin", {"system:masters"}});
  ASSERT_TRUE(ca && request);
  const auto pem =
      ca->sign_client_request(request->request_pem, {"system:node:n1", {"system:nodes"}}, kYear);
  ASSERT_TRUE(pem);
  EXPECT_TRUE(signed_by(*pem, *ca));
  const auto cert = openssl::certificate(*pem);
  const auto key = openssl::private_key(request->key_pem);
  ASSERT_TRUE(cert && key);
  EXPECT_EQ(X509_check_private_key(cert->get(), key->get()), 1);
  char text[256];
  X509_NAME_oneline(X509_get_subject_name(cert->get()), text, sizeof text);
  EXPECT_STREQ(text, "/O=system:nodes/CN=system:node:n1");
}

TEST(Pki, WhatIsNoRequestIsABadRequest) {
  const auto ca = CertificateAuthority::create("test-ca", kYear);
  ASSERT_TRUE(ca);
  const auto none = ca->sign_client_request("hello", {"x"}, kYear);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::BadRequest);
}

TEST_F(PkiDirectory, IsMadeOnceAndReadAgain) {
  const auto first = load_or_create_pki(path_, {"localhost"}, kNow);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = load_or_create_pki(path_, {"localhost"}, kNow + 1h);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->authority.certificate_pem(), second->authority.certificate_pem());
  EXPECT_EQ(first->server.certificate_pem, second->server.certificate_pem);
  EXPECT_EQ(first->service_account_key_pem, second->service_account_key_pem);
  for (const char* name : {"ca.crt", "ca.key", "server.crt", "server.key", "sa.key"}) {
    struct stat info {};
    ASSERT_EQ(::stat((path_ + "/" + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
}

TEST_F(PkiDirectory, AServerCertificateIsRenewedForNewNamesAndBeforeItEnds) {
  const auto first = load_or_create_pki(path_, {"localhost"}, kNow);
  const auto named = load_or_create_pki(path_, {"localhost", "10.0.0.7"}, kNow);
  const auto late = load_or_create_pki(path_, {"localhost"}, kNow + 24h * 340);
  ASSERT_TRUE(first && named && late);
  EXPECT_NE(first->server.certificate_pem, named->server.certificate_pem);
  EXPECT_NE(named->server.certificate_pem, late->server.certificate_pem);
  EXPECT_EQ(first->authority.certificate_pem(), late->authority.certificate_pem());
}

TEST_F(PkiDirectory, HalfAnAuthorityIsNeverReplaced) {
  ASSERT_TRUE(load_or_create_pki(path_, {"localhost"}, kNow));
  const std::string before = read("ca.crt");
  std::filesystem::remove(path_ + "/ca.key");
  const auto broken = load_or_create_pki(path_, {"localhost"}, kNow);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("ca.key is missing"), std::string::npos)
      << broken.error().message;
  EXPECT_EQ(read("ca.crt"), before);
}

TEST(Pki, AnAdminKubeconfigCarriesItsCertificate) {
  const auto ca = CertificateAuthority::create("test-ca", kYear);
  ASSERT_TRUE(ca);
  const auto text = admin_kubeconfig(*ca, "https://127.0.0.1:6443", kNow);
  ASSERT_TRUE(text);
  const std::size_t at = text->find("client-certificate-data: ");
  ASSERT_NE(at, std::string::npos);
  const std::size_t begin = at + 25;
  const auto pem =
      base64_decode(std::string_view(*text).substr(begin, text->find('\n', begin) - begin));
  ASSERT_TRUE(pem);
  EXPECT_TRUE(signed_by(*pem, *ca));
  EXPECT_NE(text->find("server: https://127.0.0.1:6443\n"), std::string::npos);
}

}  // namespace
}  // namespace krater::api
