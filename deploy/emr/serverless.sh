#!/usr/bin/env bash
# Submits a job to an EMR Serverless application (emr-spark-8), whose workers have no GPU: models are
# servers that they reach, or their answers are imported.
#
#   deploy/emr/serverless.sh APPLICATION_ID ROLE_ARN s3://BUCKET/medhelm evaluate -c ... -o s3://BUCKET/lake
#
# What follows the name of the job (a file of jobs/) goes to it. The folder in S3 holds environment.tar.gz
# (deploy/pack.sh) and jobs/; with --local-path prod_env also prod_env.tar.gz, the site folder. An application
# with an image of deploy/docker needs no environment: IMAGE=1.
# Not run: no EMR of ours.
set -euo pipefail

usage="usage: deploy/emr/serverless.sh APPLICATION_ID ROLE_ARN s3://BUCKET/FOLDER JOB [ARGUMENT ...]"
application=${1:?$usage}
role=${2:?$usage}
place=${3:?$usage}
job=${4:?$usage}
shift 4

delta=/usr/share/aws/delta/lib
conf=(
  "spark.jars=$delta/delta-spark.jar,$delta/delta-storage.jar"
  spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension
  spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog
  spark.speculation=false
  spark.sql.session.timeZone=UTC
  spark.sql.execution.arrow.pyspark.validateSchema.enabled=true
  spark.sql.execution.pyspark.udf.tracebackWithLocals.enabled=false
)
archives=()
for argument in "$@"; do
  [[ "$argument" != --local-path* ]] || archives+=("$place/prod_env.tar.gz#prod_env")
done
if [ -z "${IMAGE:-}" ]; then
  python=./environment/bin/python
  archives+=("$place/environment.tar.gz#environment")
  conf+=(
    "spark.emr-serverless.driverEnv.PYSPARK_DRIVER_PYTHON=$python"
    "spark.emr-serverless.driverEnv.PYSPARK_PYTHON=$python"
    "spark.executorEnv.PYSPARK_PYTHON=$python"
  )
fi
if [ "${#archives[@]}" -gt 0 ]; then
  conf+=("spark.archives=$(IFS=,; echo "${archives[*]}")")
fi
driver=$(python3 -c 'import json, sys
entry, count = sys.argv[1], int(sys.argv[2])
conf, arguments = sys.argv[3:3 + count], sys.argv[3 + count:]
print(json.dumps({"sparkSubmit": {
    "entryPoint": entry, "entryPointArguments": arguments,
    "sparkSubmitParameters": " ".join(f"--conf {each}" for each in conf)}}))' \
  "$place/jobs/$job.py" "${#conf[@]}" "${conf[@]}" "$@")
aws emr-serverless start-job-run --application-id "$application" --execution-role-arn "$role" \
  --name "medhelm-$job" --job-driver "$driver"
