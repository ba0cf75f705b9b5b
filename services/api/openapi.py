"""The OpenAPI 3.1 document, made from the routes themselves and the types that they read and answer with.

The framework's own is not used: it describes its own shape of errors, and tagged unions without their discriminator.
Every problem code is a schema of its own, so that an answer is described exactly.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.params import ParameterKwarg
from litestar.routes import HTTPRoute

from services.api.answers import RECORDED
from services.api.auth import RULE
from services.api.forms import IDEMPOTENCY_KEY, CardText
from services.api.operation import EVENT_STREAM, JSON, OPERATION, Operation, problem_codes
from services.api.problems import MEDIA_TYPE, PROBLEMS, REFUSALS, Problem, RefusalProblem
from services.api.roles import ANYONE

TEMPLATE = "#/components/schemas/{name}"
Schema = dict[str, Any]

HEADER_PARAMETERS: dict[str, tuple[bool, str, Schema]] = {
    "Idempotency-Key": (
        True,
        "new for each act; the same key with the same content is done once and answered alike",
        {"type": "string", "pattern": IDEMPOTENCY_KEY, "examples": ["0b7d1f6e-seat"]},
    ),
    "Last-Event-ID": (False, "the number of the last event that the client has", {"type": "integer", "minimum": 0}),
}
ANSWER_HEADERS: dict[str, Schema] = {
    "Server-Time": {
        "description": "the time of the service, RFC 3339 UTC with milliseconds",
        "schema": {"type": "string"},
    },
}
PROBLEM_HEADERS: dict[int, dict[str, Schema]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    405: {"Allow": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"description": "seconds", "schema": {"type": "string"}}},
    503: {"Retry-After": {"description": "seconds", "schema": {"type": "string"}}},
}


class Route(msgspec.Struct, frozen=True):
    """One method of one path."""

    method: str
    path: str
    handler: HTTPRouteHandler
    operation: Operation


def routes(app: Litestar) -> Iterator[Route]:
    """All routes but the framework's own answers to OPTIONS. A route that says nothing of itself is a mistake."""
    for route in app.routes:
        assert isinstance(route, HTTPRoute), f"{route.path} is not described"
        for method, (handler, _) in route.route_handler_map.items():
            if method == "OPTIONS":
                continue
            if not handler.resolve_include_in_schema():
                assert RULE in handler.opt, f"{method} {route.path} has no rule"
                continue
            assert OPERATION in handler.opt, f"{method} {route.path} has no operation, and so no rule"
            yield Route(method, route.path_format, handler, handler.opt[OPERATION])


def document(app: Litestar) -> Schema:
    """The whole document."""
    types = _Types()
    paths: dict[str, Schema] = {}
    for route in sorted(routes(app), key=lambda r: (r.path, r.method)):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, types)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Khrap",
            "version": "1",
            "description": "Tables of the card games khrap, frap and khrap5: play, live views, accounts, hands.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": types.components(),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "session": {"type": "apiKey", "in": "cookie", "name": "khrap_session"},
            },
        },
    }


class _Types:
    """Collects types, so that msgspec describes them all at once; a schema is filled in when `components` is called."""

    def __init__(self) -> None:
        self._wanted: list[tuple[Any, Schema]] = []
        self._codes: set[str] = set()

    def schema(self, wanted: Any) -> Schema:
        """The schema of a type."""
        placed: Schema = {}
        self._wanted.append((wanted, placed))
        return placed

    def problem(self, code: str) -> Schema:
        """A reference to the schema of a problem."""
        self._codes.add(code)
        return {"$ref": TEMPLATE.format(name=problem_name(code))}

    def components(self) -> dict[str, Schema]:
        """All named schemas."""
        union: Schema = {}
        recorded: Any = typing.Union[RECORDED]  # noqa: UP007  # of a tuple
        wanted = [*self._wanted, (Problem, {}), (RefusalProblem, {}), (recorded, union)]
        schemas, components = msgspec.json.schema_components([w for w, _ in wanted], ref_template=TEMPLATE)
        for (_, placed), schema in zip(wanted, schemas, strict=True):
            placed.update(schema)
        components["RecordedEvent"] = union | {"description": "An event as recorded, as the caller may see it."}
        for name, schema in _actions(components).items():
            components[name] = schema
        for code in sorted(self._codes):
            components[problem_name(code)] = _problem(code)
        for holder in ("Answer", "Opened"):
            if holder in components:
                components[holder]["properties"]["events"]["items"] = {"$ref": TEMPLATE.format(name="RecordedEvent")}
        if "ReplayStep" in components:
            components["ReplayStep"]["properties"]["event"] = {"$ref": TEMPLATE.format(name="RecordedEvent")}
        _plain_patterns([components, *(placed for _, placed in wanted)])
        return components


def problem_name(code: str) -> str:
    """The name of a problem's schema."""
    return "".join(word.capitalize() for word in code.split("_")) + "Problem"


def _problem(code: str) -> Schema:
    kind = PROBLEMS[code]
    base = "RefusalProblem" if code in REFUSALS else "Problem"
    fixed = {"type": f"/problems/{code}", "title": kind.title, "status": kind.status, "code": code}
    return {
        "description": kind.title,
        "allOf": [
            {"$ref": TEMPLATE.format(name=base)},
            {"type": "object", "properties": {name: {"const": value} for name, value in fixed.items()}},
        ],
    }


