import { createHash } from 'node:crypto'
import { decodeAccountID } from 'xrpl'

/** What an account has of assets (multi-purpose tokens). */
export interface Assets {
  /** What it has issued. */
  readonly issued: readonly Issuance[]
  /** By their ids, what it holds of those of others. */
  readonly held: ReadonlyMap<string, bigint>
}

interface Issuance {
  readonly id: string
  readonly maximum: bigint
  /** What is with others. */
  readonly outstanding: bigint
  /** As it is on the ledger. */
  readonly fields: Fields
}

type Fields = Readonly<Record<string, unknown>>

interface Owner extends Assets {
  readonly address: string
}

/** What becomes of the accounts by a transaction, before anybody asks for a reserve. */
export interface AssetChanges {
  readonly sender: Partial<Assets>
  readonly receiver?: Partial<Assets>
  readonly nodes: readonly object[]
  /** Things that an account may own without a reserve. */
  readonly unreserved: number
}

const amountMax = 2n ** 63n - 1n

/** Bytes (https://xrpl.org/docs/references/protocol/transactions/types/mptokenissuancecreate). */
const metadataMax = 1_024

/** All flags of the same page. */
const issuanceFlags = 0x7e

/** It needs no reserve for its first two things, if this is one (MPTokenAuthorize.cpp, authorize). */
const unreservedHeld = 2

export function isOfAsset({ TransactionType: type, Amount: amount }: Fields): boolean {
  const isPayment = type === 'Payment' && typeof amount === 'object'
  return isPayment || type === 'MPTokenIssuanceCreate' || type === 'MPTokenAuthorize'
}

/** What stands in the way of a transaction of an asset, whatever is on the ledger (preflight of the file of its type, in rippled). */
export function malformedAsset(said: Fields): string | undefined {
  const { TransactionType: type, Flags: flags = 0, MPTokenMetadata: metadata } = said
  if (type === 'MPTokenAuthorize') {
    // MPTokenAuthorize.cpp: temMALFORMED where the holder is the sender, temINVALID_FLAG for others than tfMPTUnauthorize.
    if (said['Holder'] === said['Account']) return 'temMALFORMED'
    return Number(flags) > 1 ? 'temINVALID_FLAG' : undefined
  }
  if (type === 'Payment' && isOfAsset(said)) {
    // Payment.cpp: temBAD_AMOUNT for nothing, and temMALFORMED with paths.
    if (amountOf(said) <= 0n) return 'temBAD_AMOUNT'
    return said['Paths'] === undefined ? undefined : 'temMALFORMED'
  }
  if (type !== 'MPTokenIssuanceCreate') return undefined
  // MPTokenIssuanceCreate.cpp: temINVALID_FLAG for other flags, temMALFORMED for metadata and amounts out of their ranges.
  if ((Number(flags) & ~issuanceFlags) !== 0) return 'temINVALID_FLAG'
  const bytes = typeof metadata === 'string' ? metadata.length / 2 : 1
  const maximum = maximumOf(said)
  const isRight = bytes > 0 && bytes <= metadataMax && maximum > 0n && maximum <= amountMax
  return isRight ? undefined : 'temMALFORMED'
}

/** What it changes, or the code of why it does not: `preclaim` and `doApply` of the file of its type, in rippled. */
export function assetChanges(
  accounts: ReadonlyMap<string, Owner>,
  sender: Owner,
  said: Fields,
): AssetChanges | string {
  if (said['TransactionType'] === 'MPTokenIssuanceCreate') return issued(sender, said)
  if (said['TransactionType'] === 'MPTokenAuthorize') return authorized(accounts, sender, said)
  return paid(accounts, sender, said)
}

/** https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/mptokenissuance#mptokenissuanceid */
export function issuanceIdOf(account: string, sequence: number): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(sequence)
  return hexOf(Buffer.concat([bytes, decodeAccountID(account)]))
}

function issued(sender: Owner, said: Fields): AssetChanges {
  const { Sequence: sequence, Flags, AssetScale, MaximumAmount, MPTokenMetadata } = said
  const id = issuanceIdOf(sender.address, Number(sequence))
  const fields = {
    Issuer: sender.address,
    Sequence: sequence,
    Flags,
    MaximumAmount,
    MPTokenMetadata,
    // What is 0 is left out.
    ...(AssetScale !== 0 && { AssetScale }),
  }
  const maximum = maximumOf(said)
  const node = { LedgerEntryType: 'MPTokenIssuance', LedgerIndex: issuanceIndex(id) }
  return {
    sender: { issued: [...sender.issued, { id, maximum, outstanding: 0n, fields }] },
    nodes: [{ CreatedNode: { ...node, NewFields: fields } }],
    unreserved: 0,
  }
}

