"""The corners of gjson paths: raw results, each measured with gjson 1.18.0 in Go."""

from __future__ import annotations

import pytest

from chalicelib.scheduler.gjson import get

Case = tuple[bytes, str, bytes | None]

# The modifiers, with values they are not made for.
MODIFIERS: list[Case] = [
    (b"[1,2]", "@keys", b"[null,null]"),
    (b"5", "@keys", b"[null]"),
    (b'"a"', "@values", b'["a"]'),
    (b'{"a":1}', "nope|@keys", b"[]"),
    (b'{"a":1}', "nope|@values", b"[]"),
    (b'{"a":1,"b":2}', "@reverse", b'{"b":2,"a":1}'),
    (b'"a"', "@reverse", b'"a"'),
    (b'{"a":1}', "@flatten", b'{"a":1}'),
    (b"[1,[],[[]],[2]]", "@flatten", b"[1,[],2]"),
    (b"[1,[],[[]],[2]]", '@flatten:{"deep":true}', b"[1,2]"),
    (b"[1,[[2]]]", '@flatten:{"deep":"true"}', b"[1,2]"),
    (b"[1,[[2]]]", '@flatten:{"deep":1}', b"[1,2]"),
    (b"[1,[[2]]]", '@flatten:{"deep":"1"}', b"[1,2]"),
    (b"[1,[[2]]]", '@flatten:{"deep":"f"}', b"[1,[2]]"),
    (b"[1,[[2]]]", '@flatten:{"deep":"no"}', b"[1,[2]]"),
    (b"[1,[[2]]]", "@flatten:deep", b"[1,[2]]"),
    (b'[{"a":1},{"a":2,"b":3},4]', "@join", b'{"a":2,"b":3}'),
    (b'[{"a":1},{"a":2,"b":3}]', '@join:{"preserve":true}', b'{"a":1,"a":2,"b":3}'),
    (b'[{},{"a":1}]', '@join:{"preserve":true}|a', b"1"),
    (b'{"a":1}', "@join", b'{"a":1}'),
    (b"[1]", "@group", None),
    (b'{"a":[1,2,3],"b":[4],"c":5}', "@group", b'[{"a":1,"b":4},{"a":2},{"a":3}]'),
    (b'{"a":[1,}', "@valid", None),
    (b'{"a":[1]}x', "@valid", None),
    (b'{"a":1}', "a.@valid", b"1"),
    (b'{"a":"{bad"}', "a.@fromstr", b"{bad"),
    (b'{"a":"{bad"}', "a.@fromstr.x", None),
    (b'{"a":"[1,2]"}', "a.@fromstr.1", b"2"),
    (b'{"a":5.50}', "a.@fromstr", b"5.5"),
    (b"{a:1}", "@fromstr", None),
    (b'{"a":{"b":1},"b":[{"b":2}]}', "@dig:b", b'[[{"b":2}],1,2]'),
    (b'{"a":{"b":1},"b":[{"b":2}]}', "@dig", b"[]"),
    (b"5", "@dig:@this", b"[5]"),
    (b'{"a" : [ 1 , "x y" ] }', "@ugly", b'{"a":[1,"x y"]}'),
    (b'{"b":1,"a":{"d":1,"c":2}}', '@pretty:{"sortKeys":true}|@ugly', b'{"a":{"c":2,"d":1},"b":1}'),
    (b'{"b":1,"a":{"d":1,"c":2}}', "@pretty|@ugly", b'{"b":1,"a":{"d":1,"c":2}}'),
    (b'{"a":"<b>&\xe2\x80\xa8"}', "a.@tostr", b'"\\"\\u003cb\\u003e\\u0026\\u2028\\""'),
    (b'{"a":1}', "@this", b'{"a":1}'),
    (b"  5 ", "@this", b"5"),
    (b"true", "@this", b"true"),
    (b"nan", "@this", b"nan"),
    (b"x", "@this", None),
]
# Queries: booleans, patterns, operators that are none, equal keys.
QUERIES: list[Case] = [
    (b'[true,false,"a"]', "#(==TRUE)#", b"[]"),
    (b"[true,false]", "#(!=true)#", b"[false]"),
    (b"[true,false]", "#(>=x)#", b"[true]"),
    (b"[true,false]", "#(<true)#", b"[false]"),
    (b"[true,false]", "#(<=x)#", b"[false]"),
    (b"[true,false]", '#(%"t*")#', b"[]"),
    (b'["a","b"]', "#(==~nope)#", b"[]"),
    (b'[{"a":1}]', "#(a!)#", b"[]"),
    (b'[{"a":1}]', "#(a!1)#", b'[{"a":1}]'),
    (b'["a\\"b"]', '#(=="a\\"b")', b'"a\\"b"'),
    (b'{"a":[{"b":[1,2]},{"b":[3]}]}', "a.#.b.#(>1)#|0", b"[2]"),
    (b'{"a":[1],"a":[2,3]}', "a.#(>1)#", b"[]"),
    (b'{"a":[1],"a":[2,3]}', "a.#(>1)", b"2"),
]
# Multipaths: names, quotes, pipes behind them.
MULTIPATHS: list[Case] = [
    (b'{"a":1,"b":{"a":2}}', '{"x":a,b.a,"y z":b}', b'{"x":1,"a":2,"y z":{"a":2}}'),
    (b'{"a":1}', "{a|@this}", b'{"@this":1}'),
    (b'{"a":{"b":[1]}}', "{a.b.#,a\\.b}", b'{"_":1}'),
    (b'{"a":1}', "[a]b", None),
    (b'{"a":[{"b":1},{"b":2}]}', 'a.#.{"n":b}|0', b"[]"),
    (b'{"a":[{"b":1},{"b":2}]}', "a.#.{n:b}|0.n", b"1"),
]
# Texts that are cut off, or have commas too many or too few.
TEXTS: list[Case] = [
    (b'{"a":[{"b":[1,2]},{"b":[3]}]}', "a.#.b.#|0", b"[]"),
    (b"[]", "#", b"0"),
    (b"[]", "0", None),
    (b"[1", "#", b"1"),
    (b'["a', "#", None),
    (b'[{"a":"x', "#", None),
    (b'{"a":[1],"a":{"b":2}}', "a.b", b"2"),
    (b'{"a":tru', "a", b"tru"),
    (b'{"a":t}', "a", b"t"),
    (b'{"a":', "a", None),
    (b'{"a"', "a", None),
    (b'{"a', "a", None),
    (b'{"a":"b', "a", None),
    (b"[1,2,]", "#", b"2"),
    (b"[,1]", "#", b"1"),
    (b"[1 2]", "#", b"2"),
]


@pytest.mark.parametrize(("text", "path", "raw"), [*MODIFIERS, *QUERIES, *MULTIPATHS, *TEXTS])
def test_a_corner_is_as_gjson_has_it(text: bytes, path: str, raw: bytes | None) -> None:
    found = get(text, path)

    assert raw == (found.raw if found.exists else None)


@pytest.mark.parametrize(
    ("token", "number"),
    [
        ("1_000", 1000),
        ("1__0", 0),
        ("0x1p4", 16),
        ("-0x_1p-1", -0.5),
        ("5.", 5),
        (".5", 5),
        ("-.5", -0.5),
    ],
)
def test_a_number_is_written_as_in_go(token: str, number: float) -> None:
    assert number == get(f'{{"a":{token}}}'.encode(), "a").number
