import type { Expiry } from '../expiry.ts'
import { dueWindows, markedWindows, type WindowedStream } from './due-windows.ts'
import type { StreamWindows } from './stream-windows.ts'
import type {
  MarkedWindows,
  StoredWindowsQuery,
  WindowDefinition,
  WindowPiece,
  WindowTotals,
} from './window-store.ts'

/** From when on the readings of a stream are kept: 0 when all of them are. */
export type KeptFromUs = (streamId: string) => number

/** The windows of the streams that have some, in memory; a store keeps the same. */
export class KnownWindows {
  readonly #streams = new Map<string, StreamWindows>()
  /** Held by the streams that have them, and by nobody here: definitions go with their last stream. */
  readonly #definitions = new Map<string, WeakRef<WindowDefinition>>()
  readonly #unused = new FinalizationRegistry<string>((text) => {
    if (this.#definitions.get(text)?.deref() === undefined) this.#definitions.delete(text)
  })
  added = 0
  revised = 0

  get streams(): ReadonlyMap<string, StreamWindows> {
    return this.#streams
  }

  /** Notes a stream that has windows from now on. */
  add(id: string, windows: StreamWindows): void {
    this.#streams.set(id, windows)
  }

  remove(id: string): void {
    this.#streams.delete(id)
  }

  /** As `WindowStore.due`. What was handed out has its next turn when the others have had theirs. */
  due(
    keptFromUs: KeptFromUs,
    closedBeforeUs: number,
    windowsMax: number,
    dueFromUs: (streamId: string) => number = () => 0,
  ): readonly WindowPiece[] {
    const due = dueWindows(this.#windowed(keptFromUs, dueFromUs), closedBeforeUs, windowsMax)
    for (const { streamId } of due) this.#putLast(streamId)
    return due
  }

  /** What is marked at this very moment: to be asked before the results are read. */
  marked(keptFromUs: KeptFromUs, query: StoredWindowsQuery): readonly MarkedWindows[] {
    return query.streamIds.flatMap((streamId) => {
      const windows = this.#streams.get(streamId)
      if (!windows) return []
      const stream = { streamId, windows, keptFromUs: keptFromUs(streamId), dueFromUs: 0 }
      return [...markedWindows(stream, query)]
    })
  }

  /** From before when readings may go: windows that are still to be computed need theirs. */
  expirableUs(keptFromUs: KeptFromUs, { streamId, beforeUs }: Expiry): number {
    const neededUs = this.#streams.get(streamId)?.neededFromUs() ?? beforeUs
    return Math.min(beforeUs, Math.max(neededUs, keptFromUs(streamId)))
  }

  totals(): WindowTotals {
    let marks = 0
    for (const windows of this.#streams.values()) marks += windows.marks.count
    return { marks, added: this.added, revised: this.revised }
  }

  /** One object for all streams whose windows are alike: they are computed together. */
  shared(definition: WindowDefinition): WindowDefinition {
    return this.parsed(JSON.stringify(definition))
  }

  /** One object for each definition, which is given as JSON. */
  parsed(text: string): WindowDefinition {
    const known = this.#definitions.get(text)?.deref()
    if (known) return known
    const definition = JSON.parse(text) as WindowDefinition
    this.#definitions.set(text, new WeakRef(definition))
    this.#unused.register(definition, text)
    return definition
  }

  *#windowed(
    keptFromUs: KeptFromUs,
    dueFromUs: (streamId: string) => number,
  ): Generator<WindowedStream> {
    for (const [streamId, windows] of this.#streams) {
      if (windows.marks.count === 0) continue
      const [kept, due] = [keptFromUs(streamId), dueFromUs(streamId)]
      yield { streamId, windows, keptFromUs: kept, dueFromUs: due }
    }
  }

  #putLast(id: string): void {
    const windows = this.#streams.get(id)
    if (!windows) return
    this.#streams.delete(id)
    this.#streams.set(id, windows)
  }
}
