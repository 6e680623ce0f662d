import { statSync } from 'node:fs'
import { formatUs } from '../core/time.ts'
import { cidProfile } from '../files/content/content.ts'
import { LedgerUnreachable } from '../ledgers/ledger.ts'
import { checkProof, checkProofText, type Verdict } from '../ledgers/proofs/check-proof.ts'
import { parseCid } from '../ledgers/proofs/content-id.ts'
import { inWords } from '../ledgers/proofs/in-words.ts'
import { proofCharsMax } from '../ledgers/proofs/parse-proof.ts'
import { rankOf } from '../ledgers/seals/check-receipt.ts'
import { receiptCharsMax } from '../ledgers/seals/parse-receipt.ts'
import { isSignatureProof } from '../ledgers/signatures/check-signature-proof.ts'
import { textOfFile } from './bounded-file.ts'
import { cidsOf } from './cids-of.ts'
import { type Command, type Input, type Outcome, UsageError } from './command.ts'
import { dataDirOption, ledgerFolderOf } from './ledger-folder.ts'
import { shownReceipt } from './shown-receipt.ts'
import { shownSignature } from './signed-content.ts'
import { keyOption, keysIn, trustedKeys } from './trusted-keys.ts'

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
  summary: 'Check offline what is proven of a file, a folder, a CID or a reading.',
  description:
    'The command hashes FILE. A folder is one that an archive was made of. A CID is accepted as that of the bytes. The proof ' +
    'is the answer of GET .../proof. Without a proof, the command looks into the ledger in the data folder.\n' +
    'The result shows that these bytes existed at a time, under a key. It does not show who made them, that they are true, ' +
    'or that no one had them before. A proof has its key in it: without a key that you give or pin, it is proven under that ' +
    'key only, and the exit code is never 0.\n' +
    'With --receipt the command checks readings in place of FILE: that each one is in its seal, and the seal on a ledger. ' +
    'The exit code is that of the worst reading; readings that were not stored count only if no other reading is there.',
  operands: [
    { name: 'FILE', isOptional: true, summary: 'A file, a folder, or a CID (CIDv1 in base32).' },
  ],
  options: [
    { name: 'proof', value: 'FILE', summary: 'The proof, as JSON.' },
    {
      name: 'signature',
      value: 'FILE',
      summary:
        'The proof of a signature of FILE: the answer of GET .../signatures/{id}/proof. It can also stand alone, instead of FILE.',
    },
    {
      name: 'receipt',
      value: 'FILE',
      summary:
        'A receipt of readings: the answer of GET /streams/{id}/receipts. It can also be one proof of GET /streams/{id}/seals.',
    },
    {
      name: 'signing-keys',
      value: 'FILE',
      summary:
        'The keys of the service for content: /.well-known/signing-keys.json from a place that you trust.',
    },
    keyOption,
    dataDirOption,
  ],
  exitCodes:
    '0 is proven. Beyond that: 3 proven under a key that you have not given or pinned, 4 not found, ' +
    '5 contradicted, 6 ledger not reached.',
  async run(input) {
    const trusted = trustedKeys(input)
    const { options } = input
    if (options['receipt'] !== undefined) {
      return await receiptResult(input, options['receipt'], trusted)
    }
    const proofPath = options['proof']
    const file = input.operands['FILE'] ?? ''
    if (file === '') throw new UsageError('FILE is needed, or --receipt FILE')
    const signing = options['signing-keys']
    const serviceKeys =
      signing === undefined ? undefined : keysIn(signing, '--signing-keys', 'content')
    const signaturePath =
      options['signature'] ?? (proofPath === undefined ? signatureIn(file) : undefined)
    if (signaturePath !== undefined) {
      return await signatureResult({ input, signaturePath, trusted, serviceKeys })
    }
    const proof = proofPath === undefined ? undefined : proofIn(proofPath, '--proof')
    const cids = await cidsNamed(file)
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

interface SignatureInput {
  readonly input: Input
  readonly signaturePath: string
  readonly trusted: ReadonlySet<string>
  readonly serviceKeys: ReadonlySet<string> | undefined
}

/** Who has signed: of the content that is named, with its proof if there is one, or of all that the signature is of. */
async function signatureResult({
  input: { operands, options },
  signaturePath,
  trusted,
  serviceKeys,
}: SignatureInput): Promise<Outcome> {
  const file = operands['FILE'] ?? ''
  const cids = options['signature'] === undefined ? undefined : await cidsNamed(file)
  const question = { trustedKeys: trusted, ...(cids && { contentCids: cids }) }
  const text = proofIn(signaturePath, '--signature')
  const { verdict, json, says } = await shownSignature(text, question, serviceKeys)
  const proofPath = options['proof']
  const content =
    cids && proofPath !== undefined
      ? checkProofText(proofIn(proofPath, '--proof'), { cids, trustedKeys: trusted })
      : undefined
  const { result, limits } = inWords(content ?? verdict)
  const worst = content && rankOf(content) > rankOf(verdict) ? content : verdict
  const lines = [says, ...(content ? [result] : [])].map((line) => `${line}.`)
  return {
    json: {
      ...bodyOf(worst),
      ...(cids && { cids }),
      ...(content && { content: bodyOf(content) }),
      ...(json && { signature: json }),
      says: lines.join(' '),
      limits,
    },
    text: [...lines, ...(limits === '' ? [] : [limits])].join('\n'),
    exitCode: codes[worst.is],
  }
}

/** What is shown of readings, a line or two for each. */
async function receiptResult(
  { operands, options }: Input,
  path: string,
  trusted: ReadonlySet<string>,
): Promise<Outcome> {
  const besides = ['proof', 'signature', 'signing-keys', 'data-dir'].filter(
    (name) => options[name] !== undefined,
  )
  if (operands['FILE'] !== '' || besides.length > 0) {
    throw new UsageError('--receipt goes without FILE, and with --key alone')
  }
  const text = textIn(path, { option: '--receipt', what: 'a receipt', bytesMax: receiptCharsMax })
  const { verdict, json, lines, limits } = await shownReceipt(text, trusted, bodyOf)
  return {
    json: { ...bodyOf(verdict), readings: json, says: lines.join('\n'), limits },
    text: [...lines, ...(limits === '' ? [] : [limits])].join('\n'),
    exitCode: codes[verdict.is],
  }
}

/** The path of a file that is the proof of a signature by itself. */
function signatureIn(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  try {
    const text = textOfFile(path, 4 * proofCharsMax)
    return text !== undefined && isSignatureProof(text) ? path : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
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
function proofIn(path: string, option: string): string {
  // UTF-8 has four bytes a character at most; what is longer is refused by its length.
  return textIn(path, { option, what: 'a proof', bytesMax: 4 * proofCharsMax })
}

interface WantedText {
  readonly option: string
  readonly what: string
  readonly bytesMax: number
}

function textIn(path: string, { option, what, bytesMax }: WantedText): string {
  try {
    const text = textOfFile(path, bytesMax)
    if (text !== undefined) return text
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`${option}: ${path} is too large for ${what}`)
  }
  throw new UsageError(`${option}: there is no file ${path}`)
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
