import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import { JournalSlices } from '../../reading/live/journal-slices.ts'
import type { TailProcedures, TailThreadData } from '../../reading/live/tail-contract.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import { SqliteJournalReader } from '../../storage/journal/sqlite-journal.ts'

/** How often the journal is looked at while somebody waits: so much later they see a reading. */
const pollMs = 15

/** As often while very much comes: each look costs the readings some of their time, whoever they are of. */
const busyPollMs = 50

/** Bytes that a look brings where very much comes: a megabyte a second. */
const busyBytes = 16 * 1024

/** How long somebody waits for an answer with nothing in it. */
const waitMs = 5_000

/** Waits for entries of streams. */
class Waiters {
  readonly #byStream = new Map<string, Set<(clearUpTo: Offset | undefined) => void>>()

  get size(): number {
    return this.#byStream.size
  }

  /** The offset up to which there is no news, once there is some; undefined: none for a while. */
  async arrival(streamKey: string): Promise<Offset | undefined> {
    const { promise, resolve } = Promise.withResolvers<Offset | undefined>()
    const waiting = this.#byStream.get(streamKey) ?? new Set()
    this.#byStream.set(streamKey, waiting.add(resolve))
    const timer = setTimeout(() => resolve(undefined), waitMs)
    const clearUpTo = await promise
    clearTimeout(timer)
    waiting.delete(resolve)
    if (waiting.size === 0 && this.#byStream.get(streamKey) === waiting) {
      this.#byStream.delete(streamKey)
    }
    return clearUpTo
  }

  wake(keys: ReadonlySet<string> | 'all', clearUpTo: Offset): void {
    for (const [key, waiting] of this.#byStream) {
      if (keys !== 'all' && !keys.has(key)) continue
      for (const resolve of waiting) resolve(clearUpTo)
    }
  }
}

/**
 * Reads the journal for those who follow streams, apart from everybody who keeps and processes
 * readings. It looks at the journal only while somebody waits.
 */
function run(port: MessagePort, { journalPath }: TailThreadData): void {
  // Acknowledgements go before: who follows sees what is on disk.
  lowerThreadPriority()
  const window = new JournalSlices(new SqliteJournalReader(journalPath))
  const waiters = new Waiters()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    let bytes = 0
    // In steps, as while nobody has waited the journal may have become longer than one step.
    do {
      const clearUpTo = window.end
      waiters.wake(window.advance(), clearUpTo)
      bytes += window.advancedBytes
    } while (window.isBehind)
    return bytes
  }
  const lookNowAndThen = () => {
    const restMs = look() > busyBytes ? busyPollMs : pollMs
    timer = waiters.size > 0 ? setTimeout(lookNowAndThen, restMs) : undefined
  }
  const covers = (offset: Offset) => {
    if (offset >= window.end) look()
    return window.covers(offset)
  }
  const procedures: TailProcedures = {
    end() {
      look()
      return window.end
    },
    covers,
    async slice(request) {
      if (!covers(request.from)) return undefined
      const found = window.slice(request)
      const isAtEnd = found?.events.length === 0 && found.next === window.end
      if (!isAtEnd || request.until !== undefined) return found
      timer ??= setTimeout(lookNowAndThen, pollMs)
      const clearUpTo = await waiters.arrival(request.streamKey)
      // A tail that is not told of anything has missed nothing, however long the journal has
      // become.
      if (clearUpTo === undefined) return { events: [], next: window.end }
      return window.slice({ ...request, from: clearUpTo })
    },
  }
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as TailThreadData)
