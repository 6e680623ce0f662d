import type { Transaction } from 'kysely'
import type { Offset } from '../../storage/journal/journal.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { QuarantinedEntry, QuarantineNotes } from './entry.ts'

/** The quarantine of one stream holds this much at most (decisions.md#quarantine). */
const quarantineEntriesMax = 10_000
const quarantineBytesMax = 64 * 1024 * 1024

/** Rows of one statement: SQLite takes 32,766 parameters. */
const rowsPerStatement = 200

export interface RefusedEntry {
  readonly offset: Offset
  readonly entry: QuarantinedEntry
}

export interface RejudgedEntry {
  /** The entry of the quarantine that stays. */
  readonly offset: Offset
  readonly streamVersion: number
  readonly timestampUs: number | undefined
  readonly notes: QuarantineNotes
}

export type QuarantineChange =
  | { readonly kind: 'refused'; readonly refused: RefusedEntry }
  | { readonly kind: 'rejudged'; readonly rejudged: RejudgedEntry }
  /** Left, because what it held has an entry of its own now. */
  | { readonly kind: 'redriven'; readonly offset: Offset }
  | { readonly kind: 'removed'; readonly offset: Offset }

/** What changes make of the counters of a stream: to be added to them. */
export interface QuarantineDifference {
  readonly entries: number
  readonly bytes: number
  /** Refused readings that found no room, and removed ones. */
  readonly discarded: number
  /** Readings that came out of entries which are not there: nothing has received them before. */
  readonly unknown: number
  /** To be added to the mark that says whether the quarantine has begun to discard. */
  readonly discarding: number
  readonly beganToDiscard: boolean
}

export const noDifference: QuarantineDifference = {
  entries: 0,
  bytes: 0,
  discarded: 0,
  unknown: 0,
  discarding: 0,
  beganToDiscard: false,
}

/** Makes the changes to the quarantine of one stream, in their order. */
export async function changeQuarantine(
  transaction: Transaction<StateSchema>,
  streamId: string,
  changes: readonly QuarantineChange[],
): Promise<QuarantineDifference> {
  const before = await transaction
    .selectFrom('stream_counters')
    .select(['quarantined', 'quarantine_bytes', 'is_discarding'])
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  const quarantine = new StreamQuarantine({
    transaction,
    streamId,
    before: {
      entries: before?.quarantined ?? 0,
      bytes: before?.quarantine_bytes ?? 0,
      isDiscarding: before?.is_discarding === 1,
    },
  })
  for (const run of runsOf(changes)) await quarantine.change(run)
  return quarantine.difference()
}

/** Neighbours of one kind, which share statements. */
function runsOf(changes: readonly QuarantineChange[]): readonly QuarantineChange[][] {
  const runs: QuarantineChange[][] = []
  for (const change of changes) {
    const run = runs.at(-1)
    if (run?.[0]?.kind === change.kind && run.length < rowsPerStatement) run.push(change)
    else runs.push([change])
  }
  return runs
}

interface Fill {
  readonly entries: number
  readonly bytes: number
  readonly isDiscarding: boolean
}

interface StreamQuarantineNeeds {
  readonly transaction: Transaction<StateSchema>
  readonly streamId: string
  readonly before: Fill
}

/** The quarantine of a stream within one transaction. */
class StreamQuarantine {
  readonly #needs: StreamQuarantineNeeds
  #entries: number
  #bytes: number
  #isDiscarding: boolean
  #discarded = 0
  #unknown = 0
  #beganToDiscard = false

  constructor(needs: StreamQuarantineNeeds) {
    this.#needs = needs
    const { before } = needs
    this.#entries = before.entries
    this.#bytes = before.bytes
    this.#isDiscarding = before.isDiscarding
  }

