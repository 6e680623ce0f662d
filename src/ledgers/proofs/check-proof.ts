import { verify } from 'node:crypto'
import { formatUs } from '../../core/time.ts'
import { leafHash, type MerklePath, rootBy } from '../merkle/merkle.ts'
import { type BlockHeader, parseHeader } from './block-header.ts'
import { Contradiction } from './exact-members.ts'
import { checkNetworkProof } from './network-proof.ts'
import { parseProof, proofCharsMax } from './parse-proof.ts'
import type { Proof, ProofSignature } from './proof.ts'
import { keyIdOf, verifierOf } from './public-key.ts'
import {
  isHash,
  isMaking,
  parseText,
  sandboxNetwork,
  sha256Of,
  type TransactionText,
  tokenIdOf,
} from './transaction-text.ts'

/** What a proof is asked. */
export interface ProofQuestion {
  /** CIDs of the bytes that somebody has, made in different ways; without them, what the proof says is believed to be theirs. */
  readonly cids?: readonly string[]
  /** Ids of keys (RFC 7638) that somebody got in another way than by the proof. */
  readonly trustedKeys: ReadonlySet<string>
}

/** What a whole proof shows. */
export interface Shown {
  readonly cid: string
  /** Microseconds: the bytes were there by then. */
  readonly timeUs: number
  readonly network: string
  readonly height: number
  readonly txHash: string
  /** The key that this depends on. */
  readonly keyId: string
}

export type Verdict =
  | ({ readonly is: 'proven' } & Shown)
  /** All fits, and nobody but the proof says whose key that is. */
  | ({ readonly is: 'proven_under_key' } & Shown)
  /** The proof is of something else, or of nothing yet. */
  | { readonly is: 'not_found'; readonly reason: string }
  | { readonly is: 'contradicted'; readonly reason: string }
  /** It takes a ledger to say more. */
  | { readonly is: 'unreachable'; readonly reason: string }

/** What a proof that somebody brings as text shows. */
export function checkProofText(text: string, question: ProofQuestion): Verdict {
  if (text.length > proofCharsMax) {
    return contradicted(`it is longer than the ${proofCharsMax} characters of any proof`)
  }
  let proof: unknown
  try {
    proof = JSON.parse(text)
  } catch {
    return contradicted('it is not JSON')
  }
  return checkProof(proof, question)
}

/** What a proof that somebody brings shows. Never throws: whatever it is, it gets a verdict. */
export function checkProof(proof: unknown, question: ProofQuestion): Verdict {
  try {
    return verdictOf(parseProof(proof), question)
  } catch (error) {
    if (error instanceof Contradiction) return contradicted(error.message)
    return contradicted('it could not be read')
  }
}

function contradicted(reason: string): Verdict {
  return { is: 'contradicted', reason }
}

function verdictOf(proof: Proof, question: ProofQuestion): Verdict {
  const { network, final, status } = proof
  if (final !== (status === 'COMPLETED')) contradict(`final does not go with the status ${status}`)
  if (network !== sandboxNetwork) {
    if (parseText(proof.transaction ?? '')) contradict('the transaction is of another network')
    const reason = checkNetworkProof(proof)
    if (final && proof.block === null) contradict('it says that it is final, and has no block')
    if (foundIn(proof, question) === undefined) return notOfThese
    return reason === undefined ? notYet : { is: 'unreachable', reason }
  }
  const said = saidByTransaction(proof)
  const header = said ? saidByBlock(proof, said) : undefined
  if (final && !header) contradict('it says that it is final, and has no block')
  const cid = foundIn(proof, question)
  if (cid === undefined) return notOfThese
  if (!final || !header) return notYet
  const keyIds = proof.signatures.map(({ key_id: id }) => id)
  const trusted = keyIds.find((id) => question.trustedKeys.has(id))
  return {
    is: trusted === undefined ? 'proven_under_key' : 'proven',
    cid,
    timeUs: header.timeUs,
    network,
    height: header.height,
    txHash: proof.tx_hash ?? '',
    keyId: trusted ?? keyIds[0] ?? '',
  }
}

