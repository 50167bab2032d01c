#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER: builds `kube` (Kubernetes' control plane and etcd in one program), `kwok` and `helm` into FOLDER, from
# sources that it downloads through the Go module proxy, and copies kwok's stages. This takes 15 minutes of processor time and
# 3 GB of caches, but only once.
set -euo pipefail
readonly KUBERNETES=1.36.3 KWOK=0.8.0 HELM=3.22.0
source=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/source"
folder=$(cd "$1" && pwd)
cd "$folder/source"
cp "$source/main.go" .
cat >go.mod <<MOD
module kube

go 1.26.0

require (
	github.com/spf13/cobra v1.10.2
	go.etcd.io/etcd/server/v3 v3.6.8
	k8s.io/component-base v0.${KUBERNETES#1.}
	k8s.io/kubernetes v$KUBERNETES
)

MOD
# Kubernetes' go.mod replaces some modules with folders in its own repository; this build uses their published versions.
theirs=$(cd / && go mod download -json "k8s.io/kubernetes@v$KUBERNETES" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
sed -nE "s|^\s+(k8s.io/[a-z-]+) => ./staging/.*|replace \1 => \1 v0.${KUBERNETES#1.}|p" "$theirs" >>go.mod
export GOFLAGS=-mod=mod CGO_ENABLED=0
version="-X k8s.io/component-base/version.gitVersion=v$KUBERNETES"
go mod tidy
nice -n 19 go build -trimpath -ldflags "-s -w $version" -o "$folder/kube" .
GOFLAGS='' GOBIN=$folder nice -n 19 go install "sigs.k8s.io/kwok/cmd/kwok@v$KWOK"
GOFLAGS='' GOBIN=$folder nice -n 19 go install "helm.sh/helm/v3/cmd/helm@v$HELM"
mkdir -p "$folder/stages"
stages=$(go env GOMODCACHE)/sigs.k8s.io/kwok@v$KWOK/kustomize/stage
for kind in node pod; do
    for file in "$stages/$kind/fast"/*.yaml; do
        [ "$(basename "$file")" = kustomization.yaml ] || install -m 644 "$file" "$folder/stages/$kind-$(basename "$file")"
    done
done
