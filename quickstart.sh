#!/usr/bin/env bash
# From a fresh machine to a real RayJob that SUCCEEDED: installs what is missing, builds, starts a one-node cluster,
# runs e2e/samples/rayjob.yaml. Safe to run again. See --help.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh

DATA_DIR=${KRATER_DATA_DIR:-$PWD/.krater}
LISTEN=${KRATER_LISTEN:-127.0.0.1:6443}
RAY_VENV=${KRATER_RAY_VENV:-$PWD/.venv-ray}
TIMEOUT_SECONDS=${KRATER_QUICKSTART_TIMEOUT:-600}

if [ "${1:-}" = "--help" ] || [ "${1:-}" = "-h" ]; then
  cat <<EOF
usage: ./quickstart.sh

Builds Krater, starts \`krater dev\` and runs a RayJob on it. Environment:
  KRATER_DATA_DIR            where the cluster lives        ($DATA_DIR)
  KRATER_LISTEN              address of the API             ($LISTEN)
  KRATER_RAY_VENV            virtual environment with Ray   ($RAY_VENV)
  KRATER_QUICKSTART_TIMEOUT  seconds to wait for the job    ($TIMEOUT_SECONDS)
EOF
  exit 0
fi

say "checking what this machine has"
need_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}"
need_kubectl
ray_venv "$RAY_VENV"

say "building (build/krater)"
build_krater build -Dtests=false

export KUBECONFIG=$DATA_DIR/kubeconfig
mkdir -p "$DATA_DIR"
PID_FILE=$DATA_DIR/quickstart.pid
LOG_FILE=$DATA_DIR/krater.log

running() {
  [ -f "$PID_FILE" ] && kill -0 "$(cat "$PID_FILE")" 2>/dev/null &&
    kubectl get --raw /readyz >/dev/null 2>&1
}

if running; then
  say "krater dev runs already (pid $(cat "$PID_FILE"))"
else
  say "starting krater dev on https://$LISTEN"
  cat >"$DATA_DIR/images.yaml" <<EOF
# Which directory of this node stands for which image names.
images:
  - {match: "rayproject/ray*", path: "$RAY_VENV"}
EOF
  rm -f "$DATA_DIR/kubeconfig"
  setsid build/krater dev --data-dir "$DATA_DIR" --listen "$LISTEN" --images "$DATA_DIR/images.yaml" \
    >>"$LOG_FILE" 2>&1 </dev/null &
  echo $! >"$PID_FILE"
  for _ in $(seq 1 150); do
    [ -f "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1 && break
    kill -0 "$(cat "$PID_FILE")" 2>/dev/null || { tail -n 20 "$LOG_FILE"; die "krater dev ended; its log is $LOG_FILE"; }
    sleep 0.1
  done
  running || { tail -n 20 "$LOG_FILE"; die "krater dev is not ready after 15 s; its log is $LOG_FILE"; }
fi

say "applying e2e/samples/rayjob.yaml"
kubectl delete rayjob rayjob-sample --ignore-not-found --wait=true --timeout=90s
kubectl apply -f e2e/samples/rayjob.yaml

field() { kubectl get "$1" -o "jsonpath=$2" 2>/dev/null || true; }
pod_group() { field rayjob/rayjob-sample '{.status.rayClusterName}' >/dev/null; kubectl get podgroups -o name 2>/dev/null | grep rayjob-sample | head -n 1 || true; }

say "waiting for rayjob-sample"
deadline=$((SECONDS + TIMEOUT_SECONDS))
shown=""
while :; do
  deployment=$(field rayjob/rayjob-sample '{.status.jobDeploymentStatus}')
  job=$(field rayjob/rayjob-sample '{.status.jobStatus}')
  group=$(pod_group)
  phase=""
  why=""
  if [ -n "$group" ]; then
    phase=$(field "$group" '{.status.phase}')
    why=$(field "$group" '{.status.conditions[?(@.type=="Unschedulable")].message}')
  fi
  pods=$(kubectl get pods --no-headers 2>/dev/null | awk '/^rayjob-sample/ {n[$3]++} END {for (s in n) printf "%s %s ", n[s], s}')
  line="RayJob ${deployment:-New} ${job:-} | PodGroup ${phase:--} | pods: ${pods:-none}"
  [ "$phase" = Running ] || [ -z "$why" ] || line="$line | why pending: $why"
  if [ "$line" != "$shown" ]; then
    printf '%4ss  %s\n' "$SECONDS" "$line"
    shown=$line
  fi
  case "$deployment" in
    Complete | Failed | ValidationFailed) break ;;
  esac
  if [ "$SECONDS" -ge "$deadline" ]; then
    kubectl get rayjob,raycluster,podgroup,pods,jobs,queues -o wide || true
    kubectl get events --sort-by=.lastTimestamp | tail -n 20 || true
    die "rayjob-sample did not end within $TIMEOUT_SECONDS s; see above and $LOG_FILE"
  fi
  sleep 1
done

say "output of the job"
submitter=$(kubectl get pods -l job-name=rayjob-sample -o name | head -n 1)
[ -z "$submitter" ] || kubectl logs "$submitter"
say "the whole of it"
kubectl get rayjob,raycluster,podgroup,pods,jobs,queues -o wide
if [ "$job" != SUCCEEDED ]; then
  kubectl get rayjob rayjob-sample -o jsonpath='{.status.reason}: {.status.message}{"\n"}'
  die "rayjob-sample ended as $deployment $job"
fi
printf '\nSUCCEEDED\n'
cat <<EOF

Go on with kubectl:
  export KUBECONFIG=$KUBECONFIG
  kubectl get rayjobs,podgroups,queues
  kubectl describe rayjob rayjob-sample
  kubectl delete rayjob rayjob-sample
Stop the cluster (its pods go on without --stop-pods):
  kill $(cat "$PID_FILE")
Its log: $LOG_FILE
EOF