  /** @param run changes of one kind */
  async change(run: readonly QuarantineChange[]): Promise<void> {
    await this.#keep(run.flatMap((one) => (one.kind === 'refused' ? [one.refused] : [])))
    for (const one of run) {
      if (one.kind === 'rejudged') await this.#rejudge(one.rejudged)
    }
    const redriven = run.flatMap((one) => (one.kind === 'redriven' ? [one.offset] : []))
    this.#unknown += redriven.length - (await this.#release(redriven))
    const removed = run.flatMap((one) => (one.kind === 'removed' ? [one.offset] : []))
    this.#discarded += await this.#release(removed)
  }

  difference(): QuarantineDifference {
    const { before } = this.#needs
    return {
      entries: this.#entries - before.entries,
      bytes: this.#bytes - before.bytes,
      discarded: this.#discarded,
      unknown: this.#unknown,
      discarding: Number(this.#isDiscarding) - Number(before.isDiscarding),
      beganToDiscard: this.#beganToDiscard,
    }
  }

  /** Keeps refused readings as long as there is room; what is left is counted. */
  async #keep(refused: readonly RefusedEntry[]): Promise<void> {
    const { transaction, streamId } = this.#needs
    const kept: RefusedEntry[] = []
    for (const item of refused) {
      const size = item.entry.payload.byteLength
      if (this.#entries + 1 > quarantineEntriesMax || this.#bytes + size > quarantineBytesMax) {
        this.#discarded++
        this.#beganToDiscard ||= !this.#isDiscarding
        this.#isDiscarding = true
        continue
      }
      this.#entries++
      this.#bytes += size
      kept.push(item)
    }
    if (kept.length === 0) return
    const ownerId = await ownerOf(transaction, streamId)
    const rows = kept.map((item) => quarantineRow({ streamId, ownerId }, item))
    await transaction.insertInto('quarantine').values(rows).execute()
  }

  async #rejudge({ offset, streamVersion, timestampUs, notes }: RejudgedEntry): Promise<void> {
    const { transaction, streamId } = this.#needs
    const { reason, message, details } = notes
    await transaction
      .updateTable('quarantine')
      .set({ reason, message, details: JSON.stringify(details) })
      .set({ stream_version: streamVersion, timestamp: timestampUs ?? null })
      .where('stream_id', '=', streamId)
      .where('journal_offset', '=', offset)
      .execute()
  }

  /** Takes entries out. Resolves with how many of them were there. */
  async #release(offsets: readonly Offset[]): Promise<number> {
    const { transaction, streamId } = this.#needs
    if (offsets.length === 0) return 0
    const released = await transaction
      .deleteFrom('quarantine')
      .where('stream_id', '=', streamId)
      .where('journal_offset', 'in', offsets)
      .returning('payload_bytes')
      .execute()
    this.#entries -= released.length
    this.#bytes -= released.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0)
    if (released.length > 0) this.#isDiscarding = false
    return released.length
  }
}

/** Empty for a stream that is gone. */
async function ownerOf(transaction: Transaction<StateSchema>, streamId: string): Promise<string> {
  const row = await transaction
    .selectFrom('data_streams')
    .select('owner_id')
    .where('id', '=', streamId)
    .executeTakeFirst()
  return row?.owner_id ?? ''
}

interface Kept {
  readonly streamId: string
  readonly ownerId: string
}

function quarantineRow({ streamId, ownerId }: Kept, { offset, entry }: RefusedEntry) {
  const { reason, message, details, source, element, format = 'json', sender } = entry.notes
  const { context, place } = entry.notes
  const isKnown = context !== undefined || place !== undefined
  return {
    stream_id: streamId,
    owner_id: ownerId,
    journal_offset: offset,
    stream_version: entry.streamVersion,
    reason,
    message,
    details: JSON.stringify(details),
    source,
    timestamp: entry.timestampUs ?? null,
    received_at: entry.receivedAtUs,
    is_element: element === true ? 1 : 0,
    payload_bytes: entry.payload.byteLength,
    payload: entry.payload,
    format,
    sender: sender ?? null,
    context: isKnown ? JSON.stringify({ ...context, place }) : null,
  }
}
