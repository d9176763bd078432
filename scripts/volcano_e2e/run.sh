#!/usr/bin/env bash
# run.sh NAME SUITE PORT [Ginkgo's flags]: one of Volcano's end-to-end suites against a server of its own on 127.0.0.1.
# OUT/NAME.json is Ginkgo's report, OUT/NAME.out what the suite printed, OUT/NAME/ the server's directory. From outside:
#   KRATER   the binary                VOLCANO  a checkout of Volcano          OUT  where to write
#   SUITES   directory of its compiled suites: go test -c -o SUITES/SUITE.test ./test/e2e/SUITE
#   VC_BIN   directory of its programs (vcctl; for SHARDING and MODE the others)
# and, each of them optional:
#   KWOK=N            N nodes kwok-node-0… by an agent, tainted and labelled as upstream's
#   DAEMONS=1         a pod on every node, as kindnet's on upstream's nodes
#   LATE=1s           containers start that much later than they could; LATE_IMAGES="a b": those of such images only
#   PERIOD=1s         a cycle begins that often, as upstream's do, instead of when something happens
#   DISCOVERY=1       HyperNodes are discovered by labels, configured as upstream's suite has it
#   PROCESS=1         three nodes with real processes instead of four simulated ones
#   EXEC=1            pods/exec is answered by exec_stand_in.go
#   SHARDING=1        upstream's sharding controller
#   MODE=hard|soft|none  and its scheduler instead of ours; for agentscheduler its second scheduler beside ours
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$1 suite=$2 port=$3
shift 3
dir=$OUT/$name
mkdir "$dir"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
start() { # start NAME COMMAND...
  setsid nohup nice -n 5 "${@:2}" > "$dir/$1.log" 2>&1 < /dev/null &
  pids+=($!)
}

nodes=(--runtime simulated --nodes 4 --programs "$here/programs.yaml")
if [ -n "${PROCESS:-}" ]; then
  # Of these images the suite wants a program that waits (`pause`) and a shell.
  mkdir -p "$dir/image/bin"
  printf '#!/bin/sh\nexec sleep infinity\n' > "$dir/image/bin/pause"
  chmod +x "$dir/image/bin/pause"
  printf 'images:\n- {match: "*agnhost*", path: %s}\n- {match: "*busybox*", host: true}\n' "$dir/image" > "$dir/images.yaml"
  nodes=(--runtime process --stop-pods --node-name n1 --images "$dir/images.yaml")
fi
[ "$suite" = schedulersharding ] && nodes+=(--scheduler off)
[ -n "${PERIOD:-}" ] && nodes+=(--schedule-period "$PERIOD")
start server "$KRATER" dev --data-dir "$dir/data" --listen "127.0.0.1:$port" --cpu 8 --memory 16Gi "${nodes[@]}" \
  --scheduler-configmap volcano-system/integration-scheduler-configmap/volcano-scheduler-ci.conf
export KUBECONFIG=$dir/data/kubeconfig MASTER= VC_BIN
until kubectl get --raw /readyz > /dev/null 2>&1; do sleep 0.2; done
config() { kubectl create configmap -n volcano-system "$1" --from-file="$2"; }
scheduler=$VOLCANO/installer/helm/chart/volcano/config/volcano-scheduler-ci.conf
config integration-scheduler-configmap "volcano-scheduler-ci.conf=$scheduler"

agent() { # agent NAME FLAGS...
  start "$1" "$KRATER" agent --server "https://127.0.0.1:$port" --data-dir "$dir/$1" \
    --token "$("$KRATER" token create --data-dir "$dir/data" | tail -1)" --cpu 8 "${@:2}"
}
wanted=4
if [ -n "${PROCESS:-}" ]; then
  wanted=3
  for i in 2 3; do
    agent "n$i" --memory 16Gi --runtime process --stop-pods --node-name "n$i" \
      --pod-cidr "10.8$i.0.0/16" --images "$dir/images.yaml"
  done
