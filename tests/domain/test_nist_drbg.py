"""S3: the generator against NIST's own answers.

`nist_hmac_drbg_sha256.json` holds CAVP's `drbgvectors_no_reseed`, HMAC_DRBG, [SHA-256], EntropyInputLen 256, NonceLen
128, no personalization string, no additional input, ReturnedBitsLen 1024: COUNT 0 to 14, all that this section has. In
each the bits returned by the second of two Generate calls are compared.
"""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from domain.shuffle import hmac_drbg

CASES = json.loads(Path(__file__).with_name("nist_hmac_drbg_sha256.json").read_bytes())


def test_s3_the_section_is_whole() -> None:
    assert [case["count"] for case in CASES] == list(range(15))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"count-{case['count']}")
def test_s3_the_generator_returns_the_bits_of_nist(case: dict[str, Any]) -> None:
    seed_material = bytes.fromhex(case["entropy_input"] + case["nonce"])
    blocks = list(islice(hmac_drbg(seed_material, request_bytes=128), 8))
    assert b"".join(blocks[4:]).hex() == case["returned_bits"]
