#!/usr/bin/env bash
# exec_in_pod.sh NAMESPACE POD CONTAINER COMMAND...: what exec_stand_in.go runs. A pod hostexec-* stands for its node, and
# all nodes are this machine: of `nsenter … sh -c COMMAND` the COMMAND runs here. Elsewhere the command is run in the mounts
# of the pod's process; pods of simulated nodes have none.
namespace=$1 pod=$2
shift 3
case $pod in hostexec-*) exec sh -c "${@: -1}" ;; esac
uid=$(kubectl get pod -n "$namespace" "$pod" -o 'jsonpath={.metadata.uid}') || exit 125
for file in $(grep -ls "$uid" /proc/[0-9]*/cgroup); do
  pid=${file#/proc/}
  pid=${pid%/cgroup}
  grep -qa shim "/proc/$pid/cmdline" && continue
  exec nsenter -t "$pid" -m -- "$@"
done
echo "no process of $namespace/$pod on this machine" >&2
exit 126
