import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Compilable, sql } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import type { FleetId, StreamId } from '../../core/ids.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { compiled, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { padded } from '../../storage/state/portions.ts'
import { countChange } from '../../storage/state/totals.ts'
import type { DataStreamStore } from '../data-streams/data-stream-store.ts'
import { noticeOf } from '../data-streams/stream-body.ts'
import { definitionOfDevice } from './device-stream.ts'
import type { Fleet } from './fleet.ts'
import type { FleetStore } from './fleet-store.ts'

/** Streams that one transaction makes: others who change the state wait for it. */
export const newStreamsMax = 200

/** Streams that are planned in one turn of the event loop: readings wait for it. */
const perTurn = 5

/** Tries to make streams while others change the fleet. */
const triesMax = 10

/** Where the messages of a device go, or why they go nowhere. */
export type DeviceRoute =
  | { readonly streamId: StreamId; readonly problem?: never }
  | { readonly streamId?: never; readonly problem: 'denied' | 'full' | 'no_fleet' | 'unknown' }

export interface NewStreamsNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly fleets: FleetStore
  readonly streams: DataStreamStore
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly publicUrl: string
}

/** Makes the streams of devices that are new in their fleets. */
export class NewStreams {
  readonly #needs: NewStreamsNeeds
  /** Streams made since the start. */
  made = 0

  constructor(needs: NewStreamsNeeds) {
    this.#needs = needs
  }

  /** The routes of devices as they are now, by their names: none of one that is new. */
  async known(
    fleetId: FleetId,
    devices: readonly string[],
  ): Promise<ReadonlyMap<string, DeviceRoute>> {
    const rows = await this.#needs.state
      .selectFrom('fleet_devices')
      .select(['name', 'stream_id', 'denied_at'])
      .where('fleet_id', '=', fleetId)
      .where('name', 'in', padded(devices))
      .execute()
    return new Map(
      rows.flatMap(({ name, stream_id: id, denied_at: deniedAt }): [string, DeviceRoute][] => {
        if (deniedAt !== null) return [[name, { problem: 'denied' }]]
        return id === null ? [] : [[name, { streamId: id as StreamId }]]
      }),
    )
  }

  /**
   * Makes the streams of some devices, in this order, unless they have theirs: one transaction for all.
   *
   * @param devices at most `newStreamsMax`
   * @throws DomainError `overloaded` when others change the fleet all the time
   */
  async make(
    fleetId: FleetId,
    devices: readonly string[],
  ): Promise<ReadonlyMap<string, DeviceRoute>> {
    for (let tries = 0; tries < triesMax; tries++) {
      const routes = new Map(await this.known(fleetId, devices))
      const fleet = await this.#needs.fleets.load(fleetId)
      const missing = devices.filter((device) => !routes.has(device))
      if (missing.length === 0) return routes
      if (fleet === undefined) return withAll(routes, missing, 'no_fleet')
      const room = fleet.streamsMax - (await this.#needs.fleets.streamsOf(fleetId))
      const wanted = missing.slice(0, Math.max(0, room))
      withAll(routes, missing.slice(wanted.length), 'full')
      if (wanted.length === 0) return routes
      const made = await this.#commit(fleet, wanted)
      if (made === undefined) continue
      this.made += made.size
      for (const [device, streamId] of made) routes.set(device, { streamId })
      return routes
    }
    throw new DomainError('overloaded', 'the fleet is changed by others again and again', {
      retryAfter: 1,
    })
  }

  /** Undefined when something was changed meanwhile: nothing has happened then. */
  async #commit(
    fleet: Fleet,
    devices: readonly string[],
  ): Promise<ReadonlyMap<string, StreamId> | undefined> {
    const made = new Map<string, StreamId>()
    const changes: Compilable[] = [...this.places(fleet, devices.length)]
    for (const [index, device] of devices.entries()) {
      if (index % perTurn === perTurn - 1) await nextTurn()
      const { streamId, changes: own } = this.plan(fleet, device)
      made.set(device, streamId)
      changes.push(...own.map(compiled))
    }
    return (await this.#needs.writer.attempt(...changes)) ? made : undefined
  }

  /** Whether a fleet has room for one more stream. */
  async hasPlace({ id, streamsMax }: Fleet): Promise<boolean> {
    return (await this.#needs.fleets.streamsOf(id)) < streamsMax
  }

  /** Finds no row when the fleet was changed meanwhile, or has no room for so many. */
  places({ id, version }: Fleet, count: number): readonly Compilable[] {
    const { state } = this.#needs
    const total = sql`coalesce((SELECT total FROM totals WHERE list = 'streams_of_fleet' AND owner_id = ${id}), 0)`
    return [
      state
        .updateTable('fleets')
        .set({ version })
        .where('id', '=', id)
        .where('version', '=', version)
        .where('ended_at', 'is', null)
        .where(sql<boolean>`${total} + ${count} <= streams_max`),
      countChange(state, 'streams_of_fleet', id, count),
    ]
  }

  /**
   * The stream of one new device, without its place in the count.
   *
   * @param given the name of the stream where it is not that of the device, and the key that makes it
   */
  plan(
    fleet: Fleet,
    device: string,
    given: { readonly name?: string; readonly madeBy?: string } = {},
  ) {
    const { state, streams, lifecycle, publicUrl } = this.#needs
    const { id, ownerId, version } = fleet
    const { name = device, madeBy = fleet.changedBy } = given
    const definition = definitionOfDevice(fleet, device, { name, tags: {} })
    const { stream, changes } = streams.plan(ownerId, definition, madeBy, {
      fleetId: id,
      device,
    })
    const row = {
      fleet_id: id,
      name: device,
      stream_id: stream.id,
      version,
      created_at: stream.createdAtUs,
      denied_at: null,
    }
    const event = {
      event: 'stream.created',
      ownerId,
      resourceId: stream.id,
      name: stream.name,
      actor: { userId: ownerId, apiKeyId: madeBy },
      notice: noticeOf(stream, 'created', publicUrl),
    } as const
    const insert = state
      .insertInto('fleet_devices')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
    return {
      streamId: stream.id,
      stream,
      changes: [insert, ...changes, ...lifecycle.record(event)],
    }
  }
}

function withAll(
  routes: Map<string, DeviceRoute>,
  devices: readonly string[],
  problem: 'full' | 'no_fleet',
): Map<string, DeviceRoute> {
  for (const device of devices) routes.set(device, { problem })
  return routes
}
