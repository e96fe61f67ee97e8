#!/usr/bin/env bash
# Packs the wheel of this checkout with its dependencies into an archive for spark-submit --archives:
#
#   deploy/pack.sh environment.tar.gz [PACKAGE ...]      such as pandas mlflow
#
# EXTRAS=[excel] adds extras, PYTHON=python3.11 names the interpreter, UV="python3 -m uv" says how uv
# is called. The archive links to that interpreter: pack where it lies at the same path as on the
# cluster's machines, for EMR on one of its nodes. Spark and Delta are the cluster's and stay out.
set -euo pipefail

archive=$(realpath -m -- "${1:?usage: deploy/pack.sh ARCHIVE.tar.gz [PACKAGE ...]}")
shift
root=$(cd -- "$(dirname -- "$0")/.." && pwd)
read -ra uv <<<"${UV:-uv}"
command -v "${uv[0]}" >/dev/null ||
  { echo "deploy/pack.sh: needs uv: pip install uv, or UV='python3 -m uv' deploy/pack.sh ..." >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

"${uv[@]}" build --quiet --wheel --out-dir "$folder" "$root"
wheel=$(echo "$folder"/*.whl)
"${uv[@]}" venv --quiet --relocatable --python "${PYTHON:-python3}" "$folder/environment"
# Copies, because a link into uv's cache may be touched by another process while it is packed.
"${uv[@]}" pip install --quiet --link-mode copy --python "$folder/environment/bin/python" \
  --constraint "$root/constraints.txt" "medhelm-spark${EXTRAS:-} @ file://$wheel" "$@"
mkdir -p -- "$(dirname -- "$archive")"
tar -czf "$archive.part" -C "$folder/environment" .
mv -- "$archive.part" "$archive"
echo "$archive: $(du -h -- "$archive" | cut -f1)"
