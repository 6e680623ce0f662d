import { type Compilable, type Selectable, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { type FleetId, newId, type UserId, type VaultId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import { ownTopicOf } from '../data-streams/source-kinds.ts'
import {
  type Fleet,
  type FleetDefinition,
  type FleetEnding,
  type FleetProgress,
  fleetsOfUserMax,
} from './fleet.ts'

/** A fleet, as messages meet it. */
export interface FleetEntry {
  readonly fleetId: FleetId
  readonly name: string
  /** At our own broker, with `{device}` in place of the level that names the device. */
  readonly topic: string | undefined
  /** The member of a reading that names the device: a name, or a path. */
  readonly deviceField: string | undefined
}

/** What a fleet is made with. */
export type NewFleet = Pick<Fleet, 'name' | 'vaultId' | 'tags' | 'streamsMax' | 'definition'>

/** Fleets in the state. */
export class FleetStore {
  readonly #state: StateDatabase
  readonly #clock: Clock

  constructor(state: StateDatabase, clock: Clock) {
    this.#state = state
    this.#clock = clock
  }

  /**
   * A new fleet. Its changes find nothing to change when the vault is gone, the owner has too many fleets, or one
   * of this name.
   */
  plan(ownerId: UserId, wanted: NewFleet, apiKeyId: string) {
    const id = newId<FleetId>()
    const nowUs = this.#clock.nowUs()
    const made = {
      createdAtUs: nowUs,
      createdBy: apiKeyId,
      changedAtUs: nowUs,
      changedBy: apiKeyId,
    }
    const fleet: Fleet = { ...wanted, ...made, id, ownerId, version: 1, settledVersion: 1 }
    const { vault_id: vaultId, ...row } = rowOf(fleet)
    const names = Object.keys(row) as (keyof typeof row)[]
    const values = sql.join(names.map((name) => sql`${row[name]}`))
    const insert = this.#state
      .insertInto('fleets')
      .columns([...names, 'vault_id'])
      .expression(
        sql`SELECT ${values}, id FROM vaults WHERE id = ${vaultId} AND owner_id = ${ownerId}
              AND ${isBelow('fleets', ownerId, fleetsOfUserMax)}`,
      )
      .onConflict((conflict) => conflict.doNothing())
    return { fleet, changes: [insert, countChange(this.#state, 'fleets', ownerId, 1)] }
  }

  /**
   * Makes the next version of a fleet, or another name or limit of this one. Finds nothing to change when it was
   * changed meanwhile. A name that another fleet has got meanwhile fails the commit.
   */
  change(before: Fleet, changed: Fleet): Compilable {
    const row = changeableOf(rowOf(changed))
    const other = this.#state
      .selectFrom('fleets as other')
      .select('other.id')
      .where('other.owner_id', '=', before.ownerId)
      .where('other.name_folded', '=', row.name_folded)
      .where('other.id', '!=', before.id)
    return this.#state
      .updateTable('fleets')
      .set(row)
      .where('id', '=', before.id)
      .where('version', '=', before.version)
      .where('changed_at', '=', before.changedAtUs)
      .where('ended_at', 'is', null)
      .where((is) => is.not(is.exists(other)))
  }

  /**
   * Ends a fleet: no one finds it from then on. What happens to its streams follows. Finds nothing to change when it
   * has ended before.
   */
  ending({ id, ownerId }: Fleet, ending: FleetEnding, apiKeyId: string): readonly Compilable[] {
    const state = this.#state
    return [
      state
        .updateTable('fleets')
        // Its name is free.
        .set({ ended_at: this.#clock.nowUs(), ended_by: apiKeyId, ending, name_folded: id })
        .where('id', '=', id)
        .where('ended_at', 'is', null),
      countChange(state, 'fleets', ownerId, -1),
    ]
  }

  /** A fleet of this owner. */
  async find(ownerId: UserId, id: FleetId): Promise<Fleet | undefined> {
    const fleet = await this.load(id)
    return fleet?.ownerId === ownerId ? fleet : undefined
  }

  /** Any fleet, for parts of the service that have checked rights in another way. */
  async load(id: FleetId): Promise<Fleet | undefined> {
    const row = await this.#state
      .selectFrom('fleets')
      .selectAll()
      .where('id', '=', id)
      .where('ended_at', 'is', null)
      .executeTakeFirst()
    return row && fleetOf(row)
  }

  /** A fleet by its name, in any case. */
  async findByName(ownerId: UserId, name: string): Promise<Fleet | undefined> {
    const row = await this.#state
      .selectFrom('fleets')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .where('name_folded', '=', name.toLowerCase())
      .executeTakeFirst()
    return row && fleetOf(row)
  }

  /** Fleets of an owner by their names in lower case, from behind one. */
  async list(
    ownerId: UserId,
    { after, limit, vaultId }: { after: string; limit: number; vaultId?: VaultId | undefined },
  ): Promise<readonly Fleet[]> {
    const found = this.#state
      .selectFrom('fleets')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .where('name_folded', '>', after)
      .where('ended_at', 'is', null)
      .orderBy('name_folded')
      .limit(limit)
    const rows = await (vaultId === undefined
      ? found
      : found.where('vault_id', '=', vaultId)
    ).execute()
    return rows.map(fleetOf)
  }

  /** Whether an owner may have one more fleet. */
  async hasRoom(ownerId: UserId): Promise<boolean> {
    return (await totalOf(this.#state, 'fleets', ownerId)) < fleetsOfUserMax
  }

  /** How many streams a fleet has. */
  async streamsOf(id: FleetId): Promise<number> {
    return await totalOf(this.#state, 'streams_of_fleet', id)
  }

  /** How far the streams of a fleet have its present version. */
  async progressOf({ id, version }: Pick<Fleet, 'id' | 'version'>): Promise<FleetProgress> {
    const row = await this.#state
      .selectFrom('fleet_devices')
      .select(({ fn }) => [
        fn.countAll<number>().as('behind'),
        sql<number>`coalesce(sum(failed_version = ${version}), 0)`.as('failed'),
      ])
      .where('fleet_id', '=', id)
      .where('version', '<', version)
      .where('stream_id', 'is not', null)
      .executeTakeFirstOrThrow()
    return { streams: await this.streamsOf(id), ...row }
  }
}

/** All fleets of a user. */
export async function loadFleets(
  state: StateDatabase,
  ownerId: UserId,
): Promise<readonly FleetEntry[]> {
  const rows = await state
    .selectFrom('fleets')
    .select(['id', 'name', 'topic', 'device_field'])
    .where('owner_id', '=', ownerId)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .limit(fleetsOfUserMax)
    .execute()
  return rows.map((row) => ({
    fleetId: row.id as FleetId,
    name: row.name,
    topic: row.topic ?? undefined,
    deviceField: row.device_field ?? undefined,
  }))
}

/** What a change of a fleet may touch: of the rest others know more. */
function changeableOf(row: ReturnType<typeof rowOf>) {
  const { id: _, created_at: _at, created_by: _by, owner_id: _owner, ...others } = row
  const { settled_version: _settled, vault_id: _vault, ...changeable } = others
  return changeable
}

function rowOf(fleet: Fleet) {
  return {
    id: fleet.id,
    owner_id: fleet.ownerId,
    vault_id: fleet.vaultId,
    name: fleet.name,
    name_folded: fleet.name.toLowerCase(),
    topic: ownTopicOf(fleet.definition.source) ?? null,
    device_field: fleet.definition.deviceField ?? null,
    definition: JSON.stringify(fleet.definition),
    tags: JSON.stringify(fleet.tags),
    version: fleet.version,
    settled_version: fleet.settledVersion,
    streams_max: fleet.streamsMax,
    created_at: fleet.createdAtUs,
    created_by: fleet.createdBy,
    changed_at: fleet.changedAtUs,
    changed_by: fleet.changedBy,
  }
}

export function fleetOf(row: Selectable<StateSchema['fleets']>): Fleet {
  return {
    id: row.id as FleetId,
    ownerId: row.owner_id as UserId,
    vaultId: row.vault_id as VaultId,
    name: row.name,
    tags: JSON.parse(row.tags) as Fleet['tags'],
    version: row.version,
    settledVersion: row.settled_version,
    streamsMax: row.streams_max,
    definition: JSON.parse(row.definition) as FleetDefinition,
    createdAtUs: row.created_at,
    createdBy: row.created_by,
    changedAtUs: row.changed_at,
    changedBy: row.changed_by,
  }
}
