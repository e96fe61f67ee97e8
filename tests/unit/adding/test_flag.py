"""A flag is a line of the options, an argument of `Evaluation`, and what hands one to the other."""

from pathlib import Path

from tests.unit.adding.edited import Edits, printed

TOP: Edits = {
    "cli/board_options.py": (
        (
            "    form(parser)\n\n\ndef prevalence(",
            '    add("--top", type=int, metavar="N", help="the first N stats only")\n'
            "    form(parser)\n\n\ndef prevalence(",
        ),
    ),
    "cli/commands.py": (
        ("site.stats(args.suite, **source)", "site.stats(args.suite, top=args.top, **source)"),
    ),
    "evaluation.py": (
        (
            "    def stats(\n        self,\n        suite: str | None = None,\n        *,\n",
            "    def stats(\n        self,\n        suite: str | None = None,\n        *,\n"
            "        top: int | None = None,\n",
        ),
        (
            "Stats(stat_rows(self._runs(suite, release, schema)), ",
            "Stats(stat_rows(self._runs(suite, release, schema))[:top], ",
        ),
    ),
}

TYPED = """
from pathlib import Path

from medhelm_spark.cli import main
from tests.unit.board.planted import plant

plant(Path("lake"))
stats = ["leaderboard", "-o", "lake", "--suite", "s1", "--metric", "all", "--format", "csv"]
for typed in (stats, [*stats, "--top", "3"]):
    print("lines:")
    assert main(typed) == 0
main(["leaderboard", "--help"])
"""


def test_a_flag_is_read_and_stands_in_the_help(tmp_path: Path) -> None:
    shown, _, help_text = printed(tmp_path, TOP, TYPED).partition("usage:")
    _, every, first = (part.split("\n")[1:-1] for part in shown.split("lines:"))
    assert len(every) > len(first) == len(("header", 1, 2, 3))
    assert first == every[:4]
    assert "--top N" in help_text
    assert "the first N stats only" in help_text
