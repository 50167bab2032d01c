#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# chart.sh FOLDER: renders the Helm chart with its default values and with others, and has the API server that life.sh started
# in FOLDER check each object strictly, without storing it. The environment variable HELM is the path of helm.
set -euo pipefail
chart=$(realpath "$(dirname "$0")/../../../helm")
cd "$1"
server=$(sed -n 's/^ *server: //p' admin.yaml)

fail() {
    echo "chart.sh: $*" >&2
    exit 1
}

# collection_of FILE: prints the API server's path at which objects like the one in the file are created.
collection_of() {
    case $(sed -n 's/^kind: //p' "$1") in
        Deployment) echo /apis/apps/v1/namespaces/llm/deployments ;;
        Service) echo /api/v1/namespaces/llm/services ;;
        PersistentVolumeClaim) echo /api/v1/namespaces/llm/persistentvolumeclaims ;;
        *) fail "$1 has an object of a kind that this script does not know" ;;
    esac
}

# check FILE: the API server must accept the object without a warning. Unknown fields are errors, and so are environment
# variables that are set twice.
check() {
    local answer
    answer=$(curl -sS --cacert certificates/apiserver.crt -H 'Authorization: Bearer admintoken' -H 'Content-Type: application/yaml' \
        -o object.json -w '%{http_code}%header{warning}' --data-binary @"$1" \
        "$server$(collection_of "$1")?dryRun=All&fieldValidation=Strict")
    [ "$answer" = 201 ] || fail "$1: $answer $(grep -m 1 '"message"' object.json)"
}

# render COUNT VALUE...: renders the chart with these values, which must give COUNT objects.
render() {
    local count=$1 values=() file files
    for value in "${@:2}"; do values+=(--set-json "$value"); done
    rm -rf rendered
    "$HELM" lint --quiet --strict "$chart" "${values[@]}"
    "$HELM" template team "$chart" --kube-version 1.36 --output-dir rendered "${values[@]}" >/dev/null
    files=(rendered/opsbrain/templates/*)
    [ ${#files[@]} = "$count" ] || fail "${*:2}: got ${files[*]}, expected $count objects"
    for file in "${files[@]}"; do check "$file"; done
}

# has LINE...: the rendered Deployment must have these lines, one after the other.
has() {
    local lines
    lines=$(printf '%s\n' "$@")
    [[ $(<rendered/opsbrain/templates/deployment.yaml) == *"$lines"* ]] || fail "the Deployment lacks: $*"
}

render 3
has '            claimName: team'
render 2 'database={"secret":"db"}'
has '                secretKeyRef: {name: db, key: url}'
has '        - name: data' '          emptyDir: {}'
render 2 'persistence={"existingClaim":"disk"}'
has '            claimName: disk'
render 3 'persistence={"size":"5Gi","storageClass":"fast","accessMode":"ReadWriteOncePod"}'
render 3 'settings={"storage_limit_bytes":8589934592,"log_requests":false,"session_idle":"2h","audit_days":0.5,"allowed_hosts":"other"}' \
    'allowedHosts=["a.example","b.example"]' 'allowedOrigins=["https://a.example"]'
has '            - name: OPSBRAIN_STORAGE_LIMIT_BYTES' '              value: "8589934592"'
has '            - name: OPSBRAIN_LOG_REQUESTS' '              value: "false"'
has '            - name: OPSBRAIN_AUDIT_DAYS' '              value: "0.5"' # invalid, but passed on, since the server refuses it
has '            - name: OPSBRAIN_ALLOWED_HOSTS' '              value: "other"'
render 3 'existingSecret="tokens"' 'service={"type":"LoadBalancer","port":8080}' 'nodeSelector={"disk":"ssd"}' \
    'tolerations=[{"key":"a","operator":"Exists","effect":"NoSchedule"}]' 'resources={"limits":{"memory":"2Gi"}}' \
    'affinity={"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}]}]}}}' \
    'image={"repository":"registry.example.com/opsbrain","tag":"1.10"}'
has '                name: tokens'
has '          image: "registry.example.com/opsbrain:1.10"'
echo "the Helm chart: the API server accepts its objects, with the default values and with others"