/** A holder says that it wants it, or does not any more. */
function authorized(
  accounts: ReadonlyMap<string, Owner>,
  sender: Owner,
  said: Fields,
): AssetChanges | string {
  const id = String(said['MPTokenIssuanceID'])
  const held = new Map(sender.held)
  const { address } = sender
  const place = { LedgerEntryType: 'MPToken', LedgerIndex: heldIndex(id, address) }
  const fields = { Account: address, MPTokenIssuanceID: id }
  if (said['Flags'] === 1) {
    // tec codes, tecOBJECT_NOT_FOUND and tecHAS_OBLIGATIONS: MPTokenAuthorize.cpp, of who holds nothing, or something.
    if (!held.delete(id)) return 'tecOBJECT_NOT_FOUND'
    if (sender.held.get(id) !== 0n) return 'tecHAS_OBLIGATIONS'
    const node = { DeletedNode: { ...place, FinalFields: { ...fields, Flags: 0 } } }
    return { sender: { held }, nodes: [node], unreserved: 0 }
  }
  const issuer = issuerOf(accounts, id)
  // tec codes, tecOBJECT_NOT_FOUND: "One of the objects specified by this transaction did not exist in the ledger."
  if (!issuer) return 'tecOBJECT_NOT_FOUND'
  // MPTokenAuthorize.cpp: tecNO_PERMISSION for the issuer, who cannot hold it.
  if (issuer.address === address) return 'tecNO_PERMISSION'
  // tec codes, tecDUPLICATE: "The transaction tried to create an object that already exists."
  if (held.has(id)) return 'tecDUPLICATE'
  held.set(id, 0n)
  const node = { CreatedNode: { ...place, NewFields: fields } }
  return { sender: { held }, nodes: [node], unreserved: unreservedHeld }
}

/** From its issuer: others do not send any here. */
function paid(
  accounts: ReadonlyMap<string, Owner>,
  sender: Owner,
  said: Fields,
): AssetChanges | string {
  const { mpt_issuance_id: id = '' } = said['Amount'] as { readonly mpt_issuance_id?: string }
  const amount = amountOf(said)
  const destination = accounts.get(String(said['Destination']))
  // tec codes, tecNO_DST: "The account on the receiving end of the transaction does not exist."
  if (!destination) return 'tecNO_DST'
  const issuer = issuerOf(accounts, id)
  // View.cpp, requireAuth: tecOBJECT_NOT_FOUND without an issuance, tecNO_AUTH for who has not asked for it.
  if (!issuer) return 'tecOBJECT_NOT_FOUND'
  const before = destination.held.get(id)
  if (before === undefined || issuer.address !== sender.address) return 'tecNO_AUTH'
  const issuance = issuer.issued.find((one) => one.id === id) as Issuance
  const outstanding = issuance.outstanding + amount
  // View.cpp, rippleSendMPT: more than the maximum is tecPATH_DRY, of which Payment.cpp makes tecPATH_PARTIAL.
  if (outstanding > issuance.maximum) return 'tecPATH_PARTIAL'
  const { address } = destination
  const fields = { Account: address, MPTokenIssuanceID: id, Flags: 0 }
  return {
    sender: {
      issued: sender.issued.map((one) => (one.id === id ? { ...one, outstanding } : one)),
    },
    receiver: { held: new Map(destination.held).set(id, before + amount) },
    nodes: [
      {
        ModifiedNode: {
          LedgerEntryType: 'MPTokenIssuance',
          LedgerIndex: issuanceIndex(id),
          FinalFields: { ...issuance.fields, OutstandingAmount: `${outstanding}` },
          PreviousFields: { OutstandingAmount: `${issuance.outstanding}` },
        },
      },
      {
        ModifiedNode: {
          LedgerEntryType: 'MPToken',
          LedgerIndex: heldIndex(id, address),
          FinalFields: { ...fields, MPTAmount: `${before + amount}` },
          PreviousFields: before === 0n ? {} : { MPTAmount: `${before}` },
        },
      },
    ],
    unreserved: 0,
  }
}

function maximumOf({ MaximumAmount: maximum }: Fields): bigint {
  return typeof maximum === 'string' ? BigInt(maximum) : amountMax
}

function issuerOf(accounts: ReadonlyMap<string, Owner>, id: string): Owner | undefined {
  return [...accounts.values()].find((one) => one.issued.some((issuance) => issuance.id === id))
}

function amountOf({ Amount: amount }: Fields): bigint {
  return BigInt((amount as { readonly value: string }).value)
}

/** https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/mptokenissuance */
function issuanceIndex(id: string): string {
  return sha512Half(`007E${id}`)
}

/** https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/mptoken#mptoken-id-format */
function heldIndex(id: string, holder: string): string {
  return sha512Half(`0074${id}${hexOf(decodeAccountID(holder))}`)
}

function sha512Half(hex: string): string {
  return hexOf(createHash('sha512').update(Buffer.from(hex, 'hex')).digest().subarray(0, 32))
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').toUpperCase()
}
