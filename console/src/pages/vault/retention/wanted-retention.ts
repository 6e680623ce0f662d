import { durationMs } from '../../../formats/durations.ts'

/** How long data is kept. Null: for ever. */
export interface Kept {
  readonly raw: string | null
  readonly aggregated: string | null
}

const shortestMs = 60_000
const longestMs = 36_500 * 86_400_000

/** What a text in the form stands for; nothing is for ever. */
export function keptOf(text: string): string | null {
  const plain = text.trim()
  return plain === '' ? null : plain
}

/** What is wrong with a text in the form; undefined: nothing. */
export function problemOf(text: string): string | undefined {
  const kept = keptOf(text)
  if (kept === null) return undefined
  const ms = durationMs(kept)
  if (ms === undefined) return 'A number and s, m, h or d, such as 12h or 30d'
  return ms < shortestMs || ms > longestMs ? 'From 1m to 36500d' : undefined
}

/** Whether data goes that would have stayed. */
export function isShorter(before: string | null, after: string | null): boolean {
  if (after === null) return false
  if (before === null) return true
  return (durationMs(after) ?? 0) < (durationMs(before) ?? 0)
}

/** What is older than this goes. Undefined: nothing does. */
export function cutoffMs(kept: string | null, nowMs: number): number | undefined {
  const ms = kept === null ? undefined : durationMs(kept)
  return ms === undefined ? undefined : nowMs - ms
}
