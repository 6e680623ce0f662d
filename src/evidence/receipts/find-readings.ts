import { parseJson } from '../../core/parse-json.ts'
import {
  kindFiltered,
  kindImported,
  kindRedriven,
  kindRedrivenFiltered,
} from '../../ingest/pipeline/entry.ts'
import type { Outcome } from '../../ledgers/seals/receipt-format.ts'
import type { EntriesAt, FoundEntry } from '../../reading/live/entries-at.ts'
import type { ArrivedPoint, ReadingsAt } from '../../storage/time-series/readings-query.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import type { FoundReading, Missing } from './found-reading.ts'
import type { HeldRefusal } from './held-refusals.ts'

/** What the sources know of the readings of one time. */
export interface KnownOfTime {
  readonly timestampUs: number
  readonly stored: ReadingsAt
  readonly journal: EntriesAt
  readonly held: readonly HeldRefusal[]
  readonly decidedUntil: number
  readonly counts: Pick<StoredCounts, 'deleted' | 'keptFromUs'>
  /** Messages of the server about readings that it did not take, by the offset of their entries. */
  readonly notTaken: ReadonlyMap<number, string>
  /** Versions that store no reading that says the same as the one before. */
  readonly deduplicating: ReadonlySet<number>
}

/** Puts together what is known of each reading: those that are stored first, and then in the order of the journal. */
export function findReadings(known: KnownOfTime): readonly FoundReading[] {
  const { stored, journal, held } = known
  const accepted = journal.entries.filter(({ values }) => values !== undefined)
  const entryOf = matched(known, accepted)
  const matchedEntries = new Set(entryOf.values())
  const readings: FoundReading[] = stored.points.map((point) =>
    storedReading(known, point, entryOf.get(point)),
  )
  const heldAt = new Map(held.map((refusal) => [refusal.offset, refusal]))
  const redriven = new Set(journal.entries.flatMap(({ origin }) => origin?.offset ?? []))
  for (const entry of journal.entries) {
    if (matchedEntries.has(entry)) continue
    if (entry.values !== undefined) readings.push(...unstored(known, entry))
    else if (entry.refusal === undefined) readings.push(filteredReading(entry))
    else if (!redriven.has(entry.offset) || heldAt.has(entry.offset)) {
      readings.push(refusedReading(known, entry, heldAt.get(entry.offset)))
    }
    heldAt.delete(entry.offset)
  }
  for (const refusal of heldAt.values()) readings.push(heldReading(known, refusal))
  return readings
}

/** The entries that stored readings came with, as far as the journal still has them. */
function matched(
  known: KnownOfTime,
  accepted: readonly FoundEntry[],
): ReadonlyMap<ArrivedPoint, FoundEntry> {
  const entries = new Map<ArrivedPoint, FoundEntry>()
  for (const point of known.stored.points) {
    const entry = accepted.find((one) => {
      if (one.digest !== point.digest) return false
      if (point.offset !== undefined) return one.offset === point.offset
      return one.receivedAtUs === point.receivedAtUs && !isRemoved(known, one)
    })
    if (entry) entries.set(point, entry)
  }
  return entries
}

function storedReading(
  known: KnownOfTime,
  point: ArrivedPoint,
  entry: FoundEntry | undefined,
): FoundReading {
  const { offset, receivedAtUs, digest, flagged = [] } = point
  const { timestampUs, values, extra } = point
  return {
    ...nothing,
    outcome: 'stored',
    point: { timestampUs, values, ...(extra !== undefined && { extra }) },
    isComplete: true,
    digest,
    flagged,
    receivedAtUs,
    ...(entry ? ofEntry(entry) : { offset, journalProblem: notInJournal(known.journal) }),
  }
}

/** A reading that was accepted, and is not among those that are stored. */
function unstored(known: KnownOfTime, entry: FoundEntry): readonly FoundReading[] {
  const { stored, timestampUs, deduplicating } = known
  if (entry.offset >= stored.position) return [acceptedReading(known, entry, 'pending')]
  if (isRemoved(known, entry)) return [acceptedReading(known, entry, 'gone', removed)]
  const notTaken = known.notTaken.get(entry.offset)
  if (notTaken !== undefined) {
    const message = `The time-series server did not take the reading: ${notTaken}`
    const missing = { what: 'reading', reason: 'not_kept', message } as const
    return [acceptedReading(known, entry, 'gone', missing)]
  }
  if (stored.points.some(({ digest }) => digest === entry.digest)) {
    return [acceptedReading(known, entry, 'duplicate')]
  }
  // It may be one of those that did not fit in.
  if (stored.hasMore) return []
  if (timestampUs < known.counts.keptFromUs) {
    return [acceptedReading(known, entry, 'gone', expired)]
  }
  if (deduplicating.has(entry.streamVersion)) return [acceptedReading(known, entry, 'unchanged')]
  return [acceptedReading(known, entry, 'gone', known.counts.deleted > 0 ? removed : notKept)]
}

