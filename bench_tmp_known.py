import sys, time, random, csv, resource, os
from pathlib import Path
import tempfile
from medhelm_spark.api.workspace import Workspace
from medhelm_spark.domain.scenario import *
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.scenarios.levels import text_hashes
from medhelm_spark.scenarios.records import ParsedInput
from medhelm_spark.stages.ingest import held
from medhelm_spark.scenarios import Record
tmp = Path(tempfile.mkdtemp(prefix="wt-attack-"))
rng = random.Random(1)
words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(5000)]
def note(): return " ".join(rng.choices(words, k=300)) + "."
ws = Workspace(str(tmp / "lake"), None)
ws.expect([AccessLevel.PRIVATE])
ctx = ws.context("s")
N, M = 100_000, 10_000
t=time.time(); kept=[]
def rows():
    for i in range(N):
        n = note()
        if i % 1000 == 0: kept.append(n)
        yield Instance(instance_id=str(i), scenario_name="ward", data_version="v", source_id=str(i), source_index=i, split=Split.TEST, input=n, references=(), access_level=AccessLevel.PRIVATE, text_hashes=text_hashes(ParsedInput(input=n), {"note": n, "q": "Read the note and answer with yes or no and nothing else please."}))
import itertools
from medhelm_spark.lake.lake import new_write_id
it = rows()
while chunk := list(itertools.islice(it, 20000)):
    ctx.lake.append_rows("instances", chunk, new_write_id())
ctx.lake.append_rows("scenarios", [ScenarioVersion(scenario_name="ward", data_version="v", card_hash="", access_level=AccessLevel.PRIVATE, display_name="", category="", subcategory="", main_metric="", main_split="test", verified=Verified.NEVER, num_instances=N, num_quarantined=0, source="x")], new_write_id())
print("stored", round(time.time()-t,1), "s", "python peak MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss//1024, flush=True)
with open(tmp / "data.csv", "w", newline="") as f:
    w = csv.writer(f); w.writerow(["id", "note", "q"])
    for i in range(M): w.writerow([i, (kept[i//1000] + " !") if i % 1000 == 0 else note(), "Read the note and answer with yes or no and nothing else please."])
from tests.unit.scenarios.cards import card, source
c = card(source=source(tmp / "data.csv"), options={"template": "{note}"}, fields={"id": "id", "note": "note"}, metric="jury_score", access_level=AccessLevel.PUBLIC)
from dataclasses import replace
ctx.lake.spark.range(1).count()
ctx.lake.read("instances").count()
ctx = ctx.within(held.INGEST)
for _ in range(2):
    t=time.time(); before=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    raised = held.raised_cards(ctx, {c.name: c})
    print("raised", {k: v.access_level for k, v in raised.items()}, round(time.time()-t,1), "s", "driver grew MB", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss-before)//1024, "load", os.getloadavg()[0], flush=True)
import shutil; shutil.rmtree(tmp)
