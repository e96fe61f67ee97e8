"""What the fields of a dataclass mean: the lines under them, for pages that list fields."""

import ast
import inspect
import textwrap
from itertools import pairwise


def field_docs(kind: type) -> dict[str, str]:
    """The line under each field that has one, of a dataclass and those that it extends."""
    docs: dict[str, str] = {}
    for each in kind.__mro__[:-1]:
        (class_,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        body = class_.body if isinstance(class_, ast.ClassDef) else []
        for field, below in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                docs[ast.unparse(field.target)] = " ".join(ast.literal_eval(below.value).split())
    return docs
