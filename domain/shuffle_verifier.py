"""Checks a hand file against S2 to S5: `python shuffle_verifier.py < hand.json` exits 0 right, 1 wrong, 2 unusable."""

import hashlib, hmac, json, sys  # noqa: E401, I001 - one page, to be read whole and handed to anybody


def deck(seeds: bytes, size: int) -> list[str]:
    cards = [rank + suit for suit in "shdc" for rank in "23456789TJQKA"[{32: 5, 36: 4, 52: 0}[size] :]]
    key, value, updates, left = bytes(32), b"\1" * 32, [b"\0" + seeds, b"\1" + seeds], size
    while left > 1:
        for update in updates:  # S3: instantiate, then the end of each Generate call
            key = hmac.digest(key, value + update, "sha256")
            value = hmac.digest(key, value, "sha256")
        updates = [b"\0"]
        for _ in range(8):  # S3: 256 bytes
            value = hmac.digest(key, value, "sha256")
            for byte in value:
                if left > 1 and byte < 256 - 256 % left:  # S4
                    index, left = byte % left, left - 1
                    cards[left], cards[index] = cards[index], cards[left]  # S5
    return cards


if __name__ == "__main__":
    try:
        hand = json.load(sys.stdin.buffer)
        texts = [hand["shuffle"][field] for field in ("commitment", "server_seed", "hand_id")]
        stated, server, hand_id, *clients = map(bytes.fromhex, texts + hand["shuffle"]["client_seeds"])
        if (len(server), len(hand_id), len(clients)) != (32, 16, len(hand["seats"])) or not hand["deals"]:
            raise ValueError("not 32 and 16 bytes, one client seed per seat, at least one deal")
        wrong = [] if stated == hashlib.sha256(b"khrap-commit/1\0" + hand_id + server).digest() else ["commitment\n"]
        tail = bytes([len(clients)]) + b"".join(len(seed).to_bytes(2, "big") + seed for seed in clients)
        for no, deal in enumerate(hand["deals"], 1):
            cards = deck(server + hand_id + no.to_bytes(8, "big") + b"\0\x0fkhrap-shuffle/1" + tail, len(deal))
            at = [place for place, card in enumerate(cards) if deal[place] not in (None, card)]
            wrong += [f"deal {no}, card {place + 1}: {deal[place]!a} is not {cards[place]}\n" for place in at]
        hidden = sum(deal.count(None) for deal in hand["deals"])
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        sys.exit(sys.stderr.write(f"unusable: no hand file with its shuffle on standard input: {error!r}\n") and 2)
    sys.stdout.write("".join(wrong) or f"ok: commitment {stated.hex()}, {hidden} cards hidden\n")
    sys.exit(bool(wrong))
