import { formatUs } from '../../core/time.ts'
import type { Inclusion } from '../ledger.ts'
import type { MerklePath } from '../merkle/merkle.ts'
import { MerkleTree } from '../merkle/merkle-tree.ts'
import type { PublicJwk } from './public-key.ts'

export const proofFormat = 'streamvault-proof-1'

/** One of the CIDs that a transaction commits to, with the way from it to the root. */
export interface ProvenPart {
  /** Empty for the thing itself, else which file of it: the transaction does not say that. */
  readonly name: string
  readonly cid: string
  /** Null as long as no transaction is signed. */
  readonly path: MerklePath | null
}

export interface ProofSignature {
  readonly key_id: string
  readonly algorithm: 'Ed25519'
  readonly public_key: PublicJwk
  /** Base64. */
  readonly signature: string
}

/** What shows that bytes existed at a time. Everything in it can be checked with it alone, but for whose the key is. */
export interface Proof {
  readonly format: typeof proofFormat
  /** It is final on the ledger; without that, this is what is known so far. */
  readonly final: boolean
  readonly status: string
  readonly cid: string
  /** How CIDs are made of files. */
  readonly profile: string
  readonly path: MerklePath | null
  /** All that the resource commits to; the first one is that of `cid`. */
  readonly parts: readonly ProvenPart[]
  /** The root of the tree over all CIDs of the transaction, hex. */
  readonly root: string | null
  /** The ledger that the resource was made for; empty where only the chain was asked, which does not know it. */
  readonly ledger: string
  /** The one that it is on. */
  readonly network: string
  readonly tx_hash: string | null
  /** The text whose SHA-256 is `tx_hash`. */
  readonly transaction: string | null
  readonly token_id?: string
  readonly block: {
    readonly height: number
    /** RFC 3339. */
    readonly time: string
    /** SHA-256 of the header, hex. */
    readonly hash: string
    /** What is signed. */
    readonly header: string
    /** From the transaction to the root in the header. */
    readonly path: MerklePath
  } | null
  readonly signatures: readonly ProofSignature[]
}

/** What a proof is made of. */
export interface ProofMaterial {
  readonly status: string
  readonly isFinal: boolean
  readonly profile: string
  /** The first one is what is proven. `leaf` is its place among `leaves`. */
  readonly parts: readonly {
    readonly name: string
    readonly cid: string
    readonly leaf: number
  }[]
  /** All CIDs of the transaction, in order; empty as long as there is none. */
  readonly leaves: readonly string[]
  readonly ledger: string
  readonly network: string
  readonly transaction: { readonly hash: string; readonly text: string } | undefined
  readonly inclusion: Inclusion | undefined
  readonly tokenId?: string
}

/** @throws RangeError when a part has no place among the leaves */
export function proofOf(material: ProofMaterial): Proof {
  const { parts, leaves, transaction, inclusion, tokenId = inclusion?.tokenId } = material
  const tree = transaction ? MerkleTree.over(leaves) : undefined
  const proven = parts.map(({ name, cid, leaf }): ProvenPart => {
    if (tree && leaves[leaf] !== cid) throw new RangeError(`leaf ${leaf} is not ${cid}`)
    return { name, cid, path: tree?.path(leaf) ?? null }
  })
  const [first] = proven
  if (!first) throw new RangeError('a proof is of one CID at least')
  return {
    format: proofFormat,
    final: material.isFinal,
    status: material.status,
    cid: first.cid,
    profile: material.profile,
    path: first.path,
    parts: proven,
    root: tree?.root ?? null,
    ledger: material.ledger,
    network: material.network,
    tx_hash: transaction?.hash ?? null,
    transaction: transaction?.text ?? null,
    ...(tokenId !== undefined && { token_id: tokenId }),
    block: inclusion ? blockOf(inclusion) : null,
    signatures: (inclusion?.signatures ?? []).map((one) => ({
      key_id: one.keyId,
      algorithm: one.algorithm,
      public_key: one.publicKey,
      signature: one.signature,
    })),
  }
}

function blockOf({ height, timeUs, blockHash, header, path }: Inclusion): Proof['block'] {
  return { height, time: formatUs(timeUs), hash: blockHash, header, path }
}
