import { formatUs } from '../../core/time.ts'
import type { Verdict } from './check-proof.ts'

/** What a verdict means to people. */
export interface InWords {
  /** What is shown, or why nothing is. */
  readonly result: string
  /** What is not shown even so; empty where nothing is shown. */
  readonly limits: string
}

/** What the times of the sandbox are worth. */
export const sandboxLimits =
  'The sandbox is a ledger that the service runs itself: its times are as good as the word of the holder of that key.'

const limits = `It does not show who made them, that what they say is true, or that no one else had them before. ${sandboxLimits}`

const failures = {
  not_found: 'not found',
  contradicted: 'contradicted',
  unreachable: 'ledger not reached',
} as const

/** @param what what is shown to have been so by a time; that the bytes of the CID existed, unless something else is said */
export function inWords(verdict: Verdict, what?: string): InWords {
  if ('reason' in verdict) {
    return { result: `${failures[verdict.is]}: ${verdict.reason}`, limits: '' }
  }
  if (verdict.is === 'proven') {
    return {
      result: `proven: ${existed(verdict, what)}, under the key ${verdict.keyId} that you trust`,
      limits,
    }
  }
  return {
    result:
      `proven under key ${verdict.keyId}: ${existed(verdict, what)}, if that key is whose you think it is. ` +
      'Nothing but the proof says so: compare it with /.well-known/ledger-keys.json of the service',
    limits,
  }
}

function existed(
  shown: Extract<Verdict, { readonly is: 'proven' | 'proven_under_key' }>,
  what = `the bytes of ${shown.cid} existed`,
): string {
  const { timeUs, network, height } = shown
  return `${what} by ${formatUs(timeUs)}, as block ${height} of the ledger ${network} says`
}
