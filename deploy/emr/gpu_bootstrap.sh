#!/usr/bin/env bash
# EMR bootstrap action for nodes with GPUs:
#
#   --bootstrap-actions Path=s3://BUCKET/medhelm/gpu_bootstrap.sh,Args=[s3://BUCKET/medhelm]
#
# Lets YARN manage the devices of its containers and puts Spark's discovery script where cluster.json
# says. The driver comes with the image of the node. Not run: no EMR of ours.
set -euo pipefail

place=${1:?usage: gpu_bootstrap.sh s3://BUCKET/FOLDER, which holds discover_gpus.sh}
command -v nvidia-smi >/dev/null || exit 0 # a node without GPUs

for controller in /sys/fs/cgroup/devices /sys/fs/cgroup/cpu,cpuacct; do
  [ ! -d "$controller" ] || sudo chmod -R a+rwx "$controller"
done
sudo mkdir -p /usr/lib/medhelm-spark
aws s3 cp "$place/discover_gpus.sh" - | sudo tee /usr/lib/medhelm-spark/discover_gpus.sh >/dev/null
sudo chmod 0755 /usr/lib/medhelm-spark/discover_gpus.sh
/usr/lib/medhelm-spark/discover_gpus.sh
