"""Core's frozen dataclasses as JSON values and back, strictly: what does not match its declared type is an error, never a guess.

Only data passes: no class is looked up by a name that the input gives, except among those that the declared type allows.
"""

from __future__ import annotations

import json
import math
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

Json = Any
_TAG = "is"
_SCALARS = (bool, int, str, type(None))


class CodecError(ValueError):
    """The value does not have the declared type; the message names the place."""


def encode(value: object) -> Json:
    """``value``, an instance of a dataclass, as what ``json.dumps`` takes. Fields that hold their default are left out."""
    return _encode(value, type(value), type(value).__name__)


def decode(kind: type[T], data: Json) -> T:
    """The instance of ``kind`` that ``encode`` made ``data`` of. Raises CodecError."""
    try:
        return cast(T, _decode(data, kind, kind.__name__))
    except RecursionError:
        raise CodecError(f"{kind.__name__}: nested too deeply") from None


def dumps(value: object) -> bytes:
    """``encode``'s answer as JSON text; the same value gives the same bytes."""
    return json.dumps(encode(value), separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def loads(kind: type[T], text: bytes) -> T:
    """The instance of ``kind`` that ``dumps`` wrote. Raises CodecError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise CodecError(f"{kind.__name__}: not JSON") from None
    return decode(kind, data)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _fields(kind: type) -> tuple[Field[Any], ...]:
    return fields(kind)


def _members(kind: Any) -> tuple[Any, ...] | None:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else None


def _records(members: tuple[Any, ...]) -> dict[str, type]:
    return {member.__name__: member for member in members if is_dataclass(member) and isinstance(member, type)}


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def _encode(value: Any, kind: Any, at: str) -> Json:
    members = _members(kind)
    if members is not None:
        records = _records(members)
        name = type(value).__name__
        if records.get(name) is not type(value):
            if type(value) not in members:
                raise CodecError(f"{at}: a {name} is not one of {kind}")
            return _encode(value, type(value), at)
        body = _encode(value, type(value), at)
        return {_TAG: name, **body} if len(records) > 1 else body
    if is_dataclass(kind):
        if type(value) is not kind:
            raise CodecError(f"{at}: not a {kind}")
        hints = _hints(cast(type, kind))
        written = {}
        for field in _fields(cast(type, kind)):
            inner = getattr(value, field.name)
            default = _default(field)
            if type(inner) is not type(default) or inner != default:
                written[field.name] = _encode(inner, hints[field.name], f"{at}.{field.name}")
        return written
    if get_origin(kind) is tuple:
        if type(value) is not tuple:
            raise CodecError(f"{at}: not a tuple")
        kinds = _item_kinds(kind, len(value), at)
        return [_encode(item, inner, f"{at}[{i}]") for i, (item, inner) in enumerate(zip(value, kinds, strict=True))]
    return _encode_scalar(value, kind, at)


def _encode_scalar(value: Any, kind: Any, at: str) -> Json:
    if isinstance(kind, type) and issubclass(kind, Enum) and isinstance(value, kind):
        return value.value
    if kind is float and type(value) in (float, int):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if kind in _SCALARS and type(value) is kind:
        return value
    raise CodecError(f"{at}: {value!r} is not a {kind}")


def _item_kinds(kind: Any, length: int, at: str) -> tuple[Any, ...]:
    kinds = get_args(kind)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return (kinds[0],) * length
    if len(kinds) != length:
        raise CodecError(f"{at}: {length} items where {len(kinds)} belong")
    return kinds


def _decode(data: Json, kind: Any, at: str) -> Any:
    members = _members(kind)
    if members is not None:
        return _decode_union(data, members, at)
    if is_dataclass(kind):
        return _decode_record(data, cast(type, kind), at)
    if get_origin(kind) is tuple:
        if type(data) is not list:
            raise CodecError(f"{at}: not a list")
        kinds = _item_kinds(kind, len(data), at)
        return tuple(_decode(item, inner, f"{at}[{i}]") for i, (item, inner) in enumerate(zip(data, kinds, strict=True)))
    return _decode_scalar(data, kind, at)


def _decode_union(data: Json, members: tuple[Any, ...], at: str) -> Any:
    records = _records(members)
    if type(data) is dict and records:
        if len(records) == 1:
            return _decode(data, next(iter(records.values())), at)
        name = data.get(_TAG)
        if type(name) is not str or name not in records:
            raise CodecError(f"{at}: no kind named {name!r} belongs here")
        return _decode({key: value for key, value in data.items() if key != _TAG}, records[name], at)
    for member in members:
        if member in records.values():
            continue
        try:
            return _decode(data, member, at)
        except CodecError:
            continue
    raise CodecError(f"{at}: {type(data).__name__} does not belong here")


def _decode_record(data: Json, kind: type, at: str) -> Any:
    if type(data) is not dict:
        raise CodecError(f"{at}: not an object")
    hints = _hints(kind)
    values = {}
    for field in _fields(kind):
        if field.name in data:
            values[field.name] = _decode(data[field.name], hints[field.name], f"{at}.{field.name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise CodecError(f"{at}: {field.name} is missing")
    unknown = data.keys() - values.keys()
    if unknown:
        raise CodecError(f"{at}: unknown {', '.join(sorted(map(str, unknown)))}")
    try:
        return kind(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise CodecError(f"{at}: {error}") from None


def _decode_scalar(data: Json, kind: Any, at: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            raise CodecError(f"{at}: {data!r} is not a {kind.__name__}") from None
    if kind is float and type(data) in (float, int):
        return float(data)
    if kind is float and data in ("inf", "-inf", "nan"):
        return float(data)
    if kind in _SCALARS and type(data) is kind:
        return data
    raise CodecError(f"{at}: {data!r} is not a {getattr(kind, '__name__', kind)}")
