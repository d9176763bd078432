// The load generator: drives a running server over HTTPS with many clients on one loop and prints
// what it measured.
//   krater-load --kubeconfig FILE create --clients 64 --requests 20000 --bytes 1024
//   krater-load --kubeconfig FILE get --clients 64 --requests 20000
//   krater-load --kubeconfig FILE list --objects 10000 --repeat 10
//   krater-load --kubeconfig FILE watch --watchers 1000 --writes 200
//   krater-load --kubeconfig FILE gangs --jobs 20 --workers 2
//   krater-load --kubeconfig FILE shapes --jobs 500 --pods 20 [--no-gang] --via vcjob
#include <CLI/CLI.hpp>
#include <string>

#include "bench/load/commands.h"

int main(int argc, char** argv) {
  using namespace krater::bench;  // NOLINT(google-build-using-namespace)
  CLI::App app("load for a running Krater");
  std::string kubeconfig, name = "krater";
  app.add_option("--kubeconfig", kubeconfig)->required()->check(CLI::ExistingFile);
  app.add_option("--name", name, "of the server, for what is printed")->capture_default_str();
  app.require_subcommand(1);
  CreateOptions creating;
  CLI::App* create = app.add_subcommand("create", "durable creates a second");
  create->add_option("--clients", creating.clients)->capture_default_str();
  create->add_option("--requests", creating.requests)->capture_default_str();
  create->add_option("--bytes", creating.bytes)->capture_default_str();
  GetOptions getting;
  CLI::App* gets = app.add_subcommand("get", "one pod, read again and again");
  gets->add_option("--clients", getting.clients)->capture_default_str();
  gets->add_option("--requests", getting.requests)->capture_default_str();
  ListOptions listing;
  CLI::App* list = app.add_subcommand("list", "lists of many pods");
  list->add_option("--objects", listing.objects, "pods created first; may be 0")
      ->capture_default_str();
  list->add_option("--repeat", listing.repeat)->capture_default_str();
  list->add_option("--resource-version", listing.resource_version);
  WatchOptions watching;
  CLI::App* watch = app.add_subcommand("watch", "one write to many watchers");
  watch->add_option("--watchers", watching.watchers)->capture_default_str();
  watch->add_option("--writes", watching.writes)->capture_default_str();
  GangOptions ganging;
  CLI::App* gangs = app.add_subcommand("gangs", "RayJobs at once, until all their pods are bound");
  gangs->add_option("--jobs", ganging.jobs)->capture_default_str();
  gangs->add_option("--workers", ganging.workers, "of each job, beside its head")
      ->capture_default_str();
  gangs->add_option("--queue", ganging.queue);
  gangs->add_option("--seconds", ganging.seconds, "at most")->capture_default_str();
  ShapeOptions shaping;
  CLI::App* shapes = app.add_subcommand("shapes", "jobs of one-CPU pods, until all of them run");
  shapes->add_option("--jobs", shaping.jobs)->capture_default_str();
  shapes->add_option("--pods", shaping.pods, "of each job")->capture_default_str();
  shapes->add_flag("--gang,!--no-gang", shaping.gang, "all pods of a job or none");
  shapes->add_option("--clients", shaping.clients)->capture_default_str();
  shapes->add_option("--seconds", shaping.seconds, "at most")->capture_default_str();
  shapes->add_option("--via", shaping.via, "who creates the pods")
      ->check(CLI::IsMember({"vcjob", "pods", "none"}))
      ->capture_default_str();
  shapes->add_option("--until", shaping.until, "what to wait for")
      ->check(CLI::IsMember({"created", "first-bound", "bound", "running"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Target target = target_of(kubeconfig, name);
  if (create->parsed()) return bench_create(target, creating);
  if (gets->parsed()) return bench_get(target, getting);
  if (list->parsed()) return bench_list(target, listing);
  if (watch->parsed()) return bench_watch(target, watching);
  if (shapes->parsed()) return bench_shapes(target, shaping);
  return bench_gangs(target, ganging);
}
