import type { OwnerMinutes } from './owner-activity.ts'

/** Slots of a stream: two hours of them, each five minutes long. */
export const slotsKept = 24
export const slotMinutes = 5

/** Streams that are counted: as many as the consumers keep at hand, and 7 MB. */
const rowsMax = 100_000

/** Rows that are added when there are no more. */
const rowsPerStep = 1_024

/** As of `DecayingRate`. */
const fadesMs = 60_000

/** A row that was opened so lately may be about to be counted in. */
const newMs = 600_000

/** Up to here a count is kept exactly; larger ones by their thousands, which are 2 % at worst. */
const exactMax = 0x7fff

interface NewRow {
  readonly owner: OwnerMinutes
  /** What the store has counted by now. */
  readonly stored: number
  readonly nowMs: number
}

/**
 * What was received of each of many streams. A row is 64 bytes in a few blocks of memory, as objects of their own
 * would be ten times that: the slot under way is counted exactly, those before it in two bytes each.
 */
export class StreamRows {
  readonly #rows = new Map<string, number>()
  readonly #free: number[] = []
  readonly #owners: (OwnerMinutes | undefined)[] = []
  readonly #slots = new Uint16Array(blockOf(2 * slotsKept))
  readonly #open = new Uint32Array(blockOf(4))
  readonly #recent = new Float32Array(blockOf(4))
  /** When `recent` was counted, in milliseconds of its clock. */
  readonly #recentMs = new Float64Array(blockOf(8))
  /** What the store has counted, as far as it was looked at: the lower 32 bits. */
  readonly #stored = new Uint32Array(blockOf(4))
  #head: number

  /** @param slot the one that is under way */
  constructor(slot: number) {
    this.#head = slot
  }

  get size(): number {
    return this.#rows.size
  }

  rowOf(streamId: string): number | undefined {
    return this.#rows.get(streamId)
  }

  ownerOf(row: number): OwnerMinutes | undefined {
    return this.#owners[row]
  }

  /** Adds a row, as long as there is room. */
  open(streamId: string, { owner, stored, nowMs }: NewRow): void {
    const row = this.#free.pop() ?? this.#rows.size
    if (row >= rowsMax) return
    if (row >= this.#open.length) this.#grow()
    this.#rows.set(streamId, row)
    this.#owners[row] = owner
    owner.streams++
    this.#slots.fill(0, row * slotsKept, (row + 1) * slotsKept)
    this.#open[row] = 0
    this.#recent[row] = 0
    this.#recentMs[row] = nowMs
    this.#stored[row] = stored
  }

  close(streamId: string): void {
    const row = this.#rows.get(streamId)
    if (row === undefined) return
    this.#rows.delete(streamId)
    this.#free.push(row)
    const owner = this.#owners[row]
    if (owner) owner.streams--
    this.#owners[row] = undefined
  }

  add(row: number, slot: number, count: number): void {
    if (slot >= this.#head) this.#open[row] = (this.#open[row] ?? 0) + count
    else if (slot > this.#head - slotsKept) {
      const at = row * slotsKept + (slot % slotsKept)
      this.#slots[at] = coded(decoded(this.#slots[at] ?? 0) + count)
    }
  }

  /** Adds to the rate of a stream. */
  addRecent(row: number, recent: number, nowMs: number): void {
    this.#recent[row] = this.#faded(row, nowMs) + recent
    this.#recentMs[row] = nowMs
  }

  perSecond(row: number, nowMs: number): number {
    return (this.#faded(row, nowMs) * 1_000) / fadesMs
  }

  /** How many more the store has counted than it had the last time. */
  storedSince(row: number, stored: number): number {
    const since = (stored - (this.#stored[row] ?? 0)) >>> 0
    this.#stored[row] = stored
    // A store that was told to begin anew has counted less than before.
    return since > 0x7fff_ffff ? 0 : since
  }

  /** The counts of a row up to the slot under way, the oldest first. */
  counts(row: number): readonly number[] {
    const first = this.#head - slotsKept + 1
    return Array.from({ length: slotsKept }, (_, index) =>
      index === slotsKept - 1
        ? (this.#open[row] ?? 0)
        : decoded(this.#slots[row * slotsKept + ((first + index) % slotsKept)] ?? 0),
    )
  }

  /** Ids of the streams of an owner, with their rows. */
  *of(owner: OwnerMinutes): Iterable<readonly [streamId: string, row: number]> {
    for (const entry of this.#rows) if (this.#owners[entry[1]] === owner) yield entry
  }

  /**
   * Goes on to the slot that is under way now. Returns whether it is another one; then rows in which nothing was
   * counted for two hours are gone, but for those that have just been opened.
   */
  turn(slot: number, nowMs: number): boolean {
    if (slot <= this.#head) return false
    const from = Math.max(this.#head, slot - slotsKept)
    for (const [streamId, row] of this.#rows) {
      const begin = row * slotsKept
      this.#slots[begin + (this.#head % slotsKept)] = coded(this.#open[row] ?? 0)
      this.#open[row] = 0
      for (let next = from + 1; next <= slot; next++) this.#slots[begin + (next % slotsKept)] = 0
      const isNew = nowMs - (this.#recentMs[row] ?? 0) < newMs
      if (!isNew && this.#isEmpty(begin)) this.close(streamId)
    }
    this.#head = slot
    return true
  }

  #isEmpty(begin: number): boolean {
    for (let at = begin; at < begin + slotsKept; at++) if (this.#slots[at] !== 0) return false
    return true
  }

  #faded(row: number, nowMs: number): number {
    return (this.#recent[row] ?? 0) * Math.exp(((this.#recentMs[row] ?? 0) - nowMs) / fadesMs)
  }

  #grow(): void {
    const rows = Math.min(this.#open.length + rowsPerStep, rowsMax)
    for (const [block, bytes] of [
      [this.#slots, 2 * slotsKept],
      [this.#open, 4],
      [this.#recent, 4],
      [this.#recentMs, 8],
      [this.#stored, 4],
    ] as const) {
      block.buffer.resize(rows * bytes)
    }
  }
}

function blockOf(bytes: number): ArrayBuffer {
  return new ArrayBuffer(0, { maxByteLength: bytes * rowsMax })
}

function coded(count: number): number {
  if (count <= exactMax) return count
  return 0x8000 | Math.min(Math.round(count / 1_024), exactMax)
}

function decoded(code: number): number {
  return code <= exactMax ? code : (code & exactMax) * 1_024
}
