#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# life.sh PROGRAMS LIFE: starts a Kubernetes control plane on free ports, with a fake node that has 8 GPUs, runs the program
# LIFE (cloud_life or chart.sh) against it, and stops everything. PROGRAMS is the folder with kube, kwok and stages/ that
# build.sh fills.
set -euo pipefail
programs=$(cd "$1" && pwd)
life=$(realpath "$2")
work=$(mktemp -d)
trap 'kill -KILL $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

etcd=$(free_port) peer=$(free_port) api=$(free_port) manager=$(free_port) scheduler=$(free_port)
mkdir certificates account
openssl genrsa -out account.key 2048 2>/dev/null
printf 'admintoken,admin,1,"system:masters"\nviewtoken,viewer,2,"viewers"\n' >tokens.csv

"$programs/kube" etcd --data-dir etcd --listen-client-urls "http://127.0.0.1:$etcd" --unsafe-no-fsync --log-level error \
    --advertise-client-urls "http://127.0.0.1:$etcd" --listen-peer-urls "http://127.0.0.1:$peer" >etcd.log 2>&1 &
"$programs/kube" apiserver --etcd-servers "http://127.0.0.1:$etcd" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 \
    --secure-port "$api" --cert-dir certificates --service-account-issuer https://kubernetes.default.svc \
    --service-account-signing-key-file account.key --service-account-key-file account.key --token-auth-file tokens.csv \
    --authorization-mode RBAC --service-cluster-ip-range 10.96.0.0/16 --endpoint-reconciler-type none \
    --disable-admission-plugins TaintNodesByCondition >api.log 2>&1 &

# kubeconfig TOKEN: prints a kubeconfig as kubectl writes it, with the certificate embedded
kubeconfig() {
    cat <<YAML
apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: $(base64 -w0 certificates/apiserver.crt)
    server: https://127.0.0.1:$api
  name: here
contexts:
- context:
    cluster: here
    namespace: llm
    user: robot
  name: here
current-context: here
users:
- name: robot
  user:
    token: $1
YAML
}

ask() { # ask METHOD PATH [BODY]
    curl -sSf --cacert certificates/apiserver.crt -H 'Authorization: Bearer admintoken' -X "$1" \
        -H 'Content-Type: application/json' ${3:+-d "$3"} "https://127.0.0.1:$api$2"
}

for _ in $(seq 600); do
    ask GET /readyz >/dev/null 2>&1 && break
    sleep 0.1
done
kubeconfig admintoken >admin.yaml
kubeconfig viewtoken >viewer.yaml
cp certificates/apiserver.crt account/ca.crt

"$programs/kube" controller-manager --kubeconfig admin.yaml --service-account-private-key-file account.key \
    --use-service-account-credentials=false --leader-elect=false --bind-address 127.0.0.1 --secure-port "$manager" \
    --controllers '*,-node-lifecycle-controller,-node-ipam-controller,-cloud-node-lifecycle-controller,-node-route-controller,-service-lb-controller' \
    >manager.log 2>&1 &
"$programs/kube" scheduler --kubeconfig admin.yaml --leader-elect=false --bind-address 127.0.0.1 --secure-port "$scheduler" \
    >scheduler.log 2>&1 &
stages=()
for file in "$programs"/stages/*.yaml; do
    stages+=(--config "$file")
done
"$programs/kwok" --kubeconfig admin.yaml "${stages[@]}" --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake \
    >kwok.log 2>&1 &

ask POST /api/v1/namespaces '{"metadata":{"name":"llm"}}' >/dev/null
ask POST /api/v1/namespaces/llm/secrets '{"metadata":{"name":"hf-secret"},"stringData":{"hf_api_token":"x"}}' >/dev/null
ask POST /api/v1/nodes '{"metadata":{"name":"gpu-1","annotations":{"kwok.x-k8s.io/node":"fake"},
    "labels":{"cloud.google.com/gke-accelerator":"nvidia-l4"}},
    "spec":{"taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"64","memory":"256Gi","pods":"110","nvidia.com/gpu":"8"},
    "allocatable":{"cpu":"64","memory":"256Gi","pods":"110","nvidia.com/gpu":"8"}}}' >/dev/null
for _ in $(seq 100); do # until a controller has created the namespace's default service account
    ask GET /api/v1/namespaces/llm/serviceaccounts/default >/dev/null 2>&1 && break
    sleep 0.1
done
"$life" "$work" || {
    echo "--- api.log"; tail -5 api.log
    echo "--- kwok.log"; tail -5 kwok.log
    exit 1
}
