import { decodeAccountID, type TransactionMetadata } from 'xrpl'
import { type Deed, type IssuedAsset, LedgerUnreachable } from '../ledger.ts'
import { countOf, type Members, membersOf, textOf } from './answers.ts'

/** Holders may give it to others, and trade it where the network has that: neither can be allowed later (https://xrpl.org/docs/references/protocol/transactions/types/mptokenissuancecreate#mptokenissuancecreate-flags). */
const tfMPTCanTrade = 0x10
const tfMPTCanTransfer = 0x20

/** A sequence of 4 bytes, and the account of 20 (https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/mptokenissuance#mptokenissuanceid). */
const issuanceId = /^[\dA-F]{48}$/

/** Why no node would ever take a deed of an asset; undefined when nothing is wrong with it. */
export function problemOfAsset({ kind, asset }: Deed): string | undefined {
  if (kind === 'token') return 'XRPL has no single transaction for an asset'
  if (!asset) return `${kind}: there is no asset that it is of`
  if (kind === 'issuance' || issuanceId.test(asset.tokenId ?? '')) return undefined
  return `${kind}: the asset has no id of the network`
}

/**
 * What the transactions of an asset say, by the kind of their deed: each has its page below
 * https://xrpl.org/docs/references/protocol/transactions/types (mptokenissuancecreate, mptokenauthorize, payment).
 */
export function assetFields({ kind, asset }: Deed, distributor: string): object {
  const { amount, precision, tokenId } = asset as IssuedAsset
  if (kind === 'issuance') {
    return {
      TransactionType: 'MPTokenIssuanceCreate',
      Flags: tfMPTCanTrade | tfMPTCanTransfer,
      AssetScale: precision,
      // A second payment fails with tecPATH_PARTIAL: no more than this can be with others.
      MaximumAmount: amount,
      MPTokenMetadata: hexOf(metadataOf(asset as IssuedAsset)),
    }
  }
  if (kind === 'authorization') {
    // By a holder for himself there is no field Holder.
    return { TransactionType: 'MPTokenAuthorize', MPTokenIssuanceID: tokenId }
  }
  return {
    TransactionType: 'Payment',
    Destination: distributor,
    Amount: { mpt_issuance_id: tokenId, value: amount },
  }
}

/**
 * What wallets show of it, under the short names of XLS-89: 1,024 bytes at most, and far fewer with a code of 20 characters. There is
 * no icon, which the standard asks for as well; nodes take anything (https://xrpl.org/docs/concepts/tokens/fungible-tokens/multi-purpose-tokens#on-chain-metadata).
 */
function metadataOf({ code, streamId }: IssuedAsset): string {
  return JSON.stringify({
    t: code,
    n: code,
    ac: 'other',
    in: 'Streamvault',
    ai: { stream: streamId },
  })
}

/**
 * What the network calls an asset whose issuance is validated: it follows from the transaction, and what was made must say so too.
 * Nodes add it to metadata that are no binary (https://xrpl.org/docs/references/protocol/transactions/metadata#synthetic-mpt_issuance_id-field).
 *
 * @throws LedgerUnreachable when something else is said
 */
export function issuanceIdIn(transaction: Members, meta: TransactionMetadata): string {
  const id = issuanceIdOf(transaction)
  const said = [...issuancesIn(meta), membersOf(meta)['mpt_issuance_id'] ?? id]
  if (said.every((one) => one === id)) return id
  throw new LedgerUnreachable('the node says of an asset that it has another id')
}

/** Ids of what the transaction has made: the entry says of which account and sequence it is. */
function issuancesIn({ AffectedNodes: nodes }: TransactionMetadata): readonly string[] {
  return nodes.flatMap((node) => {
    if (!('CreatedNode' in node)) return []
    const { LedgerEntryType: type, NewFields: made } = node.CreatedNode
    if (type !== 'MPTokenIssuance') return []
    return [issuanceIdOf({ Account: made['Issuer'], Sequence: made['Sequence'] })]
  })
}

function issuanceIdOf({ Account: account, Sequence: sequence }: Members): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(countOf(sequence))
  return Buffer.concat([bytes, decodeAccountID(textOf(account))])
    .toString('hex')
    .toUpperCase()
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex').toUpperCase()
}
