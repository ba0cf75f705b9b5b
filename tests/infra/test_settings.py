"""Settings: every variable is checked, and every complaint says what would be right."""

import pytest

from infra.faults import Fault
from infra.settings import Settings, read_settings

GIVEN = {
    "KHRAP_DATABASE_URL": "postgresql://khrap_app:hunter2@db.example/khrap",
    "KHRAP_REDIS_URL": "redis://:hunter3@cache.example:6379/0",
}


def complaint(environment: dict[str, str]) -> str:
    with pytest.raises(Fault) as caught:
        read_settings(environment)
    assert caught.value.code == "settings"
    return caught.value.detail


def test_nothing_given_means_embedded_servers() -> None:
    settings = read_settings({"PATH": "/bin", "HOME": ""})
    assert settings == Settings()
    assert settings.is_embedded
    assert settings.home_folder.name == ".khrap"
    assert (settings.host, settings.port, settings.log_level) == ("127.0.0.1", 8000, "info")


def test_values_take_the_type_of_their_field() -> None:
    settings = read_settings({**GIVEN, "KHRAP_PORT": "9000", "KHRAP_LOG_LEVEL": "debug", "KHRAP_HOST": "0.0.0.0"})
    assert (settings.port, settings.log_level, settings.host) == (9000, "debug", "0.0.0.0")
    assert not settings.is_embedded


def test_the_tests_own_variables_are_no_settings() -> None:
    assert read_settings({"KHRAP_TEST_BACKEND": "containers", "KHRAP_EXAMPLES": "500"}) == Settings()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"KHRAP_PORT": "eight"},
            "KHRAP_PORT is 'eight'; right would be a port from 1 to 65535, or 0 for any free one",
        ),
        (
            {"KHRAP_PORT": "65536"},
            "KHRAP_PORT is '65536'; right would be a port from 1 to 65535, or 0 for any free one",
        ),
        ({"KHRAP_PORT": " "}, "KHRAP_PORT is empty; right would be a port from 1 to 65535, or 0 for any free one"),
        ({"KHRAP_LOG_LEVEL": "loud"}, "KHRAP_LOG_LEVEL is 'loud'; right would be debug, info, warning or error"),
        ({"KHRAP_POTR": "1"}, "KHRAP_POTR is not a variable of this service; did you mean KHRAP_PORT?"),
        (
            {"KHRAP_DATABSE_URL": "x"},
            "KHRAP_DATABSE_URL is not a variable of this service; did you mean KHRAP_DATABASE_URL?",
        ),
        (
            {"KHRAP_DATABASE_URL": GIVEN["KHRAP_DATABASE_URL"]},
            "KHRAP_REDIS_URL is missing; with KHRAP_DATABASE_URL no servers of our own are started",
        ),
        (
            {"KHRAP_REDIS_URL": GIVEN["KHRAP_REDIS_URL"]},
            "KHRAP_REDIS_URL is given without KHRAP_DATABASE_URL; give both, or neither for embedded servers",
        ),
        (
            {**GIVEN, "KHRAP_TOKEN_PUBLIC_KEY_FILE": "a.pem", "KHRAP_TOKEN_JWKS_FILE": "b.json"},
            "KHRAP_TOKEN_PUBLIC_KEY_FILE and KHRAP_TOKEN_JWKS_FILE are both given; give one of them",
        ),
    ],
)
def test_a_complaint_names_the_variable_the_wrong_and_the_right(environment: dict[str, str], expected: str) -> None:
    assert complaint(environment) == expected


def test_an_unknown_variable_that_resembles_none_gets_the_list() -> None:
    assert "known are KHRAP_HOME, KHRAP_DATABASE_URL" in complaint({"KHRAP_ZZZZZZZZZZ": "1"})


def test_all_complaints_come_at_once() -> None:
    assert complaint({"KHRAP_PORT": "x", "KHRAP_LOG_LEVEL": "y", "KHRAP_FOO_BAR_BAZ": "z"}).count("\n") == 2


def test_passwords_in_urls_are_never_shown() -> None:
    detail = complaint({**GIVEN, "KHRAP_DATABASE_URL": "mysql://root:hunter2@db.example/khrap"})
    assert detail.startswith("KHRAP_DATABASE_URL does not begin with postgresql:// or postgres://; right would be ")
    assert "hunter2" not in detail
    assert "hunter" not in repr(read_settings(GIVEN))


def test_every_field_says_what_would_be_right() -> None:
    for variable in (f"KHRAP_{name.upper()}" for name in Settings.__struct_fields__):
        assert complaint({variable: ""}).startswith(f"{variable} is empty; right would be ")
