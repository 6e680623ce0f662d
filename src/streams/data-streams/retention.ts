import { part, type Rule } from '../../contracts/definitions/problems.ts'
import { durationUs } from '../../core/duration.ts'
import type { StreamId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** What is kept for ever, in spite of what a vault says. */
const forEver = 'forever'

/**
 * How long readings, and what was worked out from them, are kept: each a duration such as `30d`, or
 * `forever`. What is left out is as the vault says, and for ever when it says nothing.
 */
export interface Retention {
  readonly raw?: string
  readonly aggregated?: string
}

/** What holds for a stream: null is for ever. */
export interface KeptTimes {
  readonly raw: string | null
  readonly aggregated: string | null
}

/** Some hundred years: what is kept longer is kept for ever. */
const daysMax = 36_500

/** Less would be gone before anybody could look at it. */
const shortestUs = 60_000_000
const dayUs = 86_400_000_000

/** Says what is wrong with a text that tells how long something is kept, if anything is. */
export const keptFor: Rule = (value, key, problems) => {
  if (value === forEver) return
  const us = durationUs(value)
  if (us !== undefined && us >= shortestUs && us <= daysMax * dayUs) return
  problems.add(key, `must be a duration from 1m to ${daysMax}d, such as 30d, or ${forEver}`)
}

/** `processing.retention`. */
export const retentionRule: Rule = part({ raw: keptFor, aggregated: keptFor })

/** How long the data of a stream is kept now: as it says itself, or its vault. */
export async function retentionOf(state: StateDatabase, id: StreamId): Promise<KeptTimes> {
  const row = await state
    .selectFrom('data_streams as stream')
    .innerJoin('vaults as vault', 'vault.id', 'stream.vault_id')
    .select(({ fn }) => [
      fn.coalesce('stream.kept_raw', 'vault.kept_raw').as('raw'),
      fn.coalesce('stream.kept_aggregated', 'vault.kept_aggregated').as('aggregated'),
    ])
    .where('stream.id', '=', id)
    .executeTakeFirst()
  return { raw: timeLimit(row?.raw), aggregated: timeLimit(row?.aggregated) }
}

function timeLimit(kept: string | null = null): string | null {
  return kept === forEver ? null : kept
}

/** The columns that say it once more, beside the definition, so that those with a retention are found. */
export function retentionColumns(processing: Readonly<Record<string, unknown>>) {
  const { raw = null, aggregated = null } = (processing['retention'] ?? {}) as Retention
  return { kept_raw: raw, kept_aggregated: aggregated }
}
