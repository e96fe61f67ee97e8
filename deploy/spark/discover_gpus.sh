#!/usr/bin/env bash
# Tells Spark which GPUs this machine has (spark.executor.resource.gpu.discoveryScript): one line of
# JSON. It only reports: the engine takes the addresses that Spark assigns to its task.
set -euo pipefail

indices=$(nvidia-smi --query-gpu=index --format=csv,noheader)
addresses=""
while read -r index; do
  [[ "$index" =~ ^[0-9]+$ ]] || { echo "nvidia-smi gave no GPU index: is the driver running?" >&2; exit 1; }
  addresses+="${addresses:+, }\"$index\""
done <<<"$indices"
echo "{\"name\": \"gpu\", \"addresses\": [$addresses]}"
