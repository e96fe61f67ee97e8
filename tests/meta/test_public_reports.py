"""The kinds of public bug reports of other tools that were tried here, and the tests of each.

Each kind was a failure once: a silent wrong number, a paid answer that was lost, a run that could
never end, data refused without need. A test that is renamed is renamed here too.
"""

import re

import pytest

from tests.meta.tree import ROOT

KINDS = {
    "a dash of Unicode turns an answer into its opposite": (
        "unit/adaptation/test_typography.py::test_a_word_with_any_hyphen_is_one_word",
        "unit/adaptation/test_typography.py::test_a_joined_word_is_no_yes_and_no_no",
    ),
    "thinking in marks that are not known": (
        "unit/domain/test_thinking.py::test_thinking_is_kept_apart",
    ),
    "a side field of another type, half a character": (
        "unit/engines/test_wire.py::test_counts_that_are_no_whole_number_are_absent",
        "unit/engines/test_wire.py::test_half_a_character_is_replaced",
        "unit/engines/test_wire.py::test_any_value_in_any_field_of_a_reply_is_an_answer_or_a_failure_that_a_table_holds",
    ),
    "a choice that failed inside HTTP 200": (
        "unit/engines/test_wire.py::test_a_choice_that_the_server_failed_at_is_no_answer",
    ),
    "log-probabilities that are null or not finite": (
        "unit/engines/test_wire.py::test_an_answer_counts_without_log_probabilities_that_are_no_numbers",
        "unit/stages/test_run_level.py::test_a_value_that_is_no_finite_number_is_absent",
    ),
    "one fatal status for one text, a quota that ends in mid-run": (
        "spark/test_paid_answers.py::test_a_firewall_that_blocks_one_text_costs_this_one_alone",
        "spark/test_paid_answers.py::test_a_quota_that_ends_in_mid_run_keeps_what_was_answered",
    ),
    "a workbook that states a wrong size": (
        "unit/scenarios/test_files_of_others.py::test_the_size_that_a_sheet_states_is_not_believed",
    ),
    "a workbook's escapes and error cells": (
        "unit/scenarios/test_files_of_others.py::test_escapes_are_what_they_stand_for_and_errors_are_absent",
    ),
    "an unused column that cannot be converted": (
        "unit/scenarios/test_files_of_others.py::test_a_column_that_nobody_asked_for_ends_nothing",
        "unit/scenarios/test_files_of_others.py::test_a_needed_column_that_cannot_be_read_is_named",
    ),
    "absent and binary values of answers": (
        "unit/user_data/test_read_responses.py::test_an_absent_value_is_no_word",
        "unit/user_data/test_read_responses.py::test_bytes_and_truths_are_the_text_that_data_would_have",
    ),
    "booleans in every form of file": (
        "unit/scenarios/test_files_of_others.py::test_a_value_makes_the_same_benchmark_from_every_file",
    ),
    "columns without a name, empty rows": (
        "unit/scenarios/test_files_of_others.py::test_columns_without_a_name_and_rows_without_a_cell",
        "unit/user_data/test_read_responses.py::test_nameless_columns_blank_rows_and_semicolons_of_answers",
    ),
    "a column whose name has a comma": (
        "unit/user_data/test_read_responses.py::test_a_column_whose_name_has_a_comma_stands_in_quotes",
    ),
    "ROUGE of other scripts than Latin": (
        "unit/metrics/test_rouge.py::test_by_hand",
        "unit/metrics/test_rouge.py::test_two_texts_that_share_a_number_alone_are_not_the_same",
    ),
    "labels in scripts with combining marks": (
        "unit/adaptation/test_typography.py::test_labels_of_any_script_are_read_in_a_sentence",
    ),
    "the minus sign": (
        "unit/adaptation/test_typography.py::test_a_minus_before_a_number_is_one",
        "unit/metrics/test_medcalc.py::test_both_rules",
        "unit/metrics/test_json_extraction.py::test_values",
    ),
    "how an answer ended, in others' words": (
        "unit/engines/test_wire.py::test_how_an_answer_ended_is_read_in_the_words_of_several_servers",
        "unit/engines/test_wire.py::test_a_reply_that_was_billed_and_has_no_choices_is_not_asked_again",
    ),
    "content in parts of another type": (
        "unit/engines/test_wire.py::test_parts_of_content_are_read_in_all_forms",
        "unit/engines/test_wire.py::test_content_without_text_is_never_an_empty_answer",
    ),
    "too long, in others' words": (
        "unit/engines/test_retry.py::test_a_prompt_too_long_is_told_from_other_refusals",
    ),
    "a parameter that the model does not take": (
        "unit/engines/test_kinds_of_reply.py",
        "unit/stages/test_outage.py::test_a_deployment_that_takes_no_request_says_what_to_check",
    ),
    "columns that are called as ours": (
        "unit/user_data/test_init.py::test_columns_that_are_called_as_ours_keep_their_meaning",
    ),
    "the digits of a number in JSON": (
        "unit/adaptation/test_extraction.py::test_a_json_field",
        "unit/scenarios/test_files_of_others.py::test_a_value_makes_the_same_benchmark_from_every_file",
    ),
    "Spark's folders, .ndjson, documents of JSON, separators": (
        "unit/user_data/test_init.py::test_a_folder_that_spark_wrote_is_one_table",
        "unit/scenarios/test_files_of_others.py::test_records_of_a_document_are_found",
        "unit/scenarios/test_files_of_others.py::test_what_an_export_is_shows",
    ),
    "bytes before a reply, events that nobody asked for": (
        "unit/engines/test_wire.py::test_a_mark_of_the_byte_order_is_no_part_of_a_reply",
        "unit/engines/test_wire.py::test_events_that_nobody_asked_for_are_one_reply",
    ),
    "one failed line of a batch file": (
        "unit/user_data/test_read_responses.py::test_a_failed_line_of_a_batch_file_is_refused_until_it_is_left_out",
    ),
    "whole numbers of a floating type, as ids and as labels": (
        "unit/user_data/test_read_responses.py::test_an_id_is_its_text_and_a_whole_number_of_a_floating_type_has_no_point",
        "unit/user_data/test_init.py::test_whole_labels_lose_the_point_that_only_their_type_gave_them",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_tests(kind: str) -> None:
    for name in KINDS[kind]:
        path, _, function = name.partition("::")
        text = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert not function or re.search(rf"^def {function}\(", text, re.MULTILINE), name
