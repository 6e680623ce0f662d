import type { Memo } from 'xrpl'
import type { Deed, DeedKind } from '../ledger.ts'

/** In front of what is anchored; only characters that are allowed in URLs (https://xrpl.org/docs/references/protocol/transactions/common-fields#memos-field). */
const typePrefix = 'streamvault/'

const format = 'application/json'

const kinds: readonly string[] = [
  'nft',
  'record',
  'root',
  'issuance',
  'authorization',
  'payment',
] satisfies readonly DeedKind[]

type SaidByMemos = Pick<Deed, 'intentId' | 'kind' | 'root'>

/** What a transaction says of its deed, on the ledger and for ever. */
export function memoOf({ kind, intentId, root }: SaidByMemos): Memo {
  return {
    Memo: {
      MemoType: hexOf(typePrefix + kind),
      MemoFormat: hexOf(format),
      MemoData: hexOf(JSON.stringify({ intent: intentId, root })),
    },
  }
}

/** Undefined where none of them is ours. Whoever sends to our account may write anything: this is for what we have signed. */
export function saidByMemos(memos: readonly Memo[]): SaidByMemos | undefined {
  for (const { Memo: memo } of memos) {
    const type = textOf(memo.MemoType)
    const kind = type.slice(typePrefix.length)
    if (!type.startsWith(typePrefix) || !kinds.includes(kind)) continue
    const said = parsed(textOf(memo.MemoData))
    if (said) return { ...said, kind: kind as DeedKind }
  }
  return undefined
}

function parsed(text: string): Omit<SaidByMemos, 'kind'> | undefined {
  try {
    const { intent, root } = JSON.parse(text) as {
      readonly intent?: unknown
      readonly root?: unknown
    }
    if (typeof intent !== 'string' || typeof root !== 'string') return undefined
    return { intentId: intent, root }
  } catch {
    return undefined
  }
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex').toUpperCase()
}

function textOf(hex = ''): string {
  return Buffer.from(hex, 'hex').toString()
}
