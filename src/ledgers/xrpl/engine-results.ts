/** What a code means that a node gives a transaction which it is sent (`engine_result`), or that is in a validated ledger. */
export type ResultMeaning =
  /** It has it, and may put it into a ledger, whatever becomes of it there. */
  | 'taken'
  /** One before it is missing, or too many of the account wait. */
  | 'early'
  /** Nobody would take it: it is malformed. */
  | 'malformed'
  /** Nothing is said about what is on the ledger: that has to be looked at. */
  | 'unclear'

/** Codes of malformed transactions that say something about the network instead (https://xrpl.org/docs/references/protocol/transactions/transaction-results/tem-codes). */
const passing = ['temDISABLED', 'temUNKNOWN', 'temUNCERTAIN', 'temBAD_FEE']

/**
 * Codes are in classes by how they begin (https://xrpl.org/docs/references/protocol/transactions/transaction-results): `tes` and
 * `tec` get into a ledger, `ter` may later, `tel` and `tef` do not with this node, as it is now. Only `tem` is about the transaction alone.
 */
export function meaningOf(code: string): ResultMeaning {
  if (code === 'tesSUCCESS' || code === 'terQUEUED' || code.startsWith('tec')) return 'taken'
  if (code === 'terPRE_SEQ' || code.startsWith('telCAN_NOT_QUEUE')) return 'early'
  return code.startsWith('tem') && !passing.includes(code) ? 'malformed' : 'unclear'
}

/**
 * Whether a validated transaction has done what it is for. Who authorizes an asset a second time is told that it is there
 * (tecDUPLICATE: https://xrpl.org/docs/references/protocol/transactions/transaction-results/tec-codes): all that was wanted.
 */
export function isDone(code: string, transactionType: unknown): boolean {
  return (
    code === 'tesSUCCESS' || (code === 'tecDUPLICATE' && transactionType === 'MPTokenAuthorize')
  )
}
