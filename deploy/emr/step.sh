#!/usr/bin/env bash
# Submits a job as a step of an EMR cluster on EC2 (emr-spark-8):
#
#   deploy/emr/step.sh CLUSTER_ID s3://BUCKET/medhelm evaluate -c ... --suite pilot -o s3://BUCKET/lake
#
# What follows the name of the job (a file of jobs/) goes to it. The folder in S3 holds environment.tar.gz
# (deploy/pack.sh), jobs/, conf/log4j2.properties and job.conf (spark-defaults.conf, with deploy/spark/*_gpu*.conf
# where there are GPUs); with --local-path prod_env also prod_env.tar.gz, the site folder.
# Delta is the cluster's own: create it with deploy/emr/cluster.json. Not run: no EMR of ours.
set -euo pipefail

usage="usage: deploy/emr/step.sh CLUSTER_ID s3://BUCKET/FOLDER JOB [ARGUMENT ...]"
cluster=${1:?$usage}
place=${2:?$usage}
job=${3:?$usage}
shift 3

archives="$place/environment.tar.gz#environment"
for argument in "$@"; do
  [[ "$argument" != --local-path* ]] || archives+=",$place/prod_env.tar.gz#prod_env"
done
python=./environment/bin/python
words=(
  --archives "$archives" --files "$place/conf/log4j2.properties"
  --conf "spark.pyspark.python=$python"
  --conf "spark.yarn.appMasterEnv.PYSPARK_PYTHON=$python"
  --conf "spark.driver.extraJavaOptions=-Dlog4j2.configurationFile=log4j2.properties"
  "$place/jobs/$job.py" "$@"
)
# spark-submit reads a properties file from the local disk alone, so the step fetches it first.
# shellcheck disable=SC2016
printf -v line 'conf=$(mktemp) && aws s3 cp %q "$conf" && ' "$place/job.conf"
# shellcheck disable=SC2016
line+='spark-submit --deploy-mode cluster --load-spark-defaults --properties-file "$conf"'
printf -v line '%s%s' "$line" "$(printf ' %q' "${words[@]}")"
steps=$(python3 -c 'import json, sys
print(json.dumps([{"Name": sys.argv[1], "Type": "CUSTOM_JAR", "Jar": "command-runner.jar",
                   "ActionOnFailure": "CONTINUE", "Args": ["bash", "-c", sys.argv[2]]}]))' "medhelm $job" "$line")
aws emr add-steps --cluster-id "$cluster" --steps "$steps"
