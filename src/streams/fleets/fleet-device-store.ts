import { type Compilable, type Selectable, sql } from 'kysely'
import type { FleetId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { Fleet, FleetDevice } from './fleet.ts'

/** Names of one fleet that are denied before anything came from them: there can be any number of names. */
export const namesWithoutStreamMax = 10_000

/** Devices that one page looks at: others wait for it. */
const lookedMax = 5_000

/** Which devices of a list are asked for. */
export interface DeviceFilter {
  readonly status?: DeviceStatus | undefined
  /** Devices that have sent nothing since this time. */
  readonly silentSinceUs?: number | undefined
}

export const deviceStatuses = ['active', 'denied', 'outdated'] as const

export type DeviceStatus = (typeof deviceStatuses)[number]

/** Some devices by name. */
export interface DevicePage {
  readonly devices: readonly SeenDevice[]
  /** The name behind which the next page begins; undefined after the last one. */
  readonly next: string | undefined
}

/** A device, with what its stream has received. */
export interface SeenDevice extends FleetDevice {
  readonly lastReceivedAtUs: number | undefined
}

/** The devices of fleets, as their owners see and name them. */
export class FleetDeviceStore {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  async find(fleetId: FleetId, name: string): Promise<SeenDevice | undefined> {
    const row = await this.#found(fleetId).where('device.name', '=', name).executeTakeFirst()
    return row && deviceOf(row)
  }

  /** A page of devices by name. With a filter it may have fewer than `limit`, and another one follows all the same. */
  async list(
    { id, version }: Fleet,
    { after, limit, ...filter }: DeviceFilter & { readonly after: string; readonly limit: number },
  ): Promise<DevicePage> {
    const isFiltered = filter.status !== undefined || filter.silentSinceUs !== undefined
    const looked = isFiltered ? lookedMax : limit
    const rows = await this.#found(id)
      .where('device.name', '>', after)
      .orderBy('device.name')
      .limit(looked + 1)
      .execute()
    const devices: SeenDevice[] = []
    for (const [index, row] of rows.entries()) {
      if (devices.length === limit || index === looked) {
        return { devices, next: rows[index - 1]?.name }
      }
      const device = deviceOf(row)
      if (isMet(device, filter, version)) devices.push(device)
    }
    return { devices, next: undefined }
  }

  /** Denies a device. Finds nothing to change when it is gone meanwhile, or is new and there are too many new ones. */
  denial(
    { id, version }: Fleet,
    device: SeenDevice | undefined,
    { name, atUs }: { readonly name: string; readonly atUs: number },
  ): Compilable {
    if (device !== undefined) {
      return this.#of(id, name).set({ denied_at: sql<number>`coalesce(denied_at, ${atUs})` })
    }
    return this.#state
      .insertInto('fleet_devices')
      .columns(['fleet_id', 'name', 'version', 'created_at', 'denied_at'])
      .expression(
        sql`SELECT id, ${name}, ${version}, ${atUs}, ${atUs} FROM fleets
              WHERE id = ${id} AND ended_at IS NULL AND (SELECT count(*) FROM fleet_devices
                WHERE fleet_id = ${id} AND stream_id IS NULL) < ${namesWithoutStreamMax}`,
      )
      .onConflict((conflict) => conflict.doNothing())
  }

  /** Lets a device send again. One that has no stream is new from then on. */
  allowance({ id }: Fleet, { name, streamId }: SeenDevice): Compilable {
    if (streamId !== undefined) return this.#of(id, name).set({ denied_at: null })
    return this.#state
      .deleteFrom('fleet_devices')
      .where('fleet_id', '=', id)
      .where('name', '=', name)
      .where('stream_id', 'is', null)
  }

  /** Gives a device another name. Finds nothing to change when that is the name of a device, or the fleet was changed. */
  renaming({ id, version }: Fleet, device: SeenDevice, name: string): readonly Compilable[] {
    const present = this.#state
      .updateTable('fleets')
      .set({ version })
      .where('id', '=', id)
      .where('version', '=', version)
      .where('ended_at', 'is', null)
    const other = this.#state
      .selectFrom('fleet_devices as other')
      .select('other.name')
      .where('other.fleet_id', '=', id)
      .where('other.name', '=', name)
    const renamed = this.#of(id, device.name)
      .set({ name, version })
      .where('stream_id', '=', device.streamId ?? '')
      .where((is) => is.not(is.exists(other)))
    return [present, renamed]
  }

  #of(fleetId: FleetId, name: string) {
    return this.#state
      .updateTable('fleet_devices')
      .where('fleet_id', '=', fleetId)
      .where('name', '=', name)
  }

  #found(fleetId: FleetId) {
    return this.#state
      .selectFrom('fleet_devices as device')
      .leftJoin('stream_counters as counters', 'counters.stream_id', 'device.stream_id')
      .selectAll('device')
      .select('counters.last_received_at')
      .where('device.fleet_id', '=', fleetId)
  }
}

type FoundRow = Selectable<StateSchema['fleet_devices']> & {
  readonly last_received_at: number | null
}

function deviceOf(row: FoundRow): SeenDevice {
  const { last_received_at: lastReceivedAtUs } = row
  return {
    name: row.name,
    streamId: row.stream_id ?? undefined,
    version: row.version,
    createdAtUs: row.created_at,
    deniedAtUs: row.denied_at ?? undefined,
    lastReceivedAtUs: lastReceivedAtUs === 0 ? undefined : (lastReceivedAtUs ?? undefined),
  }
}

function isMet(device: SeenDevice, { status, silentSinceUs }: DeviceFilter, version: number) {
  const { streamId, deniedAtUs, createdAtUs, lastReceivedAtUs = createdAtUs } = device
  const isActive = deniedAtUs === undefined
  if (status === 'active' && !isActive) return false
  if (status === 'denied' && isActive) return false
  if (status === 'outdated' && (streamId === undefined || device.version === version)) return false
  return silentSinceUs === undefined || (streamId !== undefined && lastReceivedAtUs < silentSinceUs)
}