const notOfThese: Verdict = { is: 'not_found', reason: 'the proof is of other bytes' }
const notYet: Verdict = {
  is: 'not_found',
  reason: 'by this proof it was on no ledger yet: ask for a later one',
}

function contradict(reason: string): never {
  throw new Contradiction(reason)
}

function foundIn({ cid, parts }: Proof, { cids }: ProofQuestion): string | undefined {
  if (!cids) return cid
  return cids.find((one) => parts.some((part) => part.cid === one))
}

/** Checks all up to the transaction; undefined where there is none yet. */
function saidByTransaction(proof: Proof): TransactionText | undefined {
  const { transaction, tx_hash: hash, root, parts, cid, path } = proof
  const [first] = parts
  if (first?.cid !== cid || JSON.stringify(first.path) !== JSON.stringify(path)) {
    contradict('its first part is not what it is of')
  }
  if (transaction === null) {
    const known = [hash, root, proof.block, proof.token_id ?? null, ...parts.map((one) => one.path)]
    if (known.some((one) => one !== null) || proof.signatures.length > 0) {
      contradict('it has what follows from a transaction, and not the transaction')
    }
    return undefined
  }
  if (sha256Of(transaction) !== hash) contradict('tx_hash is not the SHA-256 of the transaction')
  const said = parseText(transaction) ?? contradict('the transaction is not one of the sandbox')
  if (said.root !== root) contradict('the root is not that of the transaction')
  for (const [at, part] of parts.entries()) {
    if (!leadsTo(part.cid, part.path, said.root, said.leaves)) {
      contradict(`parts[${at}].path does not lead from its CID to the root`)
    }
  }
  const mayName = isMaking(said) && proof.token_id === tokenIdOf(said)
  if (proof.token_id !== undefined && !mayName)
    contradict('token_id is not that of the transaction')
  return said
}

/** @param size leaves of the tree: the path alone does not tell trees of several sizes apart */
function leadsTo(text: string, path: MerklePath | null, root: string, size: number): boolean {
  if (path?.size !== size) return false
  return rootBy(leafHash(text), path)?.toString('hex') === root
}

/** Checks all from the transaction on; undefined where it is in no block yet. */
function saidByBlock(proof: Proof, said: TransactionText): BlockHeader | undefined {
  const { block, signatures, tx_hash: txHash, token_id: tokenId } = proof
  if (block === null) {
    if (signatures.length > 0) contradict('it has signatures, and nothing that is signed')
    return undefined
  }
  if (sha256Of(block.header) !== block.hash)
    contradict('block.hash is not the SHA-256 of its header')
  const header = parseHeader(block.header) ?? contradict('the header is not that of a block')
  if (header.chain !== said.chain) contradict('the transaction is for another chain')
  if (header.height !== block.height) contradict('block.height is not what the header says')
  if (formatUs(header.timeUs) !== block.time) contradict('block.time is not what the header says')
  if (!isHash(txHash) || !leadsTo(txHash, block.path, header.root, header.transactions)) {
    contradict('block.path does not lead from the transaction to the root of the block')
  }
  if (isMaking(said) && tokenId === undefined) contradict('token_id is missing')
  if (signatures.length === 0) contradict('no key has signed the block')
  for (const [at, signature] of signatures.entries()) {
    if (!isOf(signature, block.header)) contradict(`signatures[${at}] is not that of the header`)
  }
  return header
}

function isOf(said: ProofSignature, header: string): boolean {
  if (keyIdOf(said.public_key) !== said.key_id) return false
  const bytes = Buffer.from(said.signature, 'base64')
  if (bytes.toString('base64') !== said.signature) return false
  return verify(null, Buffer.from(header), verifierOf(said.public_key), bytes)
}
