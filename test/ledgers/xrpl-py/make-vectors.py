"""Writes vectors.json: transactions as xrpl-py signs them, which shares no code with what we sign with.

    python3 -m pip install --target /tmp/xrpl-py xrpl-py==5.2.0
    PYTHONPATH=/tmp/xrpl-py python3 test/ledgers/xrpl-py/make-vectors.py
"""

import json
import pathlib

from xrpl import CryptoAlgorithm
from xrpl.models.amounts import MPTAmount
from xrpl.models.transactions import (
    AccountSet,
    Memo,
    MPTokenAuthorize,
    MPTokenIssuanceCreate,
    MPTokenIssuanceCreateFlag,
    NFTokenMint,
    NFTokenMintFlag,
    Payment,
)
from xrpl.transaction import sign
from xrpl.utils import str_to_hex
from xrpl.wallet import Wallet

SEEDS = {
    "Ed25519": ("sEdTM1uX8pu2do5XvTnutH6HsouMaM2", CryptoAlgorithm.ED25519),
    "secp256k1": ("sn3nxiW7v8KXzPzAqzyHXbSSKNuN9", CryptoAlgorithm.SECP256K1),
}
ROOT = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
CID = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
STREAM = "01990000-0000-7000-8000-00000000abcd"
ISSUANCE = "055D4A8097A7D635DE2393068691A015FED5A89AD203F5AA"
# Code, amount and precision: usual, and at the limits of each.
ASSETS = (("GOLD", "1000000", 2), ("\"" * 20, str(2**63 - 1), 0), ("x", "1", 10))
DISTRIBUTORS = {"Ed25519": "secp256k1", "secp256k1": "Ed25519"}


def wallet_of(algorithm):
    seed, crypto = SEEDS[algorithm]
    return Wallet.from_seed(seed, algorithm=crypto)


def asset_transaction(kind, asset, distributor, common):
    code, amount, precision = asset
    if kind == "authorization":
        return MPTokenAuthorize(mptoken_issuance_id=ISSUANCE, **common)
    if kind == "payment":
        held = MPTAmount(mpt_issuance_id=ISSUANCE, value=amount)
        return Payment(destination=distributor, amount=held, **common)
    metadata = {"t": code, "n": code, "ac": "other", "in": "Streamvault", "ai": {"stream": STREAM}}
    return MPTokenIssuanceCreate(
        flags=MPTokenIssuanceCreateFlag.TF_MPT_CAN_TRADE
        | MPTokenIssuanceCreateFlag.TF_MPT_CAN_TRANSFER,
        asset_scale=precision,
        maximum_amount=amount,
        mptoken_metadata=str_to_hex(json.dumps(metadata, separators=(",", ":"))),
        **common,
    )


def said_of(kind, asset):
    if kind == "nft":
        return {"uri": f"ipfs://{CID}"}
    if asset is None:
        return {}
    code, amount, precision = asset
    token = {} if kind == "issuance" else {"tokenId": ISSUANCE}
    said = {"streamId": STREAM, "code": code, "amount": amount, "precision": precision}
    return {"asset": {**said, **token}}


def vector(algorithm, kind, network_id, number, asset=None):
    wallet = wallet_of(algorithm)
    distributor = wallet_of(DISTRIBUTORS[algorithm]).classic_address
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
    elif asset is not None:
        transaction = asset_transaction(kind, asset, distributor, common)
    else:
        transaction = AccountSet(**common)
    signed = sign(transaction, wallet)
    return {
        "seed": SEEDS[algorithm][0],
        "account": wallet.classic_address,
        "distributor": distributor,
        "networkId": network_id,
        "deed": {
            "intentId": intent,
            "kind": kind,
            "root": ROOT,
            "leaves": [],
            **said_of(kind, asset),
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
asset_cases = [
    (algorithm, kind, network_id, asset)
    for algorithm in SEEDS
    for kind in ("issuance", "authorization", "payment")
    for network_id, asset in zip((0, 1025, 21338), ASSETS)
]
vectors = [vector(*case, number) for number, case in enumerate(cases)] + [
    vector(*case, len(cases) + number, asset)
    for number, (*case, asset) in enumerate(asset_cases)
]
path = pathlib.Path(__file__).with_name("vectors.json")
path.write_text(json.dumps(vectors, indent=2) + "\n")
