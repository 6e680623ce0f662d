import { api } from '../api/client.ts'
import type { Target } from './targets.ts'

/** An entry that stays, and why. */
export interface Staying {
  readonly streamId: string
  readonly streamName: string
  readonly id: number
  readonly reason: string
  readonly message: string
}

export interface Judged {
  readonly redriven: number
  readonly accepted: number
  readonly remaining: number
  readonly stillRefused: readonly Staying[]
}

export interface Progress {
  /** Portions that are done, of all. */
  readonly done: number
  readonly of: number
  /** The stream that it is at. */
  readonly name: string
  /** Entries that have left it, where they can be counted while it goes on. */
  readonly left: number | undefined
}

export interface Judging {
  readonly targets: readonly Target[]
  /** By a draft of the definition, where there is one; a redrive is by the definition as it is. */
  readonly changeOf?: (streamId: string) => Readonly<Record<string, unknown>> | undefined
  readonly onProgress: (progress: Progress) => void
}

/** How often it is counted what has left a quarantine meanwhile. */
const countEveryMs = 1_000

/** Judges entries again: what fits leaves the quarantine. @throws ApiFailure; what was judged by then stays judged */
export async function redriveAll({ targets, onProgress }: Judging): Promise<Judged> {
  return await eachOf({ targets, onProgress }, async (target, progress) => {
    const { streamId, ids, reason, start, entries } = target
    const stop =
      ids === undefined && entries !== undefined ? follow(target, progress) : () => undefined
    try {
      const body = { ids, reason, start }
      return await api.call('redriveQuarantine', { path: { streamId }, body })
    } finally {
      stop()
    }
  })
}

/** Says what a redrive would do. Changes nothing. @throws ApiFailure */
export async function tryAll({ targets, changeOf, onProgress }: Judging): Promise<Judged> {
  return await eachOf({ targets, onProgress }, async ({ streamId, ids, reason, start }) => {
    const definition = changeOf?.(streamId)
    const body = { ids, reason, start, definition }
    return await api.call('tryQuarantine', { path: { streamId }, body })
  })
}

/** Deletes entries; says how many there were. @throws ApiFailure */
export async function clearAll(targets: readonly Target[]): Promise<number> {
  let deleted = 0
  for (const { streamId, ids, reason, start } of targets) {
    const query = { ids: ids?.join(','), reason, start }
    const { headers } = await api.callRaw('clearQuarantine', { path: { streamId }, query })
    deleted += Number(headers.get('x-deleted-count') ?? 0)
  }
  return deleted
}

async function eachOf(
  { targets, onProgress }: Judging,
  judge: (
    target: Target,
    progress: (left: number) => void,
  ) => Promise<
    Omit<Judged, 'stillRefused'> & {
      readonly stillRefused: readonly Omit<Staying, 'streamId' | 'streamName'>[]
    }
  >,
): Promise<Judged> {
  const sum = { redriven: 0, accepted: 0, remaining: 0 }
  const stillRefused: Staying[] = []
  for (const [done, target] of targets.entries()) {
    const { streamId, name } = target
    const told = { done, of: targets.length, name }
    onProgress({ ...told, left: undefined })
    const one = await judge(target, (left) => onProgress({ ...told, left }))
    sum.redriven += one.redriven
    sum.accepted += one.accepted
    sum.remaining += one.remaining
    for (const { id, reason, message } of one.stillRefused) {
      stillRefused.push({ streamId, streamName: name, id, reason, message })
    }
  }
  return { ...sum, stillRefused }
}

/** Counts what is left of a stream now and then, while its entries are judged. */
function follow(target: Target, onLeft: (left: number) => void): () => void {
  const abort = new AbortController()
  const timer = setInterval(() => {
    // It is only for show: the answer of the redrive itself is what counts.
    if (!document.hidden) leftOf(target, abort.signal).then(onLeft, () => undefined)
  }, countEveryMs)
  return () => {
    abort.abort()
    clearInterval(timer)
  }
}

async function leftOf({ streamId, reason, entries = 0 }: Target, signal: AbortSignal) {
  const { reasons } = await api.call('summarizeQuarantine', { path: { streamId }, signal })
  const now = reasons.filter((one) => reason === undefined || one.reason === reason)
  return entries - now.reduce((sum, one) => sum + one.entries, 0)
}
