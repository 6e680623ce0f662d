import { setTimeout as sleep } from 'node:timers/promises'
import type { FetchingSource } from '../test/support/fetching-source.ts'

export interface Drained {
  readonly seconds: number
  readonly perSecond: number
  /** What our processor has worked, in seconds. */
  readonly busy: number
}

/** How fast readings that wait at the other side get into the journal. The source is stopped before and after it. */
export async function drained(source: FetchingSource, count: number): Promise<Drained> {
  const begunMs = performance.now()
  const before = process.cpuUsage()
  source.start()
  while ((await source.journal.status()).head < count) await sleep(10)
  const seconds = (performance.now() - begunMs) / 1_000
  const { user, system } = process.cpuUsage(before)
  await source.runner.stop()
  return { seconds, perSecond: Math.round(count / seconds), busy: (user + system) / 1e6 }
}

export function drainedText({ seconds, perSecond, busy }: Drained): string {
  const [took, used] = [seconds, busy].map((value) => value.toFixed(1))
  return `${took} s, ${perSecond.toLocaleString('en')}/s, ${used} s of our processor`
}