def _actions(components: dict[str, Schema]) -> dict[str, Schema]:
    """H2: the action body as what it is: a word, a word with cards, or a card played. One struct reads all three."""
    if "ActionBody" not in components:
        return {}
    whole = components["ActionBody"]
    turn = whole["properties"]["turn"]
    words = [w for w in whole["properties"]["do"]["enum"] if w not in ("discard", "draw", "play")]
    (card,), _ = msgspec.json.schema_components([CardText])
    cards = {"type": "array", "items": card, "maxItems": 52}

    def kind(does: list[str], **more: Schema) -> Schema:
        properties = {"turn": turn, "do": {"enum": does}, **more}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    kinds = {
        "WordAction": kind(words),
        "CardsAction": kind(["discard", "draw"], cards=cards),
        "PlayAction": kind(["play"], card=card),
    }
    mapping = {
        do: TEMPLATE.format(name=name) for name, each in kinds.items() for do in each["properties"]["do"]["enum"]
    }
    union = {
        "description": whole["description"],
        "oneOf": [{"$ref": TEMPLATE.format(name=name)} for name in kinds],
        "discriminator": {"propertyName": "do", "mapping": mapping},
    }
    return {**kinds, "ActionBody": union}


def _plain_patterns(node: Any) -> None:
    """In JSON Schema `$` is the end of the text; what keeps a line end out in Python is not needed there."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            node["pattern"] = node["pattern"].removesuffix(r"(?!\n)")
        for each in node.values():
            _plain_patterns(each)
    elif isinstance(node, list):
        for each in node:
            _plain_patterns(each)


def _operation(route: Route, types: _Types) -> Schema:
    operation = route.operation
    parameters = [
        {
            "name": parameter.name,
            "in": "path" if parameter.in_path else "query",
            "required": parameter.required,
            "schema": types.schema(parameter.hint),
        }
        for parameter in _parameters(route)
    ]
    parameters += _headers(operation)
    described: Schema = {
        "operationId": route.handler.handler_name.rpartition(".")[2],
        "tags": [operation.tag],
        "summary": operation.summary,
        "security": [*([{}] if "anyone" in operation.rule else []), {"bearer": []}, {"session": []}],
        "x-roles": sorted(operation.rule),
        "parameters": parameters,
        "responses": _responses(operation, types),
    }
    if operation.rule is ANYONE and operation.tag == "service":
        described["security"] = [{}]
    if operation.description:
        described["description"] = operation.description
    if operation.body is not None:
        content: Schema = {"schema": types.schema(operation.body)}
        if operation.example is not None:
            content["example"] = operation.example
        described["requestBody"] = {"required": _needs_body(operation.body), "content": {JSON: content}}
    return described


def _needs_body(body: Any) -> bool:
    return any(field.required for field in msgspec.structs.fields(body))


class _Parameter(msgspec.Struct, frozen=True):
    name: str
    hint: Any
    default: Any
    in_path: bool

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


def _parameters(route: Route) -> Iterator[_Parameter]:
    fn = route.handler.fn
    hints = typing.get_type_hints(fn, include_extras=True)
    for name, parameter in inspect.signature(fn).parameters.items():
        if name not in ("self", "request"):
            yield _Parameter(name, _without_none(hints[name]), parameter.default, "{" + name + "}" in route.path)


def parameters_of(route: Route) -> type[msgspec.Struct]:
    """The parameters in path and query as one struct, which refuses all others."""
    fields = [(p.name, p.hint) if p.required else (p.name, p.hint, p.default) for p in _parameters(route)]
    name = f"{route.handler.handler_name.rpartition('.')[2]}_parameters"
    return msgspec.defstruct(name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def _without_none(hint: Any) -> Any:
    """The type of a parameter's value: one that may be left out is never sent as null."""
    if isinstance(getattr(hint, "__metadata__", (None,))[0], ParameterKwarg):
        hint = hint.__origin__
    arguments = [a for a in typing.get_args(hint) if a is not type(None)]
    return arguments[0] if type(None) in typing.get_args(hint) and len(arguments) == 1 else hint


def _headers(operation: Operation) -> Iterable[Schema]:
    names = (*(("Idempotency-Key",) if operation.writes else ()), *operation.headers)
    for name in names:
        required, description, schema = HEADER_PARAMETERS[name]
        yield {"name": name, "in": "header", "required": required, "description": description, "schema": dict(schema)}


def _responses(operation: Operation, types: _Types) -> Schema:
    success: Schema = {"description": HTTPStatus(operation.status).phrase, "headers": ANSWER_HEADERS}
    if operation.media_type == EVENT_STREAM:
        success["content"] = {EVENT_STREAM: {"schema": {"type": "string"}}}
    elif operation.answer is not None:
        texts = {media_type: {"schema": {"type": "string"}} for media_type in operation.also}
        success["content"] = {operation.media_type: {"schema": types.schema(operation.answer)}, **texts}
    by_status: dict[int, list[str]] = {}
    for code in problem_codes(operation):
        by_status.setdefault(PROBLEMS[code].status, []).append(code)
    problems = {str(status): _problem_response(status, codes, types) for status, codes in sorted(by_status.items())}
    return {str(operation.status): success, **problems}


def _problem_response(status: int, codes: list[str], types: _Types) -> Schema:
    refs = [types.problem(code) for code in codes]
    schema: Schema = refs[0]
    if len(refs) > 1:
        mapping = {code: ref["$ref"] for code, ref in zip(codes, refs, strict=True)}
        schema = {"oneOf": refs, "discriminator": {"propertyName": "code", "mapping": mapping}}
    return {
        "description": "; ".join(PROBLEMS[code].title for code in codes),
        "headers": {**ANSWER_HEADERS, **PROBLEM_HEADERS.get(status, {})},
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
