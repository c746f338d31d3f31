"""The documents of the contract's tables, and how their results are read.

Source: contracts/gjson.md 3.2; D and V are those of gjson's manual.
"""

from __future__ import annotations

import json
from typing import Any

from chalicelib.scheduler.gjson import Result, get

# Stands for a path that leads to nothing.
NOTHING = object()

D = b"""{
  "name": {"first": "Tom", "last": "Anderson"},
  "age": 37,
  "children": ["Sara", "Alex", "Jack"],
  "fav.movie": "Deer Hunter",
  "friends": [
    {"first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"]},
    {"first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"]},
    {"first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"]}
  ]
}"""
Q = b"""{
  "result": {"remaining": 7},
  "data": {
    "items": [
      {"id": 1, "depth": 3, "ok": true},
      {"id": 2, "depth": 0, "ok": false},
      {"id": 3, "depth": 12, "ok": true}
    ],
    "empty": []
  },
  "queue": [{"depth": 4}, {"depth": 0}],
  "total_left": 9,
  "a*b": 5, "a|b": 6, "a#b": 8, "@type": 3, "!bang": 4, "1": 11
}"""
W = b"""{
  "m": [
    {"s": "abc", "t": null, "n": -1.5, "o": {"p": 2}, "k.l": 4},
    {"s": "abd", "t": 1, "n": 2.5, "o": {"p": 9}, "k.l": 5},
    {"s": "b", "n": 100, "o": {}}
  ],
  "g": [[1], [1, 2], []],
  "d": {"e": {"f": [10, 20, 30]}},
  "ids": ["10", "9"],
  "mix": [1, "1", true, null, [1], {"a": 1}]
}"""
V = b"""{
  "vals": [
    {"a": 1, "b": "data"}, {"a": 2, "b": true}, {"a": 3, "b": false}, {"a": 4, "b": "0"},
    {"a": 5, "b": 0}, {"a": 6, "b": "1"}, {"a": 7, "b": 1}, {"a": 8, "b": "true"},
    {"a": 9, "b": "false"}, {"a": 10, "b": null}, {"a": 11}
  ]
}"""
LINES = b"""{"name": "Gilbert", "age": 61}
{"name": "Alexa", "age": 34}
{"name": "May", "age": 57}
{"name": "Deloise", "age": 44}
"""
FRIENDS: list[Any] = json.loads(D)["friends"]


def value(found: Result) -> Any:
    """Return what a well-formed result stands for, NOTHING if absent."""
    return json.loads(found.raw) if found.exists else NOTHING


def value_of(text: bytes, path: str) -> Any:
    return value(get(text, path))