fi
if [ -n "${KWOK:-}" ]; then
  wanted=$((wanted + KWOK))
  agent kwok --memory 8Gi --runtime simulated --nodes "$KWOK" --node-name kwok-node
fi
until [ "$(kubectl get nodes --no-headers | grep -c ' Ready')" = $wanted ]; do sleep 0.5; done
for node in $(kubectl get nodes -o name | grep /kwok || true); do
  kubectl taint nodes "${node#node/}" kwok.x-k8s.io/node=fake:NoSchedule
  kubectl label "$node" type=kwok
done
if [ -n "${DAEMONS:-}" ]; then
  kubectl apply -f "$here/daemons.yaml"
  kubectl rollout status -n kube-system daemonset/kindnet --timeout=60s
fi
[ -n "${DISCOVERY:-}" ] && config volcano-controller-configmap "volcano-controller.conf=$here/discovery.conf"
if [ -n "${LATE:-}" ]; then
  # shellcheck disable=SC2086
  start late python3 "$here/late_starts.py" $((port + 1)) "$dir" "$LATE" ${LATE_IMAGES:-}
  until [ -s "$dir/webhook.yaml" ]; do sleep 0.2; done
  kubectl apply -f "$dir/webhook.yaml"
fi
if [ -n "${SHARDING:-}" ]; then
  kubectl apply --server-side -f "$VOLCANO/config/crd/volcano/bases/" > /dev/null
  config integration-sharding-configmap "sharding.yaml=$here/$suite.yaml"
  start controllers "$VC_BIN/controller-manager" --kubeconfig "$KUBECONFIG" --controllers=sharding-controller \
    --leader-elect=false --listen-address="127.0.0.1:$((port + 2))" \
    --sharding-configmap=integration-sharding-configmap --sharding-configmap-namespace=volcano-system
fi
if [ -n "${MODE:-}" ]; then
  theirs=(scheduler --scheduler-conf="$scheduler" --scheduler-sharding-name=volcano)
  [ "$suite" = agentscheduler ] && theirs=(agent-scheduler --scheduler-worker-count=2
    --scheduler-conf="$VOLCANO/installer/helm/chart/volcano/config/agent-scheduler.conf")
  start scheduler "$VC_BIN/${theirs[0]}" --kubeconfig "$KUBECONFIG" --leader-elect=false "${theirs[@]:1}" \
    --listen-address="127.0.0.1:$((port + 3))" --scheduler-sharding-mode="$MODE"
  set -- --ginkgo.label-filter="$MODE" "$@"
fi
if [ -n "${EXEC:-}" ]; then
  (cd "$here" && go build -o "$dir/exec_stand_in" exec_stand_in.go)
  for what in certificate key; do
    kubectl config view --raw -o "jsonpath={.users[0].user.client-$what-data}" | base64 -d > "$dir/$what"
  done
  start exec "$dir/exec_stand_in" "127.0.0.1:$((port + 4))" "https://127.0.0.1:$port" "$dir/certificate" "$dir/key" \
    "$here/exec_in_pod.sh"
  kubectl config --kubeconfig "$dir/through" set-cluster krater --server "http://127.0.0.1:$((port + 4))"
  kubectl config --kubeconfig "$dir/through" set-context krater --cluster krater --user nobody
  kubectl config --kubeconfig "$dir/through" use-context krater
  set -- -kubeconfig="$dir/through" "$@"
  suite_config=$dir/through
fi

cd "$VOLCANO/test/e2e/$suite"
status=0
KUBECONFIG=${suite_config:-$KUBECONFIG} nice -n 5 "$SUITES/$suite.test" -test.timeout=0 --ginkgo.timeout="${LIMIT:-40m}" \
  --ginkgo.json-report="$OUT/$name.json" --ginkgo.no-color "$@" > "$OUT/$name.out" 2>&1 || status=$?
kubectl get events -A > "$dir/events"
exit $status
