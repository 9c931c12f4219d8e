"""What `**kwargs` passes, where the dict is spelled out."""

from __future__ import annotations

import libcst as cst
import pytest

from tests.probed import probed
from torchlint.analysis.loading.keyword_dicts import spelled_out


def keys(code: str) -> dict[str, list[str]] | None:
    """What the call inside `probe` gets by `**`, as text."""
    module, call = probed(code)
    assert isinstance(call, cst.Call)
    found = spelled_out(call, module)
    if found is None:
        return None
    return {name: [module.source(each) for each in nodes] for name, nodes in found.items()}


SPELLED = {
    "no dict": ("probe(f(a=1))", {}),
    "a display": ("probe(f(**{'a': 1}))", {"a": ["1"]}),
    "a call of dict": ("probe(f(**dict(a=1, b=x)))", {"a": ["1"], "b": ["x"]}),
    "a dict of a dict": ("d = {'a': 1}\nprobe(f(**dict(d, b=2)))", {"a": ["1"], "b": ["2"]}),
    "a name": ("d = {'a': 1}\nprobe(f(**d))", {"a": ["1"]}),
    "a name in another": (
        "d = {'a': 1}\ne = {**d, 'b': 2}\nprobe(f(**e))",
        {"a": ["1"], "b": ["2"]},
    ),
    "an update": ("d = {}\nd.update({'a': 1})\nprobe(f(**d))", {"a": ["1"]}),
    "an update by keywords": ("d = {}\nd.update(a=1)\nprobe(f(**d))", {"a": ["1"]}),
    "an item": ("d = {}\nd['a'] = 1\nprobe(f(**d))", {"a": ["1"]}),
    "either of two": ("probe(f(**({'a': 1} if c else {'a': 2})))", {"a": ["1", "2"]}),
    "two dicts": ("d = {'a': 1}\nprobe(f(**d, **{'b': 2}))", {"a": ["1"], "b": ["2"]}),
    "a dict that is only read": ("d = {'a': 1}\nd.get('a')\nd['a']\nprobe(f(**d))", {"a": ["1"]}),
    "a dict that another call gets": ("d = {'a': 1}\ng(**d)\nprobe(f(**d))", {"a": ["1"]}),
}


@pytest.mark.parametrize(("code", "expected"), SPELLED.values(), ids=SPELLED)
def test_every_value_that_may_be_passed_is_found(code: str, expected: dict[str, list[str]]) -> None:
    assert keys(code) == expected


UNKNOWN = {
    "a parameter": "def g(**kw):\n  probe(f(**kw))",
    "an attribute": "probe(f(**self.options))",
    "what a function returns": "d = options()\nprobe(f(**d))",
    "a name that nothing binds": "probe(f(**options))",
    "one of several": "d, e = options()\nprobe(f(**d))",
    "a computed key": "probe(f(**{name: 1}))",
    "a computed key of an item": "d = {}\nd[name] = 1\nprobe(f(**d))",
    "an update by something unknown": "d = {}\nd.update(other)\nprobe(f(**d))",
    "a union": "d = {}\nd |= other\nprobe(f(**d))",
    "another method": "d = {}\nd.setdefault('a', 1)\nprobe(f(**d))",
    "a dict that somebody else gets": "d = {}\nfill(d)\nprobe(f(**d))",
    "a dict of the module that another function fills": (
        "d = {}\ndef g():\n  d.update(other)\ndef h():\n  probe(f(**d))"
    ),
    "a dict that is kept": "d = {}\nkept = [d]\nprobe(f(**d))",
    "either of two, one unknown": "probe(f(**({'a': 1} if c else other)))",
    "a dict of itself": "d = {**d}\nprobe(f(**d))",
}


@pytest.mark.parametrize("code", UNKNOWN.values(), ids=UNKNOWN)
def test_a_dict_that_others_may_fill_is_unknown(code: str) -> None:
    assert keys(code) is None
