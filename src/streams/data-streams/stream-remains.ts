import { setTimeout as sleep } from 'node:timers/promises'
import type { AgeClock } from '../../core/age-clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import {
  addMissingCounters,
  departedIds,
  removeFromState,
  withNote,
  withoutStream,
} from './stream-rows.ts'

/** How long it is known that a stream was removed. */
const rememberedUs = 30 * 24 * 3_600 * 1_000_000

/** The first pass does not get in the way of a start, and what comes later is little. */
const firstMs = 5_000
const everyMs = 3_600_000

/** Notes that go at once. */
const notesPerStatement = 5_000

/** Streams that are looked at together. */
const streamsPerLook = 500

/** Between two looks: whoever decides, stores or changes something goes first. */
const restMs = 50

export interface StreamRemainsNeeds {
  readonly state: StateDatabase
  readonly store: Pick<TimeSeriesStore, 'counts' | 'latest' | 'removeStreams' | 'streamIds'>
  readonly clock: Clock
  readonly ages: AgeClock
  /** Removes what is left of those who had streams. */
  readonly removeOwners: () => Promise<void>
  /** Drops what is remembered of streams that nobody will meet again. */
  readonly forget: (streamIds: readonly string[]) => void
  /** Lets work be done that must not happen during a backup; undefined when it was not. */
  readonly pass: <Result>(work: () => Promise<Result>) => Promise<Result | undefined>
  readonly logger: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
    error(facts: object, message: string): void
  }
}

/**
 * Removes what is left of streams that left long ago: the note of their end, what an earlier version has kept of
 * them, and what somebody has written about them who had not heard of their end. A stream has a row before
 * anything else names it, and loses it for good: what the state has beside, and is not about to be removed, is nobody's.
 *
 * The store is another file. Readings of streams that the state says nothing of stay there, because the state may be
 * another one than that which they belong to: the right one may come back.
 */
export class StreamRemains {
  readonly #needs: StreamRemainsNeeds
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(needs: StreamRemainsNeeds) {
    this.#needs = needs
  }

  /** Looks now and then from now on. */
  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Goes through everything once. What a backup keeps from being removed stays until the next time. */
  async removeAll(): Promise<void> {
    const { state, store, clock, ages, removeOwners, forget, pass, logger } = this.#needs
    let [streams, unknown] = [0, 0]
    const inState = async (departed: readonly string[]) => {
      await removeFromState(state, departed, clock.nowUs())
      forget(departed)
      streams += departed.length
    }
    const inStore = async (without: readonly string[]) => {
      const departed = await withoutReadingsOfOthers(this.#needs, without)
      unknown += without.length - departed.length
      if (departed.length === 0) return
      const counted = departed.map((streamId) => ({ streamId, ...store.counts(streamId) }))
      await addMissingCounters(state, counted)
      await store.removeStreams(departed)
      await inState(departed)
    }
    const ids = store.streamIds()
    for (let from = 0; from < ids.length && (await this.#goesOn()); from += streamsPerLook) {
      const some = ids.slice(from, from + streamsPerLook)
      await pass(async () => await inStore(await withoutStream(state, some)))
    }
    for await (const departed of departedIds(state)) {
      if (!(await this.#goesOn())) return
      await pass(async () => await inState(departed))
    }
    // Last, as they say which streams this state has had.
    while ((await removeNotes(state, ages.nowUs() - rememberedUs)) && (await this.#goesOn()));
    if (this.#stopping.signal.aborted) return
    await removeOwners()
    if (unknown > 0)
      logger.warn({ streams: unknown }, 'readings of streams that the state does not know are kept')
    if (streams > 0) logger.info({ streams }, 'remains of streams that are gone are removed')
  }

  /** Rests between two looks. Resolves with whether another one is to come. */
  async #goesOn(): Promise<boolean> {
    const { signal } = this.#stopping
    await sleep(restMs, undefined, { signal }).catch(() => undefined)
    return !signal.aborted
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    let restedMs = firstMs
    while (!signal.aborted) {
      await sleep(restedMs, undefined, { signal, ref: false }).catch(() => undefined)
      restedMs = everyMs
      if (signal.aborted) return
      await this.removeAll().catch((error: unknown) => {
        if (signal.aborted) return
        this.#needs.logger.error({ err: error }, 'remains of streams could not be removed')
      })
    }
  }
}

/** A page of newest readings: only whose they are is looked at. */
const latestBytesMax = 1_000_000

/** Picks, of streams that have no row, those whose end is known, and those that have no reading. */
async function withoutReadingsOfOthers(
  { state, store }: Pick<StreamRemainsNeeds, 'state' | 'store'>,
  streamIds: readonly string[],
): Promise<readonly string[]> {
  const ended = new Set(await withNote(state, streamIds))
  let left = streamIds.filter((id) => !ended.has(id))
  const withReadings = new Set<string>()
  while (left.length > 0) {
    const page = await store.latest({ streamIds: left, bytesMax: latestBytesMax })
    for (const { streamId } of page.readings) withReadings.add(streamId)
    left = left.slice(page.covered)
  }
  return streamIds.filter((id) => !withReadings.has(id))
}

/** Removes some notes of streams that were removed before a time. Resolves with whether there may be more. */
async function removeNotes(state: StateDatabase, beforeUs: number): Promise<boolean> {
  const { numDeletedRows } = await state
    .deleteFrom('data_stream_deletions')
    .where('stream_id', 'in', (notes) =>
      notes
        .selectFrom('data_stream_deletions')
        .select('stream_id')
        .where('removed_at', '<', beforeUs)
        .limit(notesPerStatement),
    )
    .executeTakeFirst()
  return Number(numDeletedRows) === notesPerStatement
}
