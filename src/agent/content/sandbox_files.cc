#include "agent/content/sandbox_files.h"

#include <algorithm>
#include <map>

#include "agent/content/volumes.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

struct ResolvConf {
  std::vector<std::string> servers, searches, options;
};

ResolvConf parse(const std::string& text) {
  ResolvConf out;
  for (const std::string_view raw : split(text, '\n')) {
    std::vector<std::string> words;
    for (const std::string_view word : split(trim(raw), ' ')) {
      for (const std::string_view piece : split(word, '\t')) {
        if (!piece.empty()) words.emplace_back(piece);
      }
    }
    if (words.size() < 2) continue;
    if (words[0] == "nameserver") out.servers.push_back(words[1]);
    if (words[0] == "search" || words[0] == "domain")
      out.searches.assign(words.begin() + 1, words.end());
    if (words[0] == "options")
      out.options.insert(out.options.end(), words.begin() + 1, words.end());
  }
  return out;
}

void add_unique(std::vector<std::string>& list, std::string one) {
  if (std::ranges::find(list, one) == list.end()) list.push_back(std::move(one));
}

std::vector<std::string> texts(const Json& json, JsonPath path) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(json, path)) {
    for (const Json& one : *list) {
      if (one.is_string()) out.emplace_back(view(one.get_string()));
    }
  }
  return out;
}

// dnsConfig comes on top of what the policy gives.
void add_config(const Json& document, ResolvConf& conf) {
  for (std::string& one : texts(document, {"spec", "dnsConfig", "nameservers"}))
    add_unique(conf.servers, std::move(one));
  for (std::string& one : texts(document, {"spec", "dnsConfig", "searches"}))
    add_unique(conf.searches, std::move(one));
  const JsonArray* options = array_at(document, {"spec", "dnsConfig", "options"});
  for (std::size_t i = 0; options != nullptr && i < options->size(); ++i) {
    const std::string name = text_at((*options)[i], {"name"}),
                      value = text_at((*options)[i], {"value"});
    std::erase_if(conf.options,
                  [&](const std::string& one) { return one.substr(0, one.find(':')) == name; });
    conf.options.push_back(value.empty() ? name : name + ":" + value);
  }
}

std::vector<PortMapping> published_ports(const PodSpec& pod) {
  std::vector<PortMapping> out;
  for (const ContainerSpec& container : pod.containers) {
    const JsonArray* ports = array_at(container.document, {"ports"});
    for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
      const Json& port = (*ports)[i];
      const std::int64_t host_port = int_at(port, {"hostPort"}).value_or(0);
      if (host_port == 0) continue;
      out.push_back({static_cast<int>(host_port),
                     static_cast<int>(int_at(port, {"containerPort"}).value_or(host_port)),
                     to_lower(string_at(port, {"protocol"}).value_or("TCP")),
                     text_at(port, {"hostIP"})});
    }
  }
  return out;
}

std::string host_aliases(const Json& document) {
  std::string out;
  const JsonArray* list = array_at(document, {"spec", "hostAliases"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    out += text_at((*list)[i], {"ip"}) + "\t" + join(texts((*list)[i], {"hostnames"}), "\t") + "\n";
  }
  return out;
}

}  // namespace

std::string resolv_conf(const PodSpec& pod, const DnsSettings& dns) {
  ResolvConf conf;
  const bool cluster =
      !dns.server.empty() && ((pod.dns_policy == "ClusterFirst" && !pod.host_network) ||
                              pod.dns_policy == "ClusterFirstWithHostNet");
  if (cluster) {
    conf.servers = {dns.server};
    conf.searches = {pod.name_space + ".svc." + dns.domain, "svc." + dns.domain, dns.domain};
    for (std::string& one : parse(dns.host_resolv_conf).searches)
      add_unique(conf.searches, std::move(one));
    conf.options = {"ndots:5"};
  } else if (pod.dns_policy != "None") {
    conf = parse(dns.host_resolv_conf);
  }
  add_config(pod.document, conf);
  std::string out;
  if (!conf.searches.empty()) out += "search " + join(conf.searches, " ") + "\n";
  for (const std::string& server : conf.servers) out += "nameserver " + server + "\n";
  if (!conf.options.empty()) out += "options " + join(conf.options, " ") + "\n";
  return out;
}

SandboxSpec sandbox_spec(const PodSpec& pod, const DnsSettings& dns, const NodeFacts& node,
                         const std::string& directory) {
  SandboxSpec out;
  out.uid = pod.uid;
  out.name = pod.name;
  out.name_space = pod.name_space;
  out.hostname = pod.hostname.empty() ? pod.name.substr(0, 63) : pod.hostname;
  while (!out.hostname.empty() && (out.hostname.back() == '-' || out.hostname.back() == '.'))
    out.hostname.pop_back();
  if (!pod.subdomain.empty())
    out.fqdn = out.hostname + "." + pod.subdomain + "." + pod.name_space + ".svc." + dns.domain;
  if (pod.set_fqdn && !out.fqdn.empty() && out.fqdn.size() <= 64) out.hostname = out.fqdn;
  if (pod.host_network) out.hostname = node.name;
  out.host_network = pod.host_network;
  out.host_pid = pod.host_pid;
  out.share_processes = pod.share_processes;
  out.hosts_extra = host_aliases(pod.document);
  out.resolv_conf = resolv_conf(pod, dns);
  out.memory_volumes = memory_volumes(pod.document, directory, node.memory_bytes);
  if (!pod.host_network) out.ports = published_ports(pod);
  return out;
}

}  // namespace krater::agent
