import { statSync } from 'node:fs'
import { formatUs } from '../core/time.ts'
import { cidProfile } from '../files/content/content.ts'
import { LedgerUnreachable } from '../ledgers/ledger.ts'
import { checkProof, checkProofText, type Verdict } from '../ledgers/proofs/check-proof.ts'
import { parseCid } from '../ledgers/proofs/content-id.ts'
import { inWords } from '../ledgers/proofs/in-words.ts'
import { proofCharsMax } from '../ledgers/proofs/parse-proof.ts'
import { textOfFile } from './bounded-file.ts'
import { cidsOf } from './cids-of.ts'
import { type Command, UsageError } from './command.ts'
import { dataDirOption, ledgerFolderOf } from './ledger-folder.ts'
import { keyOption, trustedKeys } from './trusted-keys.ts'

/** A verdict has one of its own, because scripts ask for it. */
const codes: Readonly<Record<Verdict['is'], number>> = {
  proven: 0,
  proven_under_key: 3,
  not_found: 4,
  contradicted: 5,
  unreachable: 6,
}

/** Says what is proven of bytes, without a service. */
export const verify: Command = {
  name: 'verify',
  summary: 'Check offline what is proven of a file, a folder or a CID.',
  description:
    'FILE is hashed; a folder is one that an archive was made of, and a CID is believed to be that of the bytes. The proof ' +
    'is what GET .../proof has answered. Without one, the ledger in the data folder is asked.\n' +
    'It shows that these bytes existed at a time, under a key. It does not show who made them, that they are true, or that ' +
    'nobody had them before. A proof brings its key along, so without a key that you give or pin it is proven under that ' +
    'key only, and exit code 0 is never reached.',
  operands: [{ name: 'FILE', summary: 'A file, a folder, or a CID (CIDv1 in base32).' }],
  options: [
    { name: 'proof', value: 'FILE', summary: 'The proof, as JSON.' },
    keyOption,
    dataDirOption,
  ],
  exitCodes:
    'Done is proven. Beyond that: 3 proven under a key that you have not given or pinned, 4 not found, ' +
    '5 contradicted, 6 ledger not reached.',
  async run(input) {
    const trusted = trustedKeys(input)
    const proofPath = input.options['proof']
    const proof = proofPath === undefined ? undefined : proofIn(proofPath)
    const cids = await cidsNamed(input.operands['FILE'] ?? '')
    const verdict =
      proof === undefined
        ? await verdictOfFolder(ledgerFolderOf(input), cids, trusted)
        : checkProofText(proof, { cids, trustedKeys: trusted })
    const { result, limits } = inWords(verdict)
    return {
      json: { ...bodyOf(verdict), cids, says: result, limits },
      text: limits === '' ? result : `${result}.\n${limits}`,
      exitCode: codes[verdict.is],
    }
  },
}

/** @throws UsageError when it is neither a file nor a CID */
async function cidsNamed(given: string): Promise<readonly string[]> {
  const stat = statSync(given, { throwIfNoEntry: false })
  if (stat?.isFile() || stat?.isDirectory()) return await cidsOf(given)
  // Some have no end, and some no beginning.
  if (stat) throw new UsageError(`${given} is neither a file nor a folder`)
  const parsed = await parseCid(given)
  if ('cid' in parsed) return [parsed.cid]
  throw new UsageError(`there is no file ${given}, and as a CID: ${parsed.problem}`)
}

/** @throws UsageError when there is no such file */
function proofIn(path: string): string {
  try {
    // UTF-8 has four bytes a character at most; what is longer is refused by its length.
    const text = textOfFile(path, 4 * proofCharsMax)
    if (text !== undefined) return text
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`--proof: ${path} is too large for a proof`)
  }
  throw new UsageError(`--proof: there is no file ${path}`)
}

async function verdictOfFolder(
  folder: string,
  cids: readonly string[],
  trusted: ReadonlySet<string>,
): Promise<Verdict> {
  const { provenByChain } = await import('../ledgers/sandbox/chain-reader.ts')
  try {
    const proof = await provenByChain(folder, cids, cidProfile)
    if (proof) return checkProof(proof, { cids, trustedKeys: trusted })
    return { is: 'not_found', reason: `${cids[0]} is not on the ledger in ${folder}` }
  } catch (error) {
    if (error instanceof LedgerUnreachable) return { is: 'unreachable', reason: error.message }
    throw error
  }
}

function bodyOf(verdict: Verdict): Readonly<Record<string, unknown>> {
  if ('reason' in verdict) return { result: verdict.is, reason: verdict.reason }
  const { cid, timeUs, network, height, txHash, keyId } = verdict
  const time = formatUs(timeUs)
  return { result: verdict.is, cid, time, network, height, tx_hash: txHash, key_id: keyId }
}