function acceptedReading(
  { timestampUs }: KnownOfTime,
  entry: FoundEntry,
  outcome: Outcome,
  missing?: Missing,
): FoundReading {
  const extra = entry.extra === undefined ? undefined : objectOf(entry.extra)
  return {
    ...nothing,
    ...ofEntry(entry),
    outcome,
    point: {
      timestampUs,
      values: objectOf(entry.values ?? '{}'),
      ...(extra !== undefined && { extra }),
    },
    isComplete: true,
    digest: entry.digest,
    flagged: entry.flagged ?? [],
    missing: missing ? [missing] : [],
  }
}

function filteredReading(entry: FoundEntry): FoundReading {
  const message = 'Only the time and the digest of a filtered reading are kept.'
  return {
    ...nothing,
    ...ofEntry(entry),
    outcome: 'filtered',
    digest: entry.digest,
    missing: [{ what: 'reading', reason: 'not_kept', message }],
  }
}

function refusedReading(
  { decidedUntil }: KnownOfTime,
  entry: FoundEntry,
  held: HeldRefusal | undefined,
): FoundReading {
  const { offset, ended } = entry
  const found = { ...nothing, ...ofEntry(entry), outcome: 'quarantined' } as const
  if (held) return { ...found, version: held.streamVersion, refusal: held }
  const refusal = entry.refusal
  if (ended === undefined && offset >= decidedUntil) return { ...found, refusal }
  return { ...found, refusal, missing: [leftQuarantine(entry)] }
}

function leftQuarantine({ ended }: FoundEntry): Missing {
  const what = 'quarantine'
  if (ended === undefined) {
    const message = 'The quarantine had no room for it: it is only counted.'
    return { what, reason: 'not_kept', message }
  }
  const message = ended.isRedriven
    ? `It was redriven: entry ${ended.offset} of the journal has its reading.`
    : `A user deleted it from the quarantine: entry ${ended.offset} of the journal.`
  return { what, reason: 'removed', message }
}

/** A refused reading whose entry is not found in the journal. */
function heldReading({ journal }: KnownOfTime, held: HeldRefusal): FoundReading {
  return {
    ...nothing,
    outcome: 'quarantined',
    kind: 'received',
    sender: held.sender ?? undefined,
    receivedAtUs: held.receivedAtUs,
    version: held.streamVersion,
    offset: held.offset,
    journalProblem: notInJournal(journal),
    refusal: held,
  }
}

function ofEntry(entry: FoundEntry) {
  const { offset, streamVersion: version, receivedAtUs, sender } = entry
  return { offset, version, receivedAtUs, sender, kind: kindOf(entry) }
}

function kindOf({ kind, origin }: FoundEntry): FoundReading['kind'] {
  if (kind === kindImported) return 'imported'
  if (kind === kindRedriven || kind === kindRedrivenFiltered) return 'redriven'
  return origin === undefined || kind === kindFiltered ? 'received' : 'redriven'
}

/** Whether a removal has taken what an entry brought. */
function isRemoved({ journal, stored }: KnownOfTime, { offset }: FoundEntry): boolean {
  return journal.removals.some((removal) => removal > offset && removal < stored.position)
}

/** Why the journal has no entry of a reading. */
export function notInJournal({ isPart, hasMore }: EntriesAt): Missing {
  const what = 'journal'
  if (!isPart && !hasMore) {
    const message = 'The journal does not hold the entry any more: it was trimmed.'
    return { what, reason: 'trimmed', message }
  }
  const message = hasMore
    ? 'The journal has more entries of this time than a receipt looks at.'
    : 'The entry is not among the newest 64 MiB of the journal, which a receipt looks at.'
  return { what, reason: 'not_searched', message }
}

function objectOf(json: string): Readonly<Record<string, unknown>> {
  return parseJson(json) as Readonly<Record<string, unknown>>
}

const nothing = {
  point: undefined,
  isComplete: false,
  digest: undefined,
  flagged: [],
  receivedAtUs: undefined,
  kind: undefined,
  sender: undefined,
  offset: undefined,
  journalProblem: undefined,
  version: undefined,
  refusal: undefined,
  steps: [],
  missing: [],
} as const

export const removed: Missing = {
  what: 'reading',
  reason: 'removed',
  message: 'The reading is not stored any more: a user removed it.',
}

export const expired: Missing = {
  what: 'reading',
  reason: 'expired',
  message: 'The reading is not stored any more: it is older than the retention of the stream.',
}

export const notKept: Missing = {
  what: 'reading',
  reason: 'not_kept',
  message: 'The reading is not stored, and the reason is not known any more.',
}
