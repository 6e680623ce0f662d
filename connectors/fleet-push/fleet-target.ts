import type { FastifyRequest } from 'fastify'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { FleetId, StreamId, UserId } from '../../src/core/ids.ts'
import { notFound } from '../../src/core/not-found.ts'
import type { TokenBucket } from '../../src/core/token-bucket.ts'

/** Who sends: a user, one of the user's devices, or new devices with the key that they register with. */
export interface FleetSender {
  readonly userId: UserId
  readonly device?: {
    readonly id: string
    readonly streamIds: ReadonlySet<StreamId>
    readonly fleetId: FleetId | undefined
    readonly bucket: TokenBucket | undefined
  }
  readonly registration?: { readonly fleetId: FleetId | undefined }
}

/** A fleet that readings are sent to. */
export interface TargetFleet {
  readonly fleetId: FleetId
  readonly name: string
  /** The member of a reading that names the device. */
  readonly deviceField: string | undefined
}

/** The stream of a device, or why it has none. */
export type DeviceRoute =
  | { readonly streamId: StreamId; readonly problem?: never }
  | { readonly streamId?: never; readonly problem: 'denied' | 'full' | 'no_fleet' | 'unknown' }

export interface FleetTargetNeeds {
  readonly fleets: {
    find(userId: UserId): Promise<{ fleet(idOrName: string): TargetFleet | undefined }>
  }
  readonly devices: {
    find(fleetId: FleetId, device: string, mayMake: boolean): Promise<DeviceRoute>
  }
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  readonly callerOf: (request: FastifyRequest) => FleetSender
}

/** Words of a query that name a fleet, each by its id or its name: in all protocols any of them does. */
export interface FleetNames {
  readonly fleet?: string
  readonly bucket?: string
  readonly db?: string
}

/**
 * The fleet that a request is for: the one that it names by its id or its name, or else that of its key. Clients send
 * empty words where nothing is set.
 *
 * @throws DomainError `not_found` for a fleet that is not the caller's, and where none is named
 */
export async function targetFleet(
  { fleets, callerOf }: FleetTargetNeeds,
  request: FastifyRequest,
  { fleet: named, bucket, db }: FleetNames,
): Promise<TargetFleet> {
  const { userId, device, registration } = callerOf(request)
  const limitedTo = device ? device.fleetId : registration?.fleetId
  const wanted = [named, bucket, db, limitedTo].find((word) => word !== undefined && word !== '')
  if (wanted === undefined) {
    throw new DomainError('not_found', 'the request names no fleet', {
      remedy:
        'Name a fleet by its id or name in the query, as fleet=, bucket= or db=: GET /fleets lists them.',
    })
  }
  const fleet = (await fleets.find(userId)).fleet(wanted)
  const isLimited = device !== undefined || registration !== undefined
  if (!fleet || (isLimited && fleet.fleetId !== limitedTo)) throw notFound('fleet', wanted)
  return fleet
}

/** Why the readings of a device are not taken. */
export type DeviceProblem = NonNullable<DeviceRoute['problem']>

/** The stream of a device, or why its readings are not taken. */
export type FoundStream =
  | { readonly stream: CompiledStream; readonly problem?: never }
  | { readonly stream?: never; readonly problem: DeviceProblem }

/**
 * Finds the streams of devices, and makes those of new ones where the caller may. All are as they are in the turn in
 * which this resolves.
 */
export async function streamsOfDevices(
  needs: FleetTargetNeeds,
  request: FastifyRequest,
  { fleet, names }: { readonly fleet: TargetFleet; readonly names: Iterable<string> },
): Promise<ReadonlyMap<string, FoundStream>> {
  const { device: own } = needs.callerOf(request)
  const routes = await Promise.all(
    [...names].map(async (name): Promise<[string, DeviceRoute]> => {
      const route = await needs.devices.find(fleet.fleetId, name, own === undefined)
      const isForeign = route.streamId !== undefined && own?.streamIds.has(route.streamId) === false
      return [name, isForeign ? { problem: 'unknown' } : route]
    }),
  )
  // What is not at hand takes a while to load. When all is, the second look takes no turn of the event loop.
  await loaded(needs, routes)
  return await loaded(needs, routes)
}

async function loaded(
  { findStream }: FleetTargetNeeds,
  routes: readonly [string, DeviceRoute][],
): Promise<ReadonlyMap<string, FoundStream>> {
  const found = routes.map(async ([name, route]): Promise<[string, FoundStream]> => {
    if (route.problem !== undefined) return [name, route]
    const stream = await findStream(route.streamId)
    return [name, stream === undefined ? { problem: 'unknown' } : { stream }]
  })
  return new Map(await Promise.all(found))
}
