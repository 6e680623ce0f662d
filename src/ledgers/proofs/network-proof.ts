import { leafHash, rootBy } from '../merkle/merkle.ts'
import { keccakOf, readEvmCall } from './evm-call.ts'
import { Contradiction } from './exact-members.ts'
import type { Proof } from './proof.ts'
import { membersOf } from './transaction-text.ts'
import { readXrplMemo, type XrplSaid, xrplHashOf } from './xrpl-memo.ts'

/**
 * Checks a proof of a network of others as far as that goes without asking the network: the way from the CIDs to the root, that the
 * transaction is for this network and commits to the root, and that its hash is the one that is named.
 *
 * @returns what it shows by that, and what nobody but the network can say; undefined where there is no transaction yet
 * @throws Contradiction
 */
export function checkNetworkProof(proof: Proof): string | undefined {
  const { transaction, tx_hash: hash, parts, cid, path, block, network } = proof
  const [first] = parts
  if (first?.cid !== cid || JSON.stringify(first.path) !== JSON.stringify(path)) {
    throw new Contradiction('its first part is not what it is of')
  }
  if (proof.signatures.length > 0) {
    throw new Contradiction('it has signatures, and its network gives none')
  }
  if (transaction === null) {
    checkNothingFollows(proof)
    return undefined
  }
  checkPaths(proof)
  if (network.startsWith('eip155:')) checkEvmTransaction(proof, transaction)
  else if (network.startsWith('xrpl:')) checkXrplTransaction(proof, transaction)
  else return `nothing is known here of the network ${network}`
  checkBlock(proof)
  const shown = `the bytes are committed to by the transaction ${hash}, which is signed for ${network}`
  if (block === null) return `${shown}; by this proof it is in no block yet`
  return `${shown}; that it is in block ${block.height} of ${block.time}, only a node or an explorer of that network can say`
}

function checkNothingFollows({ tx_hash: hash, root, block, token_id: tokenId, parts }: Proof) {
  const known = [hash, root, block, tokenId ?? null, ...parts.map((one) => one.path)]
  if (known.some((one) => one !== null)) {
    throw new Contradiction('it has what follows from a transaction, and not the transaction')
  }
}

function checkPaths({ parts, path, root }: Proof): void {
  for (const [at, part] of parts.entries()) {
    const isOfTree = part.path !== null && part.path.size === path?.size
    if (!isOfTree || rootBy(leafHash(part.cid), part.path)?.toString('hex') !== root) {
      throw new Contradiction(`parts[${at}].path does not lead from its CID to the root`)
    }
  }
}

/** Its text is its bytes. */
function checkEvmTransaction(proof: Proof, transaction: string): void {
  if (!/^0x(?:[0-9a-f]{2})+$/.test(transaction)) {
    throw new Contradiction('the transaction is not one of the EVM')
  }
  const bytes = Buffer.from(transaction.slice(2), 'hex')
  if (`0x${keccakOf(bytes)}` !== proof.tx_hash) {
    throw new Contradiction('tx_hash is not the Keccak-256 of the transaction')
  }
  const said = orContradiction(
    () => readEvmCall(bytes),
    'the transaction does not call the contract with a root',
  )
  if (`eip155:${said.chainId}` !== proof.network) {
    throw new Contradiction('the transaction is for another network')
  }
  if (said.root !== proof.root) throw new Contradiction('the transaction does not have the root')
  const { token_id: tokenId } = proof
  const isOfAsset = said.isIssue && /^0x[0-9a-fA-F]{40}$/.test(tokenId ?? '')
  if (tokenId !== undefined && tokenId !== said.tokenId && !isOfAsset) {
    throw new Contradiction('token_id is not that of the transaction')
  }
}

/** Its text is its bytes, too. */
function checkXrplTransaction(proof: Proof, transaction: string): void {
  if (!/^(?:[0-9A-F]{2})+$/.test(transaction)) {
    throw new Contradiction('the transaction is not one of XRPL')
  }
  const bytes = Buffer.from(transaction, 'hex')
  if (xrplHashOf(bytes) !== proof.tx_hash) {
    throw new Contradiction('tx_hash is not the hash of the transaction')
  }
  const said = orContradiction(() => readXrplMemo(bytes), 'the transaction has no memo with a root')
  // Networks up to 1024 are not named in their transactions.
  const isNamed = !/^xrpl:(?:\d{1,3}|10[01]\d|102[0-4])$/.test(proof.network)
  if (said.networkId === undefined ? isNamed : `xrpl:${said.networkId}` !== proof.network) {
    throw new Contradiction('the transaction is for another network')
  }
  if (said.root !== proof.root) throw new Contradiction('the transaction does not have the root')
  const { token_id: tokenId } = proof
  if (tokenId !== undefined && !isOf(tokenId.toLowerCase(), said)) {
    throw new Contradiction('token_id is not that of the transaction')
  }
}

/** Four bytes are before the account in the id of a token, and eight behind it that the ledger alone knows. */
function isOf(tokenId: string, { token }: XrplSaid): boolean {
  if (token?.issuance !== undefined) return tokenId === token.issuance
  return /^[0-9a-f]{64}$/.test(tokenId) && tokenId.slice(8, 48) === token?.account
}

function orContradiction<Said>(read: () => Said, reason: string): Said {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw new Contradiction(reason)
    throw error
  }
}

/** What is said of the block has to be one thing, though nobody has signed it. */
function checkBlock({ block, network }: Proof): void {
  if (block === null) return
  const header = membersOf(block.header)
  const hash = String(header?.['hash']).replace(/^0x/, '').toLowerCase()
  const isWhole = header?.['network'] === network && header['height'] === block.height
  if (!isWhole || hash !== block.hash) {
    throw new Contradiction('the block is not what its header says')
  }
}
