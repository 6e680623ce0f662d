import { createHash } from 'node:crypto'
import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'
import { contradict } from './exact-members.ts'

/** What goes before the bytes that the hash of a transaction is of: `TXN` (https://xrpl.org/docs/references/protocol/transactions). */
const xrplPrefix = Buffer.from('54584e00', 'hex')

/**
 * Checks what can be checked of a transaction of a real network without asking it: that its hash is that of its bytes, and that
 * these have the root. Of networks that are not known here nothing is said.
 *
 * @throws Contradiction
 */
export function checkNetworkTransaction(network: string, text: string, said: SaidOfIt): void {
  const isEvm = network.startsWith('eip155:')
  if (!isEvm && !network.startsWith('xrpl:')) return
  const hex = text.replace(/^0x/, '').toLowerCase()
  if (!/^(?:[\da-f]{2})+$/.test(hex)) contradict('the transaction is no text of bytes')
  const bytes = Buffer.from(hex, 'hex')
  const hash = isEvm ? Buffer.from(keccak256(bytes)) : sha512Half(bytes)
  if (hash.toString('hex') !== said.hash.replace(/^0x/, '').toLowerCase()) {
    contradict('tx_hash is not that of the transaction')
  }
  // A token of XRPL says where its metadata are, and no root.
  if (isEvm && !hex.includes(said.root)) contradict('the root is not in the transaction')
}

interface SaidOfIt {
  readonly hash: string
  readonly root: string
}

function sha512Half(bytes: Uint8Array): Buffer {
  return createHash('sha512').update(xrplPrefix).update(bytes).digest().subarray(0, 32)
}
