"""A ward whose model is behind a server that a test changes, and a release of its answers."""

import csv
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.moments import now
from medhelm_spark.lake.reader import open_reader
from tests.unit.evidence.planted import plant_suite_release

MODEL, RELEASE, SUITE = "ward/served", "r1", "first"


def right(case: int) -> str:
    return "yes" if case % 2 else "no"


def wrong(case: int) -> str:
    return "no" if case % 2 else "yes"


class Served:
    """Cases, a model behind HTTP, a site and a lake; `calls` are the cases in the order of calls.

    `lost` decides which cases are answered wrongly; from `healthy_for` calls on every call fails.
    """

    def __init__(self, folder: Path, cases: int, *, level: str = "public", **more: Any) -> None:
        self.folder, self.cases = folder, cases
        self.lake = folder / "lake"
        self.lost: Callable[[int], bool] = lambda case: False
        self.calls: list[int] = []
        self.healthy_for = 10**9
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        self.write_cases()
        config = {
            "name": "Cases",
            "description": "Made for a test.",
            "access_level": level,
            "prompt_file": "prompt.txt",
            "dataset_file": "data.csv",
            "metrics": [{"name": "exact_match"}],
            **more,
        }
        (folder / "prompt.txt").write_text("{question}\nAnswer yes or no:")
        (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
        self.deploy()

    def write_cases(self, more: str = "") -> None:
        with (self.folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["question", "correct_answer", "sex", "ward"])
            for case in range(self.cases):
                ward = "tiny" if case < 5 else "ns"[case % 3 == 0]
                sex = "fm"[case % 4 < 2]
                writer.writerow([f"Case {case:04d}{more}?", right(case), sex, ward])

    def deploy(self, **args: Any) -> None:
        """Declare the model; `args` are further arguments of its client."""
        url = f"http://127.0.0.1:{self._http.server_port}/v1"
        model = {
            "name": MODEL,
            "engine": "openai",
            "locality": "local",
            "max_attempts": 1,
            "client_spec": {"args": {"base_url": url, **args}},
        }
        path = self.folder / "prod_env" / "model_deployments.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({"model_deployments": [model]}))

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def entry(self) -> str:
        path = self.folder / "benchmark.yaml"
        return f"medhelm_configurable_benchmark:config_path={path},model={MODEL}"

    @property
    def evaluation(self) -> Evaluation:
        return Evaluation(
            self.lake, site=self.folder / "prod_env", tracking=False, say=lambda line: None
        )

    def released(self, release: str = RELEASE, suite: str = SUITE, **more: Any) -> "Served":
        """The cases answered, and pinned as a draft, as releases of earlier versions are."""
        self.evaluation.run(self.entry, suite=suite, **more)
        plant_suite_release(self.lake, suite, release, now())
        self.calls.clear()
        return self

    def command(self, *words: str) -> int:
        """`medhelm-spark release ...` in this lake and site."""
        path_options = [
            "--output-path",
            str(self.lake),
            "--local-path",
            str(self.folder / "prod_env"),
        ]
        return main(["release", *words, *path_options])

    def watch(self, *words: str) -> int:
        return self.command("watch", RELEASE, *words)

    def rows(self, table: str) -> list[dict[str, Any]]:
        found = open_reader(str(self.lake)).query(f"SELECT * FROM {{{table}}}")
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    def results(self, look: int, part: str = "scores") -> list[dict[str, Any]]:
        found = self.rows("watch_results")
        return [row for row in found if row["look"] == look and row["part"] == part]

    def _reply(self, prompt: str) -> tuple[int, dict[str, Any]]:
        case = int(prompt.split("Case ")[1][:4])
        with self._lock:
            if len(self.calls) >= self.healthy_for:
                return 503, {"error": {"message": "busy", "code": "overloaded"}}
            self.calls.append(case)
        text = wrong(case) if self.lost(case) else right(case)
        return 200, {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1},
            "model": "served",
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, reply = served._reply(body["messages"][-1]["content"])
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests read standard error."""

        return Handler
