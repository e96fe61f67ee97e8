"""Run entries for both sides: what MedHELM's files lack, and paths of another machine made ours."""

import re
from pathlib import Path

MORE = (
    "head_qa:language=es,category=medicine",
    "medcalc_bench:version=v1.0",
    "sct_bench",
    "sct_bench:reason=true",
    "sct_bench:reason=True,few_shot=true",
    "mmlu:subject=anatomy",
    "mmlu:method=multiple_choice_joint,subject=clinical_knowledge",
    "mmlu:subject=virology,method=multiple_choice_joint_chain_of_thought",
    "mmlu_pro",
    "mmlu_pro:subject=health,use_chain_of_thought=true",
    "mmlu_pro:use_few_shot=True,use_chain_of_thought=false,subject=health",
    "healthqa_br",
    "medxpert_qa_text",
    "health_bench",
    "health_bench_professional",
    "synt_family_disclosure:data_path=/data/family.csv",
    "synt_right_of_access:data_path=/data/access.csv",
    "synt_written_consent:data_path=/data/consent.csv",
    "aci_bench:jury_config_path=/data/judges.yaml",
    "medalign:data_path=/data/medalign,jury_config_path=/data/judges.yaml,max_length=100000",
    "pubmed_qa:num_train_trials=3,max_train_instances=2,eval_split=test",
    "pubmed_qa:stop=hash,instructions=none,prompt=qa,newline=br,num_outputs=1",
    "medec:num_output_tokens=64,max_eval_instances=10,num_trials=2",
)
"""Scenarios and arguments that none of MedHELM's files has."""

JUDGES = """
judges:
  - name: first
    model: openai/gpt-4o-2024-05-13
    model_deployment: stanfordhealthcare/gpt-4o-2024-05-13
  - name: second
    model: deepseek-ai/deepseek-r1
    model_deployment: stanfordhealthcare/deepseek-r1
"""
MODEL = "model=openai/gpt-4o-2024-05-13,model_deployment=stanfordhealthcare/gpt-4o-2024-05-13"
PATH = re.compile(r"(data_path|jury_config_path)=(/[^,\"]+)")


def with_local_paths(text: str, folder: Path) -> str:
    """The text with its paths below the folder, where empty files and folders replace the data."""
    for _, path in PATH.findall(text):
        local_path = folder / path.strip("/")
        is_file = local_path.suffix in (".csv", ".json", ".feather", ".yaml")
        (local_path.parent if is_file else local_path).mkdir(parents=True, exist_ok=True)
        if is_file and not local_path.exists():
            local_path.write_text(JUDGES if "judges" in path else "")
    return PATH.sub(rf"\1={folder}\2", text)
