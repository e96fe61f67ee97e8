"""A page of HTML in one file: it runs no script and fetches nothing."""

import html

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


TABLES_STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem }
table { border-collapse: collapse; margin: 1.5rem 0 }
caption { font-weight: 600; text-align: left; padding-bottom: .4rem }
th, td { border-bottom: 1px solid #8888; padding: .3rem .8rem; text-align: left }
"""
"""The CSS of a page of tables."""


def html_page(title: str, style: str, body: str) -> str:
    """The page.

    Args:
        title: plain text.
        style: CSS.
        body: HTML, whose texts are escaped.
    """
    return _PAGE.format(title=html.escape(title), style=style, body=body)
