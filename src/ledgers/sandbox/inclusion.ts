import type { Inclusion } from '../ledger.ts'
import type { MerkleTree } from '../merkle/merkle-tree.ts'
import { jwkOf } from '../proofs/public-key.ts'
import { tokenIdOf } from '../proofs/transaction-text.ts'
import { type Block, type ChainKeys, treeOf } from './block.ts'

/**
 * What shows that a transaction is in a block.
 *
 * @param tree that of the block, where it is made already
 */
export function inclusionOf(
  block: Block,
  position: number,
  keys: ChainKeys,
  tree: MerkleTree = treeOf(block.transactions),
): Inclusion {
  const { x = '' } = keys.blocks.export({ format: 'jwk' })
  const transaction = block.transactions[position]
  const { signature } = block
  return {
    height: block.said.height,
    timeUs: block.said.timeUs,
    header: block.header,
    blockHash: block.hash,
    path: tree.path(position),
    signatures: [{ keyId: keys.chain, algorithm: 'Ed25519', publicKey: jwkOf(x), signature }],
    ...(transaction?.said.kind === 'nft' && { tokenId: tokenIdOf(transaction.said) }),
  }
}
