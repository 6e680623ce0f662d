"""Writes vectors.json: transactions as xrpl-py signs them, which shares no code with what we sign with.

    python3 -m pip install --target /tmp/xrpl-py xrpl-py==5.2.0
    PYTHONPATH=/tmp/xrpl-py python3 test/ledgers/xrpl-py/make-vectors.py
"""

import json
import pathlib

from xrpl import CryptoAlgorithm
from xrpl.models.transactions import AccountSet, Memo, NFTokenMint, NFTokenMintFlag
from xrpl.transaction import sign
from xrpl.utils import str_to_hex
from xrpl.wallet import Wallet

SEEDS = {
    "Ed25519": ("sEdTM1uX8pu2do5XvTnutH6HsouMaM2", CryptoAlgorithm.ED25519),
    "secp256k1": ("sn3nxiW7v8KXzPzAqzyHXbSSKNuN9", CryptoAlgorithm.SECP256K1),
}
ROOT = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
CID = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"


def vector(algorithm, kind, network_id, number):
    seed, crypto = SEEDS[algorithm]
    wallet = Wallet.from_seed(seed, algorithm=crypto)
    intent = f"01990000-0000-7000-8000-{number:012d}"
    sequence, fee, last = 90_000_000 + 7919 * number, 10 + 37 * number, 100_000_000 + number
    data = json.dumps({"intent": intent, "root": ROOT}, separators=(",", ":"))
    memo = Memo(
        memo_type=str_to_hex(f"streamvault/{kind}"),
        memo_format=str_to_hex("application/json"),
        memo_data=str_to_hex(data),
    )
    common = {
        "account": wallet.classic_address,
        "sequence": sequence,
        "fee": str(fee),
        "last_ledger_sequence": last,
        "memos": [memo],
        **({"network_id": network_id} if network_id > 1024 else {}),
    }
    if kind == "nft":
        transaction = NFTokenMint(
            nftoken_taxon=0,
            flags=NFTokenMintFlag.TF_TRANSFERABLE,
            uri=str_to_hex(f"ipfs://{CID}"),
            **common,
        )
    else:
        transaction = AccountSet(**common)
    signed = sign(transaction, wallet)
    return {
        "seed": seed,
        "account": wallet.classic_address,
        "networkId": network_id,
        "deed": {
            "intentId": intent,
            "kind": kind,
            "root": ROOT,
            "leaves": [],
            **({"uri": f"ipfs://{CID}"} if kind == "nft" else {}),
        },
        "sequence": sequence,
        "fee": str(fee),
        "last": last,
        "blob": signed.blob(),
        "hash": signed.get_hash(),
    }


cases = [
    (algorithm, kind, network_id)
    for algorithm in SEEDS
    for kind in ("nft", "record", "root")
    # Signatures of secp256k1 have lengths of their own: several of each.
    for network_id in (0, 1, 1024, 1025, 21338)
]
vectors = [vector(*case, number) for number, case in enumerate(cases)]
path = pathlib.Path(__file__).with_name("vectors.json")
path.write_text(json.dumps(vectors, indent=2) + "\n")
