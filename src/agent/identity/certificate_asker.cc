#include "agent/identity/certificate_asker.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "model/condition.h"

namespace krater::agent {
namespace {

const Kind kRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                    "certificatesigningrequests", false};
constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kLastPause = std::chrono::seconds(5);

Json request_object(const std::string& name, const std::string& request_pem) {
  Json out = new_object(kRequest, "", name);
  set_path(out, {"spec"},
           Json(JsonObject{{"request", base64_encode(request_pem)},
                           {"signerName", "kubernetes.io/kube-apiserver-client-kubelet"},
                           {"usages", JsonArray{"digital signature", "client auth"}}}));
  return out;
}

bool passes(const Error& error) {
  return error.code == Code::Unavailable || error.code == Code::Timeout ||
         error.code == Code::TooManyRequests;
}

std::string told(const Condition& condition) {
  return ", reason: " + condition.reason + ", message: " + condition.message;
}

}  // namespace

CertificateAsker::~CertificateAsker() {
  *alive_ = false;
  if (timer_ != 0) loop_.cancel(timer_);
}

void CertificateAsker::ask(const std::string& name, const std::string& request_pem, Done done) {
  name_ = name;
  done_ = std::move(done);
  deadline_ = loop_.now() + patience_;
  pause_ = kFirstPause;
  client_.write(client::CreateWrite{kRequest, "", request_object(name, request_pem)},
                [this, alive = alive_](const Result<ObjectPtr>& made) {
                  if (!*alive) return;
                  if (!made && made.error().code != Code::AlreadyExists)
                    return finish(made.error());
                  log::info("agent.certificate_requested", {{"request", name_}});
                  look();
                });
}

void CertificateAsker::look() {
  client_.get(kRequest, "", name_, [this, alive = alive_](const Result<ObjectPtr>& found) {
    if (*alive) judge(found);
  });
}

void CertificateAsker::look_later() {
  if (loop_.now() >= deadline_)
    return finish(make_error(Code::Timeout,
                             "nobody has approved the certificate request " + name_ + " in time"));
  timer_ = loop_.after(pause_, [this] {
    timer_ = 0;
    look();
  });
  pause_ = std::min(pause_ * 2, kLastPause);
}

void CertificateAsker::judge(const Result<ObjectPtr>& found) {
  if (!found) {
    if (passes(found.error())) return look_later();
    return finish(found.error());
  }
  const std::shared_ptr<const Json> document = (*found)->document();
  if (const auto denied = condition_of(*document, "Denied"))
    return finish(
        make_error(Code::Forbidden, "certificate signing request is denied" + told(*denied)));
  if (const auto failed = condition_of(*document, "Failed"))
    return finish(make_error(Code::Invalid, "certificate signing request failed" + told(*failed)));
  const std::string certificate =
      base64_decode(text_at(*document, {"status", "certificate"})).value_or("");
  if (certificate.empty() || !condition_of(*document, "Approved")) return look_later();
  finish(certificate);
}

void CertificateAsker::finish(Result<std::string> result) {
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
}

}  // namespace krater::agent
