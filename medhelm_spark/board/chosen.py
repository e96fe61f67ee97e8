"""The option that an answer names: a letter alone says little to a reader without the prompt."""

from medhelm_spark.board.instances import InstanceDetail
from medhelm_spark.domain.run import RunSpec


def chosen_option(spec: RunSpec, detail: InstanceDetail) -> str | None:
    """The text of the option that the run reads in an answer, as the prompt shows it.

    None where the prompt shows no options, or no one of them was read.
    """
    if detail.instance is None or detail.result is None:
        return None
    # Not at the top: it takes a quarter of a second to import, and boards read no answer.
    from medhelm_spark.stages.states import read_answers

    instance = detail.instance
    read = read_answers(detail.result.completions, spec, instance.references, instance.input)
    if not read.completions:
        return None
    return read.output_mapping.get(read.completions[0].text.strip())
