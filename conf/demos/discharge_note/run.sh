#!/usr/bin/env sh
# Runs this benchmark and prints its board. Give other models as arguments: ./run.sh openai/gpt-4o
set -eu
cd "$(dirname "$0")"
[ "$#" -gt 0 ] || set -- huggingface/smollm2-135m-instruct
SUITE="${SUITE:-discharge_note}"
LAKE="${LAKE:-benchmark_output}"
medhelm-spark run -c run_entries.conf --suite "$SUITE" -o "$LAKE" --models-to-run "$@"
medhelm-spark summarize --suite "$SUITE" -o "$LAKE"
medhelm-spark leaderboard --suite "$SUITE" -o "$LAKE"
