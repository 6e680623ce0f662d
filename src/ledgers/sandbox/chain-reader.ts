import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../core/errors.ts'
import { LedgerUnreachable } from '../ledger.ts'
import { MerkleTree } from '../merkle/merkle-tree.ts'
import { parseHeader } from '../proofs/block-header.ts'
import { type Proof, proofOf } from '../proofs/proof.ts'
import { verifierOf } from '../proofs/public-key.ts'
import { membersOf, sandboxNetwork, sha256Of } from '../proofs/transaction-text.ts'
import { BrokenChain, type ChainKeys, checkedBlock, emptyTip, tipAfter } from './block.ts'
import { ChainIndex } from './chain-index.ts'
import { lineAt, linesFrom } from './chain-lines.ts'
import { chainFile, indexFile } from './files.ts'
import { inclusionIn } from './inclusion.ts'
import { isMissing, ledgerKeys } from './keys.ts'
import { isSignedText, leavesOf } from './transaction.ts'

/** A whole chain, or what is first wrong with it. */
export interface ChainReport {
  /** The key that all blocks are signed with. */
  readonly keyId: string
  /** Blocks that are as they were written. */
  readonly blocks: number
  readonly transactions: number
  /** Microseconds: the time of the last of these blocks; undefined where there is none. */
  readonly timeUs: number | undefined
  /** SHA-256 of its header. */
  readonly hash: string
  /** Bytes at the end that are no line yet: somebody is writing it, or a crash has left it. */
  readonly unendedBytes: number
  readonly broken: { readonly height: number; readonly reason: string } | undefined
}

/**
 * Reads the chain of a folder from its beginning, and checks all of it: links, times, signatures, roots, sequences.
 * It changes nothing, and needs neither the service nor the master key.
 *
 * @throws LedgerUnreachable where there is none, or it cannot be read
 */
export async function verifyChain(folder: string): Promise<ChainReport> {
  return await reading(folder, async (file, keys) => {
    // Before the chain, which is always written first.
    const known = knownHeight(folder)
    let [tip, transactions, unendedBytes] = [emptyTip, 0, 0]
    let broken: BrokenChain | undefined
    try {
      for await (const { text, bytes, isEnded } of linesFrom(file, 0)) {
        if (isEnded) {
          const block = checkedBlock(text, tip, keys)
          tip = tipAfter(block, tip)
          transactions += block.transactions.length
        } else {
          unendedBytes = bytes
        }
      }
      if (tip.height < known) broken = new BrokenChain(tip.height + 1, 'the file has lost it')
    } catch (error) {
      if (error instanceof RangeError) broken = new BrokenChain(tip.height + 1, error.message)
      else if (error instanceof BrokenChain) broken = error
      else throw error
    }
    return {
      keyId: keys.chain,
      blocks: tip.height,
      transactions,
      timeUs: tip.height === 0 ? undefined : tip.timeUs,
      hash: tip.hash,
      unendedBytes,
      broken: broken && { height: broken.height, reason: broken.message },
    }
  })
}

/**
 * The proof of the first of these CIDs that is on the chain of a folder, made of the chain alone; undefined where
 * none is.
 *
 * @param profile how CIDs are made of files
 * @throws LedgerUnreachable where there is no chain, or it cannot be read
 */
export async function provenByChain(
  folder: string,
  cids: readonly string[],
  profile: string,
): Promise<Proof | undefined> {
  return await reading(folder, async (file, keys) => {
    for (const cid of cids) {
      const line = await lineWith(folder, file, cid)
      const proof = line === undefined ? undefined : proofIn(line, { cid, keys, profile })
      if (proof) return proof
    }
    return undefined
  })
}

async function reading<Result>(
  folder: string,
  read: (file: FileHandle, keys: ChainKeys) => Promise<Result>,
): Promise<Result> {
  try {
    const keys = await chainKeysIn(folder)
    await using file = await open(join(folder, chainFile), 'r')
    return await read(file, keys)
  } catch (error) {
    if (error instanceof LedgerUnreachable) throw error
    if (isMissing(error)) throw new LedgerUnreachable(`there is no ledger in ${folder}`)
    throw new LedgerUnreachable(messageOf(error), { cause: error })
  }
}

async function chainKeysIn(folder: string): Promise<ChainKeys> {
  const { keys } = await ledgerKeys(folder)
  const [blocks, account] = ['blocks', 'account'].map((role) =>
    keys.find((key) => key.role === role),
  )
  if (!blocks || !account) throw new LedgerUnreachable(`there are no keys of a ledger in ${folder}`)
  return {
    chain: blocks.kid,
    blocks: verifierOf(blocks),
    account: { id: account.kid, chain: blocks.kid, verifier: verifierOf(account) },
  }
}

/** What the index has; nothing where it cannot be asked. */
function indexed<Answer>(folder: string, ask: (index: ChainIndex) => Answer): Answer | undefined {
  try {
    using index = ChainIndex.look(join(folder, indexFile))
    return ask(index)
  } catch {
    return undefined
  }
}

function knownHeight(folder: string): number {
  return indexed(folder, (index) => index.last()?.tip.height) ?? 0
}

interface Wanted {
  readonly cid: string
  readonly keys: ChainKeys
  readonly profile: string
}

/** Looks where the index says, and else into all lines that it does not know. */
async function lineWith(folder: string, file: FileHandle, cid: string) {
  const found = indexed(folder, (index) => {
    const place = index.byCid(cid)
    return { block: place && index.block(place.height), last: index.last() }
  })
  if (found?.block) {
    const line = await lineAt(file, found.block)
    if (line?.includes(cid) === true) return line
  }
  const from = found?.last ? found.last.offset + found.last.bytes : 0
  const { size } = await file.stat()
  for await (const { text, isEnded } of linesFrom(file, from <= size ? from : 0)) {
    if (isEnded && text.includes(cid)) return text
  }
  return undefined
}

/** What a line says, as it is: whether it fits together is found when the proof is checked. */
function proofIn(line: string, { cid, keys, profile }: Wanted): Proof | undefined {
  const { header, signature, transactions: signed } = membersOf(line) ?? {}
  const said = typeof header === 'string' ? parseHeader(header) : undefined
  if (!said || typeof header !== 'string' || typeof signature !== 'string') return undefined
  if (!Array.isArray(signed) || !signed.every(isSignedText)) return undefined
  const position = signed.findIndex(({ annex }) => annex.includes(`"${cid}"`))
  const transaction = signed[position]
  if (!transaction) return undefined
  const { text, annex } = transaction
  const leaves = leavesOf(annex) ?? []
  const leaf = leaves.findIndex((one) => one.cid === cid)
  if (leaf === -1) return undefined
  const hashes = signed.map((one) => sha256Of(one.text))
  return proofOf({
    status: 'COMPLETED',
    isFinal: true,
    profile,
    parts: [{ name: '', cid, leaf }],
    leaves: leaves.map((one) => one.cid),
    ledger: '',
    network: sandboxNetwork,
    transaction: { hash: sha256Of(text), text },
    inclusion: inclusionIn(
      { said, header, hash: sha256Of(header), signature },
      { position, text, tree: MerkleTree.over(hashes) },
      keys,
    ),
  })
}
