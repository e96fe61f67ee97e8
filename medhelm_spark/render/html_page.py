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


def html_page(title: str, style: str, body: str) -> str:
    """The page.

    Args:
        title: plain text.
        style: CSS.
        body: HTML, whose texts are escaped.
    """
    return _PAGE.format(title=html.escape(title), style=style, body=body)
