import { createHash } from 'node:crypto'
import {
  decode,
  deriveAddress,
  encode,
  encodeForSigning,
  hashes,
  type NFTokenMint,
  type SubmittableTransaction,
} from 'xrpl'
import type { Deed, SignedTransaction } from '../ledger.ts'
import type { Signer } from '../signer.ts'
import { assetFields, problemOfAsset } from './asset-transactions.ts'
import { derOf } from './der-signature.ts'
import { memoOf, saidByMemos } from './memos.ts'

/** Terms that a transaction is signed under. */
export interface XrplTerms {
  /** Drops. */
  readonly fee: bigint
  /** The last ledger that it may be in (`LastLedgerSequence`). */
  readonly last: number
}

export function termsText({ fee, last }: XrplTerms): string {
  return JSON.stringify({ fee: `${fee}`, last })
}

/** @throws SyntaxError or TypeError when it is no text of `termsText` */
export function termsOf(text: string): XrplTerms {
  const { fee, last } = JSON.parse(text) as { readonly fee: string; readonly last: number }
  return { fee: BigInt(fee), last }
}

/** Bytes of the URI of a token: nodes answer temMALFORMED to more, and the library signs it (https://xrpl.org/docs/references/protocol/transactions/types/nftokenmint). */
const uriBytesMax = 256

/** Its owner may give it to others (https://xrpl.org/docs/references/protocol/transactions/types/nftokenmint#nftokenmint-flags). */
const tfTransferable = 8

/** All tokens of an account are of one kind. */
const taxon = 0

/** Networks up to this id know transactions of each other apart by their accounts, and refuse the field (https://xrpl.org/docs/references/protocol/transactions/common-fields#networkid-field). */
const unnamedNetworkMax = 1_024

/** Deeds that change nothing but the ledger's knowledge of a root. */
const plainKinds: readonly Deed['kind'][] = ['record', 'root']

/** Why no node would ever take a deed; undefined when nothing is wrong with it. */
export function problemOfDeed(deed: Deed): string | undefined {
  const { kind, uri } = deed
  if (plainKinds.includes(kind)) return undefined
  if (kind !== 'nft') return problemOfAsset(deed)
  const bytes = Buffer.byteLength(uri ?? '')
  if (bytes > 0 && bytes <= uriBytesMax) return undefined
  return `the URI of a token has 1 to ${uriBytesMax} bytes, and this one ${bytes}`
}

/** Who signs, and where. */
export interface SigningAccount {
  readonly account: string
  /** Where assets are paid to. */
  readonly distributor: string
  readonly networkId: number
  readonly signer: Signer
}

/** Signs it. Its text is its bytes: the hash is the first half of SHA-512 over `TXN\0` and them. */
export async function signedTransaction(
  { account, distributor, networkId, signer }: SigningAccount,
  deed: Deed,
  sequence: number,
  terms: XrplTerms,
): Promise<SignedTransaction> {
  const unsigned = {
    ...fieldsOf(deed, distributor),
    Account: account,
    Sequence: sequence,
    Fee: `${terms.fee}`,
    LastLedgerSequence: terms.last,
    SigningPubKey: publicKeyText(signer),
    Memos: [memoOf(deed)],
    ...(networkId > unnamedNetworkMax && { NetworkID: networkId }),
  } as SubmittableTransaction
  const bytes = Buffer.from(encodeForSigning(unsigned), 'hex')
  const TxnSignature = await signatureOf(signer, bytes)
  const blob = encode({ ...unsigned, TxnSignature })
  return { hash: hashOf(blob), sequence, blob, text: blob, terms: termsText(terms) }
}

/** A signed transaction as it is read again. */
export interface ReadTransaction extends Omit<SignedTransaction, 'terms'> {
  readonly terms: XrplTerms
  readonly account: string
  /** As the network names it (`TransactionType`). */
  readonly type: string
  readonly networkId: number | undefined
  /** Undefined where it is none of ours. It has neither its leaves nor its asset: the ledger keeps less of them. */
  readonly deed: Deed | undefined
}

/** The transaction that a blob is; undefined where it is none. */
export function readTransaction(blob: string): ReadTransaction | undefined {
  try {
    const said = decode(blob) as Partial<NFTokenMint> & { readonly TransactionType: string }
    const { Account: account = '', Sequence: sequence = 0, Fee: fee = '0' } = said
    const { LastLedgerSequence: last = 0, NetworkID: networkId, Memos: memos = [] } = said
    const uri = said.URI ? Buffer.from(said.URI, 'hex').toString() : undefined
    const deed = saidByMemos(memos)
    return {
      hash: hashOf(blob),
      sequence,
      blob,
      text: blob,
      terms: { fee: BigInt(fee), last },
      account,
      type: said.TransactionType,
      networkId,
      deed: deed && { ...deed, leaves: [], ...(uri !== undefined && { uri }) },
    }
  } catch {
    return undefined
  }
}

/** The account of a key. */
export function addressOf(signer: Pick<Signer, 'algorithm' | 'publicKey'>): string {
  return deriveAddress(publicKeyText(signer))
}

/** A token, a step of an asset, or a change of the account that changes nothing and can be sent by nobody else. */
function fieldsOf(deed: Deed, distributor: string): object {
  const { kind, uri = '' } = deed
  if (plainKinds.includes(kind)) return { TransactionType: 'AccountSet' }
  if (kind !== 'nft') return assetFields(deed, distributor)
  return {
    TransactionType: 'NFTokenMint',
    Flags: tfTransferable,
    NFTokenTaxon: taxon,
    URI: Buffer.from(uri).toString('hex').toUpperCase(),
  }
}

/** Keys of Ed25519 have one more byte in front (https://xrpl.org/docs/concepts/accounts/cryptographic-keys#key-encoding). */
function publicKeyText({ algorithm, publicKey }: Pick<Signer, 'algorithm' | 'publicKey'>): string {
  const hex = Buffer.from(publicKey).toString('hex').toUpperCase()
  return algorithm === 'Ed25519' ? `ED${hex}` : hex
}

/** Over half of a SHA-512, as DER; by Ed25519 over the bytes themselves. */
async function signatureOf(signer: Signer, bytes: Buffer): Promise<string> {
  const isEd25519 = signer.algorithm === 'Ed25519'
  const { signature } = await signer.sign(isEd25519 ? bytes : sha512Half(bytes))
  return Buffer.from(isEd25519 ? signature : derOf(signature))
    .toString('hex')
    .toUpperCase()
}

function sha512Half(bytes: Buffer): Buffer {
  return createHash('sha512').update(bytes).digest().subarray(0, 32)
}

/** @throws Error when it is no transaction that is signed */
function hashOf(blob: string): string {
  return hashes.hashSignedTx(blob)
}
