import type { Expiry } from '../expiry.ts'
import type { StreamState } from '../stream-state.ts'
import type { StoreCopies } from './copy/store-copies.ts'
import type { Durability } from './durability.ts'
import { dropDeadMonths, dropDeadPartitions, markExpired } from './expiry.ts'
import { partitionOf, tableOf } from './layout.ts'
import type { Ledger } from './ledger.ts'
import type { StreamChange } from './positions-file.ts'
import type { WriterTurns } from './writer-turns.ts'

/** Streams whose readings one statement marks: it has to fit into the head of a request. */
const streamsPerPortion = 500

interface ExpiryNeeds {
  readonly ledger: Ledger
  readonly turns: WriterTurns
  readonly durability: Durability
  readonly copies: StoreCopies
}

/** What may go of streams that something is stored of, and was not looked for yet. */
export function dueExpiries(
  ledger: Ledger,
  expiries: readonly Expiry[],
  doneToUs: ReadonlyMap<string, number>,
): readonly Expiry[] {
  const { windows, keptFromUs } = ledger
  return expiries
    .filter(({ streamId }) => ledger.stream(streamId))
    .map((expiry) => ({ ...expiry, beforeUs: windows.expirableUs(keptFromUs, expiry) }))
    .filter(({ streamId, beforeUs }) => (doneToUs.get(streamId) ?? 0) < beforeUs)
}

/** From now on nobody may rely on what is older: written down before the first of it goes. */
export function noteKeptFrom(ledger: Ledger, expiries: readonly Expiry[]): void {
  const streams = expiries.flatMap(({ streamId: id, beforeUs }): StreamChange[] => {
    const record = ledger.stream(id)
    if (!record || record.counts.keptFromUs >= beforeUs) return []
    const { timestampMaxUs, newestContent } = record
    const counts = { ...record.counts, keptFromUs: beforeUs }
    return [{ id, counts, timestampMaxUs, newestContent, newShapes: [] }]
  })
  if (streams.length === 0) return
  ledger.commit({ position: ledger.position, streams, newShapes: [] })
}

/** Removes what is too old of streams in portions, and gives back room. Returns what it has done. */
export async function expireReadings(
  needs: ExpiryNeeds,
  expiries: readonly Expiry[],
  signal: AbortSignal,
): Promise<Expiry[]> {
  const { ledger, turns, copies } = needs
  const done: Expiry[] = []
  const tables = new Set<string>()
  for (const [beforeUs, group] of Map.groupBy(expiries, (expiry) => expiry.beforeUs)) {
    for (let from = 0; from < group.length && !signal.aborted; from += streamsPerPortion) {
      const portion = group.slice(from, from + streamsPerPortion)
      const streamIds = portion.map(({ streamId }) => streamId)
      const touched = await expirePortion(needs, { streamIds, beforeUs })
      for (const table of touched) tables.add(table)
      done.push(...portion)
    }
  }
  const lastUs = expiries.reduce((last, { beforeUs }) => Math.max(last, beforeUs), 0)
  for (const table of tables) {
    if (signal.aborted || copies.needsRows) break
    await turns.take(async (place) => {
      const { position, expiryRound: round } = ledger
      if (partitionOf(table) === 'MONTH') await dropDeadMonths(place, { table, position })
      else await dropDeadPartitions(place, { table, position, round, beforeUs: lastUs })
    })
  }
  return done
}

/** Returns the tables that readings may have gone from. */
async function expirePortion(
  { ledger, turns, durability }: ExpiryNeeds,
  { streamIds, beforeUs }: { readonly streamIds: readonly string[]; readonly beforeUs: number },
): Promise<ReadonlySet<string>> {
  return await turns.take(async (place) => {
    const { prefix } = place.connection.server
    const shapes = streamIds.flatMap((id) => ledger.shapesOf(id))
    const tables = new Set(shapes.map(({ id }) => tableOf(prefix, id)))
    const { expiryRound: round, position } = ledger
    const portion = { streamIds, beforeUs, tables, round, position }
    const { expired, statements } = await markExpired(place, portion)
    const streams = streamIds.flatMap((id) => {
      const record = ledger.stream(id)
      return record ? [changeOf(id, record, { beforeUs, expired: expired.get(id) ?? 0 })] : []
    })
    const unproven = durability.noted({ statements })
    ledger.commit({ position, streams, newShapes: [], expiryRound: round + 1, unproven })
    return tables
  })
}

/** A stream without what came before a time. */
function changeOf(
  id: string,
  { counts, timestampMaxUs, newestContent }: StreamState,
  { beforeUs, expired }: { readonly beforeUs: number; readonly expired: number },
): StreamChange {
  const isAllGone = timestampMaxUs < beforeUs
  return {
    id,
    counts: {
      ...counts,
      expired: counts.expired + expired,
    },
    timestampMaxUs: isAllGone ? -1 : timestampMaxUs,
    newestContent: isAllGone ? undefined : newestContent,
    newShapes: [],
  }
}
