import { decode, deriveAddress, hashes, verifySignature } from 'xrpl'
import type { Account } from './apply.ts'
import { malformedAsset } from './assets.ts'

/** A transaction as its bytes say it, by the real codec. */
export interface ReadBlob {
  readonly text: string
  readonly hash: string
  readonly account: string
  readonly sequence: number
  /** Drops. */
  readonly fee: bigint
  readonly last: number | undefined
  readonly said: Readonly<Record<string, unknown>>
}

/** What a network wants. */
export interface Rules {
  readonly networkId: number
  /** Drops. */
  readonly baseFee: bigint
  readonly reserveBase: bigint
  readonly reserveEach: bigint
}

/** Undefined where nodes answer `invalidTransaction`: no transaction, or one with a signature that is wrong (https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/transaction-methods/submit#possible-errors). */
export function readBlob(text: string): ReadBlob | undefined {
  try {
    const said = decode(text)
    if (!verifySignature(text)) return undefined
    return {
      text,
      hash: hashes.hashSignedTx(text),
      account: String(said['Account']),
      sequence: Number(said['Sequence']),
      fee: BigInt(String(said['Fee'])),
      last: said['LastLedgerSequence'] as number | undefined,
      said,
    }
  } catch {
    return undefined
  }
}

interface View {
  readonly accounts: ReadonlyMap<string, Account>
  /** The index of the ledger that it is to get into. */
  readonly index: number
  readonly rules: Rules
  /** Transactions of the account that are in the queue. */
  readonly queued: number
}

/** Bytes of the URI of a token (https://xrpl.org/docs/references/protocol/transactions/types/nftokenmint#error-cases). */
const uriBytesMax = 256

/** Networks above it are named in transactions (https://xrpl.org/docs/references/protocol/transactions/common-fields#networkid-field). */
const unnamedNetworkMax = 1_024

/**
 * What stands in the way of a transaction, in the order in which rippled looks (Transactor.cpp: preflight, checkSeqProxy,
 * checkPriorTxAndLastLedger, checkFee, checkSign). Each code is described on
 * https://xrpl.org/docs/references/protocol/transactions/transaction-results, in the list of its class.
 */
export function resultOf(blob: ReadBlob, view: View): string {
  const { accounts, index, rules, queued } = view
  const problem = malformed(blob, rules)
  if (problem !== undefined) return problem
  const account = accounts.get(blob.account)
  // ter codes, terNO_ACCOUNT: "The address sending the transaction is not funded in the ledger (yet)."
  if (!account) return 'terNO_ACCOUNT'
  // tef codes, tefPAST_SEQ: "The sequence number of the transaction is lower than the current sequence number of the account". Also for the same transaction once more.
  if (blob.sequence < account.sequence) return 'tefPAST_SEQ'
  // ter codes, terPRE_SEQ: "The Sequence number of the current transaction is higher than the current sequence number of the account".
  if (blob.sequence > account.sequence + queued) return 'terPRE_SEQ'
  // tef codes, tefMAX_LEDGER: "The current ledger sequence is higher than the transaction's LastLedgerSequence".
  if (blob.last !== undefined && index > blob.last) return 'tefMAX_LEDGER'
  // tel codes, telINSUF_FEE_P: "The fee from the transaction is not high enough to meet the server's current transaction cost requirement".
  if (blob.fee < rules.baseFee) return 'telINSUF_FEE_P'
  // ter codes, terINSUF_FEE_B: "The account sending the transaction does not have enough XRP to pay the Fee".
  if (account.balance < blob.fee) return 'terINSUF_FEE_B'
  // tef codes, tefBAD_AUTH: "The key used to sign this account is not authorized to modify this account."
  if (deriveAddress(String(blob.said['SigningPubKey'])) !== blob.account) return 'tefBAD_AUTH'
  return 'tesSUCCESS'
}

/** What is wrong with it, whatever is on the ledger. */
function malformed({ said }: ReadBlob, { networkId }: Rules): string | undefined {
  const isNamed = said['NetworkID'] !== undefined
  // tel codes: telNETWORK_ID_MAKES_TX_NON_CANONICAL, telREQUIRES_NETWORK_ID and telWRONG_NETWORK, by the id of the network.
  if (networkId <= unnamedNetworkMax && isNamed) return 'telNETWORK_ID_MAKES_TX_NON_CANONICAL'
  if (networkId > unnamedNetworkMax && !isNamed) return 'telREQUIRES_NETWORK_ID'
  if (isNamed && said['NetworkID'] !== networkId) return 'telWRONG_NETWORK'
  const uri = said['URI']
  // NFTokenMint, "Error Cases": temMALFORMED where the URI is empty, or longer than 256 bytes.
  if (typeof uri === 'string' && (uri === '' || uri.length > 2 * uriBytesMax)) return 'temMALFORMED'
  // tem codes, temREDUNDANT: "The transaction would do nothing; for example, it is sending a payment directly to the sending account".
  const isToItself =
    said['TransactionType'] === 'Payment' && said['Destination'] === said['Account']
  return isToItself ? 'temREDUNDANT' : malformedAsset(said)
}
