import { uuidAt } from '../../core/ids.ts'
import { EntryReader } from '../../ingest/pipeline/entry-reader.ts'
import type { JournalBatch, Offset } from '../../storage/journal/journal.ts'

/** Received readings of each stream there is: what the decider had counted, and what was ahead of it. */
export class ReceivedCounts {
  readonly #byStream: Map<string, number>
  readonly #decider: Offset

  constructor(counted: Iterable<readonly [string, number]>, decider: Offset) {
    this.#byStream = new Map(counted)
    this.#decider = decider
  }

  get streams(): number {
    return this.#byStream.size
  }

  get total(): number {
    let total = 0
    for (const received of this.#byStream.values()) total += received
    return total
  }

  /** Counts what the decider has not. @throws EntryFormatError */
  add({ firstOffset, count, bytes }: JournalBatch): void {
    const passed = Math.max(0, this.#decider - firstOffset)
    if (passed >= count) return
    const byKey = new Map<string, number>()
    const entries = new EntryReader(bytes, passed)
    while (entries.next()) {
      if (entries.received) byKey.set(entries.streamKey, (byKey.get(entries.streamKey) ?? 0) + 1)
    }
    for (const [key, received] of byKey) {
      const id = uuidAt(Buffer.from(key, 'latin1'), 0)
      const before = this.#byStream.get(id)
      // What came of a stream that was deleted since belongs to nobody.
      if (before !== undefined) this.#byStream.set(id, before + received)
    }
  }

  /** A line of JSON for each stream, in pieces. */
  *lines(): Generator<Uint8Array> {
    let text = ''
    for (const [streamId, received] of this.#byStream) {
      text += `${JSON.stringify({ streamId, received })}\n`
      if (text.length < linesLengthMin) continue
      yield Buffer.from(text)
      text = ''
    }
    yield Buffer.from(text)
  }
}

const linesLengthMin = 256 * 1024

/** One line of the file of counts. */
export interface StreamCount {
  readonly streamId: string
  readonly received: number
}

/** The lines again. */
export async function* streamCountsOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<StreamCount> {
  let rest = ''
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as StreamCount
  }
}
