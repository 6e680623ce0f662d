import type { Inclusion } from '../ledger.ts'
import type { MerkleTree } from '../merkle/merkle-tree.ts'
import { jwkOf } from '../proofs/public-key.ts'
import { isMaking, parseText, tokenIdOf } from '../proofs/transaction-text.ts'
import type { Block, ChainKeys } from './block.ts'

/** A transaction with the tree of its block. */
interface PlacedTransaction {
  readonly position: number
  readonly text: string
  readonly tree: MerkleTree
}

/** What shows that a transaction is in a block. */
export function inclusionIn(
  { said, header, hash, signature }: Omit<Block, 'transactions'>,
  { position, text, tree }: PlacedTransaction,
  keys: ChainKeys,
): Inclusion {
  const { x = '' } = keys.blocks.export({ format: 'jwk' })
  const own = parseText(text)
  return {
    height: said.height,
    timeUs: said.timeUs,
    header,
    blockHash: hash,
    path: tree.path(position),
    signatures: [{ keyId: keys.chain, algorithm: 'Ed25519', publicKey: jwkOf(x), signature }],
    ...(own && isMaking(own) && { tokenId: tokenIdOf(own) }),
  }
}
