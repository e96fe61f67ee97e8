"""The listener that records attacks receives what is sent to it."""

import urllib.request

from tests.attacks import OUTSIDE, Listener


def test_the_listener_keeps_what_it_is_sent(outside: Listener) -> None:
    assert OUTSIDE in outside.url
    request = urllib.request.Request(f"{outside.url}/v1/x", data=b"a note", method="POST")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    assert opener.open(request).status == 200
    assert outside.saw("a note")
    assert not outside.saw("another")
