import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'
import { leafHash, rootBy } from '../merkle/merkle.ts'
import { Contradiction } from './exact-members.ts'
import type { Proof } from './proof.ts'

/**
 * Checks a proof of a network of others as far as that goes without asking the network: the way from the CIDs to the root, that the
 * transaction has the root, and that its hash is the one that is named.
 *
 * @returns whether there is a transaction in a block by now
 * @throws Contradiction
 */
export function checkNetworkProof(proof: Proof): boolean {
  const { transaction, tx_hash: hash, root, parts, cid, path, block } = proof
  const [first] = parts
  if (first?.cid !== cid || JSON.stringify(first.path) !== JSON.stringify(path)) {
    throw new Contradiction('its first part is not what it is of')
  }
  if (transaction === null) {
    if (hash !== null || block !== null || proof.signatures.length > 0) {
      throw new Contradiction('it has what follows from a transaction, and not the transaction')
    }
    return false
  }
  for (const [at, part] of parts.entries()) {
    const leaf = leafHash(part.cid)
    if (
      part.path?.size !== path?.size ||
      rootBy(leaf, part.path ?? noPath)?.toString('hex') !== root
    ) {
      throw new Contradiction(`parts[${at}].path does not lead from its CID to the root`)
    }
  }
  if (proof.network.startsWith('eip155:')) checkEvmTransaction(transaction, hash, root ?? '')
  return block !== null
}

const noPath = { index: 0, size: 1, hashes: [] }

/** Its text is its bytes, and the root is one of the words that it calls the contract with. */
function checkEvmTransaction(transaction: string, hash: string | null, root: string): void {
  if (!/^0x(?:[0-9a-f]{2})+$/.test(transaction)) {
    throw new Contradiction('the transaction is none of the EVM')
  }
  const bytes = Buffer.from(transaction.slice(2), 'hex')
  if (`0x${Buffer.from(keccak256(bytes)).toString('hex')}` !== hash) {
    throw new Contradiction('tx_hash is not the Keccak-256 of the transaction')
  }
  if (!transaction.includes(root)) throw new Contradiction('the transaction does not have the root')
}
