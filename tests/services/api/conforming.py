"""Every answer that a test gets is held against the service's own document: status, type of content, body, headers."""

from __future__ import annotations

import re
from typing import Any

import httpx
import jsonschema_rs

DOCUMENT = "/schema/openapi.json"


class NotDescribed(AssertionError):
    """An answer that the document does not describe."""


class Conforming:
    """An httpx hook. What no path of the document matches, and what is no operation of it, must be 404 or 405."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]
        self._paths = [(_pattern(path), operations) for path, operations in document["paths"].items()]
        # The literal ones first: /v1/tables/events is not a table's id.
        self._paths.sort(key=lambda each: each[0].pattern.count("[^/]+"))
        self._validators: dict[int, Any] = {}

    async def __call__(self, response: httpx.Response) -> None:
        """Raises NotDescribed."""
        request = response.request
        operation = self._operation(request.method, request.url.path)
        if operation is None:
            if response.status_code not in (404, 405):
                raise NotDescribed(f"{request.method} {request.url.path}: {response.status_code}")
            return
        described = operation["responses"].get(str(response.status_code))
        if described is None:
            await response.aread()
            raise NotDescribed(f"{request.method} {request.url.path}: {response.status_code} {response.text}")
        for header in described.get("headers", {}):
            if header.lower() not in response.headers:
                raise NotDescribed(f"{request.method} {request.url.path}: no header {header}")
        await self._body(response, described.get("content", {}))

    async def _body(self, response: httpx.Response, content: dict[str, Any]) -> None:
        media_type = response.headers.get("content-type", "").partition(";")[0]
        if not content:
            assert not await response.aread()
            return
        if media_type not in content:
            raise NotDescribed(f"{response.request.url.path}: {media_type}, not {list(content)}")
        if not media_type.endswith("json"):
            return
        await response.aread()
        schema = content[media_type]["schema"]
        validator = self._validators.get(id(schema))
        if validator is None:
            whole = {"components": self._components, **schema}
            validator = self._validators[id(schema)] = jsonschema_rs.Draft202012Validator(whole)
        errors = [f"{'/'.join(map(str, e.instance_path))}: {e.message}" for e in validator.iter_errors(response.json())]
        if errors:
            raise NotDescribed(f"{response.request.url.path}: {errors[:3]} in {response.text[:600]}")

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for pattern, operations in self._paths:
            if pattern.fullmatch(path):
                found: dict[str, Any] | None = operations.get(method.lower())
                return found
        return None


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", re.escape(path)))
