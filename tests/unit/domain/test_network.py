"""Addresses and ranges: what counts as the same, and what a narrower list keeps."""

import pytest

from medhelm_spark.domain.network import (
    LOOPBACK,
    NOWHERE,
    OUTSIDE,
    Network,
    Reach,
    address_of,
    narrowed,
    why_not,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("127.2", "None"),
        ("2130706434", "None"),
        ("localhost", "None"),
        ("", "None"),
    ],
)
def test_only_a_spelled_out_address_is_one(text: str, expected: str) -> None:
    assert str(address_of(text)) == expected


def test_nowhere_is_no_peer_at_all() -> None:
    for peer in ("127.0.0.1", "::1", "10.0.0.1"):
        assert why_not(NOWHERE, peer, own=peer, is_encrypted=True) == OUTSIDE


def test_the_own_machine_is_known_by_both_ends() -> None:
    reach = Reach(own_machine=True)
    assert why_not(reach, "10.0.0.1", own="10.0.0.1", is_encrypted=False) == ""
    assert why_not(reach, "10.0.0.1", own="10.0.0.2", is_encrypted=True) == OUTSIDE
    assert why_not(reach, "10.0.0.1", is_encrypted=True) == OUTSIDE


@pytest.mark.attack("policy", "networks of an advisory policy that are wider than those above it")
def test_a_list_can_be_narrowed_and_not_widened() -> None:
    above = (*LOOPBACK, Network(cidr="10.0.0.0/8"))
    requested = [
        Network(cidr="127.0.0.1/32"),
        Network(cidr="10.1.0.0/16", plain_http=True),
        Network(cidr="0.0.0.0/0"),
        Network(cidr="::/0"),
    ]
    assert narrowed(requested, above) == (
        Network(cidr="127.0.0.1/32"),
        Network(cidr="10.1.0.0/16", plain_http=False),
    )
