"""`gc` and `optimize`."""

from argparse import ArgumentParser, Namespace

from medhelm_spark.cli.commands import evaluation


def gc(args: Namespace) -> int:
    """Remove what the policy's `retention` no longer keeps."""
    evaluation(args).lake.gc(dry_run=args.dry_run)
    return 0


def optimize(args: Namespace) -> int:
    """Rewrite tables of many small files."""
    evaluation(args).lake.optimize(dry_run=args.dry_run)
    return 0


def upkeep(parser: ArgumentParser) -> None:
    """Whether anything is changed."""
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and change nothing"
    )
