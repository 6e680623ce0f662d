import { type Selectable, sql } from 'kysely'
import type { AlertClock, RuleMemory } from '../../processors/alert-memory.ts'
import type { AlertRule } from '../../processors/alert-rules.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import type { StateSchema } from '../storage/state/schema.ts'
import type { AlertRow } from './alert.ts'
import type { RuleReader } from './defined-rules.ts'
import type { SavedWatch, StreamFacts, VersionRules } from './saved-watch.ts'

/** Streams of one query. */
const portion = 500

/** What the state has of a stream, as of the decider's position. */
export interface LoadedWatch {
  readonly facts: StreamFacts
  readonly clock: AlertClock
  /** When the newest reading that moved the clock was received, in steady time. */
  readonly receivedAtUs: number
  /** Undefined of a stream that has had no rules. */
  readonly saved: SavedWatch | undefined
  /** Alerts that go on. */
  readonly open: readonly AlertRow[]
  /** The rules of its newest version, which most entries name. */
  readonly newest: VersionRules
}

/** What is read, and what reads the rules in it. */
export interface WatchSource {
  readonly state: StateDatabase
  readonly rules: RuleReader
}

/** All that is needed to go on watching some streams; those that are gone are left out. */
export async function loadWatches(
  source: WatchSource,
  ids: readonly string[],
): Promise<readonly LoadedWatch[]> {
  const loaded: LoadedWatch[] = []
  for (let from = 0; from < ids.length; from += portion) {
    loaded.push(...(await loadPortion(source, ids.slice(from, from + portion))))
  }
  return loaded
}

/** The rules of a version; undefined when there is none. */
export async function loadRules(
  { state, rules }: WatchSource,
  streamId: string,
  version: number,
): Promise<VersionRules | undefined> {
  const rows = await versionRows(state, [{ streamId, version }])
  return rows.map((row) => rulesIn(row, rules)).at(0)
}

async function loadPortion(
  { state, rules }: WatchSource,
  ids: readonly string[],
): Promise<readonly LoadedWatch[]> {
  const streams = await state
    .selectFrom('data_streams as stream')
    .innerJoin('data_stream_versions as version', (join) =>
      join
        .onRef('version.stream_id', '=', 'stream.id')
        .onRef('version.version', '=', 'stream.version'),
    )
    .leftJoin('stream_counters as counters', 'counters.stream_id', 'stream.id')
    .select(['stream.id', 'stream.owner_id', 'stream.vault_id', 'stream.name', 'stream.version'])
    .select(['version.definition', 'counters.alert_time', 'counters.alert_received_at'])
    .where('stream.id', 'in', ids)
    .execute()
  const memories = await memoriesOf({ state, rules }, ids)
  const open = await openAlerts(state, [...memories.keys()])
  return streams.map((row) => {
    const memory = memories.get(row.id)
    const receivedAtUs = row.alert_received_at ?? 0
    return {
      facts: { id: row.id, ownerId: row.owner_id, vaultId: row.vault_id },
      clock: {
        timeUs: receivedAtUs === 0 ? -1 : (row.alert_time ?? -1),
        digests: memory?.digests ?? [],
        late: 0,
      },
      receivedAtUs,
      saved: memory?.saved,
      open: open.get(row.id) ?? [],
      newest: rulesIn(row, rules),
    }
  })
}

interface Memory {
  readonly saved: SavedWatch
  readonly digests: number[]
}

/** What was saved of those streams that have, or had, rules. */
async function memoriesOf(
  { state, rules }: WatchSource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Memory>> {
  const rows = await state
    .selectFrom('alert_memories')
    .selectAll()
    .where('stream_id', 'in', ids)
    .execute()
  const wanted = rows.map(({ stream_id: streamId, version }) => ({ streamId, version }))
  const versions = await versionRows(state, wanted)
  const of = new Map(versions.map((row) => [row.id, rulesIn(row, rules)]))
  return new Map(rows.map((row) => [row.stream_id, memoryOf(row, of.get(row.stream_id))]))
}

function memoryOf(
  row: Selectable<StateSchema['alert_memories']>,
  of: VersionRules | undefined,
): Memory {
  const { version } = row
  const saved = {
    of: of ?? { version, name: '', rules: [], fields: {} },
    fleetRules: JSON.parse(row.fleet_rules) as readonly AlertRule[],
    memories: JSON.parse(row.memories) as Readonly<Record<string, RuleMemory>>,
    sequences: row.sequences,
  }
  return { saved, digests: JSON.parse(row.digests) as number[] }
}

async function versionRows(
  state: StateDatabase,
  wanted: readonly { readonly streamId: string; readonly version: number }[],
) {
  if (wanted.length === 0) return []
  const pairs = sql.join(wanted.map(({ streamId, version }) => sql`(${streamId}, ${version})`))
  return await state
    .selectFrom('data_stream_versions')
    .select(['stream_id as id', 'version', 'name', 'definition'])
    .where(sql<boolean>`(stream_id, version) IN (VALUES ${pairs})`)
    .execute()
}

async function openAlerts(
  state: StateDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly AlertRow[]>> {
  if (ids.length === 0) return new Map()
  const rows = await state
    .selectFrom('alerts')
    .selectAll()
    .where('stream_id', 'in', ids)
    .where('state', '<>', sql.lit('cleared'))
    .execute()
  return Map.groupBy(rows, (row) => row.stream_id)
}

function rulesIn(
  row: { readonly version: number; readonly name: string; readonly definition: string },
  rules: RuleReader,
): VersionRules {
  const { version, name, definition } = row
  return { version, name, ...rules.rulesOf(definition) }
}
