import { compareText } from '../../src/core/canonical-json.ts'
import type { Leaf } from '../../src/evidence/seals/stretch-leaves.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { type AnyNotes, anyReading } from './any-readings.ts'
import { marchUs, remove, ship, storedReading } from './stored-readings.ts'

/** Leaves in the order that seals have: by time, then by text. */
export function inOrder(leaves: readonly Leaf[]): readonly Leaf[] {
  return leaves.toSorted((left, right) => {
    return left.timestampUs - right.timestampUs || compareText(left.text, right.text)
  })
}

/** A stream beside a plain list of what has to be stored of it. */
export class ListedStream {
  readonly #store: TimeSeriesStore
  readonly #streamId: string
  #live: { readonly leaf: Leaf; readonly reading: ShippedReading }[] = []

  constructor(store: TimeSeriesStore, streamId: string) {
    this.#store = store
    this.#streamId = streamId
  }

  async send(notes: readonly AnyNotes[]): Promise<void> {
    const all = notes.map((one) => anyReading(this.#streamId, one))
    await ship(
      this.#store,
      all.map(({ reading }) => reading),
    )
    for (const { reading, text } of all) {
      this.#live.push({ reading, leaf: { timestampUs: reading.timestampUs, text } })
    }
  }

  async repeat(isOther: boolean): Promise<void> {
    const again = this.#live.slice(0, 3).map(({ leaf, reading }) => {
      return { leaf, reading: isOther ? { ...reading, digest: storedReading().digest } : reading }
    })
    await ship(
      this.#store,
      again.map(({ reading }) => ({ ...reading })),
    )
    if (isOther) this.#live.push(...again)
  }

  async remove([one, other]: readonly [number, number]): Promise<void> {
    const [startUs, endUs] = [marchUs + Math.min(one, other), marchUs + Math.max(one, other)]
    await remove(this.#store, { streamId: this.#streamId, startUs, endUs })
    this.#live = this.#live.filter(({ leaf: { timestampUs } }) => {
      return timestampUs < startUs || timestampUs >= endUs
    })
  }

  leaves({
    startUs,
    endUs,
  }: {
    readonly startUs: number
    readonly endUs: number
  }): readonly Leaf[] {
    const all = this.#live.map(({ leaf }) => leaf)
    return inOrder(all.filter(({ timestampUs }) => timestampUs >= startUs && timestampUs < endUs))
  }
}
