#!/bin/sh
# A look at a release, for cron; a crontab line that asks at half past two each night:
#
#   30 2 * * * RELEASE=2026-q1 MARGIN=0.02 /opt/medhelm/release_watch.sh
#
# cron mails what a job prints. Nothing is printed where nothing moved; docs/release-watch.md has the
# exit codes.
set -u

: "${RELEASE:?the name of the release}"
MEDHELM_SPARK="${MEDHELM_SPARK:-medhelm-spark}"
FOLDER="${FOLDER:-.}"                # where benchmark_output and prod_env are
SAMPLE="${SAMPLE:-1000}"             # instances of each run at most
TRIES="${TRIES:-3}"                  # of a model that gives no answers; the look goes on
PAUSE="${PAUSE:-600}"                # seconds between them

cd "$FOLDER" || exit 1
out="$(mktemp)"
trap 'rm -f "$out"' EXIT

try=1
while :; do
    "$MEDHELM_SPARK" release watch "$RELEASE" --sample "$SAMPLE" \
        ${MARGIN:+--margin "$MARGIN"} "$@" >"$out" 2>&1
    code=$?
    if [ "$code" -ne 4 ] || [ "$try" -ge "$TRIES" ]; then
        break
    fi
    try=$((try + 1))
    sleep "$PAUSE"
done

case "$code" in
0) ;;
8) echo "medhelm-spark: release $RELEASE: something moved" ;;
9) echo "medhelm-spark: release $RELEASE: the data do not decide yet" ;;
4) echo "medhelm-spark: release $RELEASE: the model gives no answers, after $try tries" ;;
*) echo "medhelm-spark: release $RELEASE: the look failed with exit code $code" ;;
esac
[ "$code" -eq 0 ] || cat "$out"
exit "$code"
