"""The completion scripts, of which bash runs its own."""

import shlex
import shutil
import subprocess

import pytest

from medhelm_spark.cli.completion import SHELLS
from medhelm_spark.cli.parser import COMMANDS, PROG, build_parser, parse


def script_for(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as done:
        parse(["--print-completion", shell])
    assert done.value.code == 0
    return capsys.readouterr().out


def completed(script: str, line: str) -> set[str]:
    """What bash offers at the end of a line."""
    words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
    command = (
        f"{script}\nCOMP_WORDS=({' '.join(map(shlex.quote, words))})\nCOMP_CWORD={len(words) - 1}\n"
        f"function_of=$(complete -p {PROG}); function_of=${{function_of##*-F }}\n"
        f'${{function_of%% *}}\nprintf "%s\\n" "${{COMPREPLY[@]}}"\n'
    )
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "--norc", "-u", "-c", command], check=True, capture_output=True, text=True
    )
    assert not done.stderr
    return set(done.stdout.split())


def test_bash_completes_commands_options_actions_and_values(capsys) -> None:
    script = script_for("bash", capsys)
    assert completed(script, f"{PROG} leaderb") == {"leaderboard"}
    assert completed(script, f"{PROG} ") >= set(COMMANDS)
    assert completed(script, f"{PROG} answers --not") == {"--noted"}
    assert completed(script, f"{PROG} release wat") == {"watch"}
    assert completed(script, f"{PROG} leaderboard --format m") == {"md"}
    assert completed(script, f"{PROG} no-such-comm") == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_every_command_with_its_options(shell: str, capsys) -> None:
    assert shell in SHELLS
    script = script_for(shell, capsys)
    assert [name for name in COMMANDS if name not in script] == []
    assert "noted" in script


def test_the_first_page_lists_commands_once(capsys) -> None:
    assert build_parser().format_help().count("  leaderboard ") == 1
    with pytest.raises(SystemExit):
        parse(["--print-completion", "tcsh"])
    assert "invalid choice: 'tcsh' (choose from" in capsys.readouterr().err
