import type { FastifyPluginAsync } from 'fastify'
import { changedMeanwhile, conflict, noRoom } from '../../core/conflict.ts'
import { deviceNameProblem } from '../../core/device-names.ts'
import { durationUs } from '../../core/duration.ts'
import { invalidParameter } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { cursorLimitDefault } from '../../requests/http/schema.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import type { DataStream, DataStreamStore } from '../data-streams/data-stream-store.ts'
import type { StreamChanges } from '../data-streams/stream-changes.ts'
import type { DeviceDirectory } from './device-directory.ts'
import { definitionOfDevice } from './device-stream.ts'
import type { Fleet } from './fleet.ts'
import * as api from './fleet-api.ts'
import { encodeNameCursor, nameBehind } from './fleet-cursor.ts'
import {
  type FleetDeviceStore,
  namesWithoutStreamMax,
  type SeenDevice,
} from './fleet-device-store.ts'
import { auditOf, type FleetRoutesNeeds, ownFleet } from './fleet-routes.ts'

export interface FleetDeviceRoutesNeeds extends FleetRoutesNeeds {
  readonly devicesOfFleets: FleetDeviceStore
  readonly fleetDevices: Pick<DeviceDirectory, 'forget'>
  readonly streams: DataStreamStore
  readonly changes: StreamChanges
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  /** Lets readings meet the stream as it is now. */
  readonly directory: { forget(id: StreamId): void }
  /** Waits, within bounds, until what is acknowledged by now has been counted. */
  readonly processing: { caughtUp(): Promise<boolean> }
  readonly nowUs: () => number
}

const deviceParams = { device: api.deviceName }

/** The devices of a fleet: which there are, and what is done to them. */
export function fleetDeviceRoutes(needs: FleetDeviceRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Fleets'] })
    addReading(add, needs)
    addNaming(add, needs)
    addDenying(add, needs)
  }
}

function addReading(add: AddOperation, needs: FleetDeviceRoutesNeeds): void {
  const { devicesOfFleets, processing, nowUs } = needs

  add('GET /fleets/:fleetId/devices', {
    operationId: 'listFleetDevices',
    summary: 'List the devices of a fleet, by name.',
    scope: 'streams:read',
    query: api.fleetDevicesQuery,
    answers: { 200: api.fleetDevicesSchema },
    handler: async ({ caller, params, query }) => {
      const fleet = await ownFleet(needs, caller.userId, params.fleetId)
      const { limit = cursorLimitDefault, cursor, status, silentFor } = query
      const silentSinceUs = silentFor === undefined ? undefined : nowUs() - durationOf(silentFor)
      const after = nameBehind(cursor)
      await processing.caughtUp()
      const wanted = { after, limit, status, silentSinceUs }
      const { devices, next } = await devicesOfFleets.list(fleet, wanted)
      return {
        devices: devices.map(api.fleetDeviceBody),
        nextCursor: next === undefined ? null : encodeNameCursor(next),
      }
    },
  })

  add('GET /fleets/:fleetId/devices/:device', {
    operationId: 'readFleetDevice',
    summary: 'Read a device of a fleet.',
    scope: 'streams:read',
    params: deviceParams,
    answers: { 200: api.fleetDeviceSchema },
    handler: async ({ caller, params }) => {
      await processing.caughtUp()
      const fleet = await ownFleet(needs, caller.userId, params.fleetId)
      return api.fleetDeviceBody(await knownDevice(needs, fleet, params.device))
    },
  })
}

function addNaming(add: AddOperation, needs: FleetDeviceRoutesNeeds): void {
  add('POST /fleets/:fleetId/devices/:device/rename', {
    operationId: 'renameFleetDevice',
    summary: 'Let the stream of a device take the messages with another name.',
    description: [
      'From the answer on, messages with the new name go to the stream of the device, and messages with the old name are',
      'those of a new device. The tag `device` of the stream gets the new name, and so does the stream where it is called',
      'like the device.',
    ].join(' '),
    scope: 'streams:write',
    params: deviceParams,
    body: api.newDeviceNameSchema,
    answers: { 200: api.fleetDeviceSchema },
    errors: ['conflict', 'invalid_request'],
    effect: (exchange) => renaming(needs, exchange),
  })
}

function addDenying(add: AddOperation, needs: FleetDeviceRoutesNeeds): void {
  add('POST /fleets/:fleetId/devices/:device/deny', {
    operationId: 'denyFleetDevice',
    summary: 'Refuse the messages of a device.',
    description:
      'From the answer on. Its stream stays. A name that nothing has come from yet can be denied, too.',
    scope: 'streams:write',
    params: deviceParams,
    answers: { 200: api.fleetDeviceSchema },
    errors: ['conflict', 'invalid_request'],
    effect: (exchange) => denying(needs, exchange),
  })

  add('POST /fleets/:fleetId/devices/:device/allow', {
    operationId: 'allowFleetDevice',
    summary: 'Take the messages of a denied device again.',
    description: 'Its next message goes to its stream; without a stream it is a new device.',
    scope: 'streams:write',
    params: deviceParams,
    answers: { 200: api.fleetDeviceSchema },
    errors: ['conflict'],
    effect: (exchange) => allowing(needs, exchange),
  })
}

type DeviceExchange = Exchange<'POST /fleets/:fleetId/devices/:device'>

async function denying(needs: FleetDeviceRoutesNeeds, exchange: DeviceExchange) {
  const { devicesOfFleets, nowUs } = needs
  const { caller, params, request } = exchange
  const fleet = await ownFleet(needs, caller.userId, params.fleetId)
  const name = nameIn(params.device, 'device')
  const device = await devicesOfFleets.find(fleet.id, name)
  const atUs = nowUs()
  const fresh = { name, streamId: undefined, version: fleet.version, createdAtUs: atUs }
  const denied = { lastReceivedAtUs: undefined, ...fresh, ...device, deniedAtUs: atUs }
  return {
    statusCode: 200,
    body: api.fleetDeviceBody(denied),
    changes: [
      devicesOfFleets.denial(fleet, device, { name, atUs }),
      auditOf(needs, request).ofDevice('denied', fleet, { device: name }),
    ],
    async refusal() {
      const now = await ownFleet(needs, caller.userId, params.fleetId)
      const isThere = (await devicesOfFleets.find(now.id, name)) !== undefined
      if (isThere !== (device !== undefined)) return deviceChanged()
      return noRoom(
        `${namesWithoutStreamMax} names of a fleet can be denied that have no stream`,
        'POST /fleets/{fleetId}/devices/{device}/allow',
      )
    },
    afterwards: async () => forget(needs, fleet, name),
  }
}

async function allowing(needs: FleetDeviceRoutesNeeds, exchange: DeviceExchange) {
  const { caller, params, request } = exchange
  const fleet = await ownFleet(needs, caller.userId, params.fleetId)
  const device = await knownDevice(needs, fleet, params.device)
  return {
    statusCode: 200,
    body: api.fleetDeviceBody({ ...device, deniedAtUs: undefined }),
    changes: [
      needs.devicesOfFleets.allowance(fleet, device),
      auditOf(needs, request).ofDevice('allowed', fleet, { device: device.name }),
    ],
    refusal: async () => deviceChanged(),
    afterwards: async () => forget(needs, fleet, device.name),
  }
}

async function renaming(
  needs: FleetDeviceRoutesNeeds,
  exchange: DeviceExchange & { readonly body: { readonly name: string } },
) {
  const { devicesOfFleets, streams, changes, lifecycle, directory } = needs
  const { caller, params, body, request } = exchange
  const fleet = await ownFleet(needs, caller.userId, params.fleetId)
  const device = await knownDevice(needs, fleet, params.device)
  const name = nameIn(body.name, 'name')
  const stream = device.streamId && (await streams.load(device.streamId as StreamId))
  if (name === device.name) return { ...answer(device), changes: [] }
  if (!stream) throw withoutStream(device.name)
  await assertFree(needs, fleet, name)
  const changed = definitionOfDevice(fleet, name, {
    name: stream.name === device.name ? name : stream.name,
    tags: stream.tags,
  })
  return {
    ...answer({ ...device, name, version: fleet.version }),
    changes: [
      ...devicesOfFleets.renaming(fleet, device, name),
      ...changes.changing(stream, changed, caller.apiKeyId),
      ...lifecycle.record({
        event: 'stream.updated',
        ...subjectOf(stream, changed.name),
        actor: caller,
      }),
      auditOf(needs, request).ofDevice('renamed', fleet, { device: device.name, newName: name }),
    ],
    async refusal() {
      await assertFree(needs, fleet, name)
      return deviceChanged()
    },
    async afterwards() {
      directory.forget(stream.id)
      forget(needs, fleet, device.name, name)
    },
  }
}

function answer(device: SeenDevice) {
  return { statusCode: 200, body: api.fleetDeviceBody(device) }
}

function subjectOf({ ownerId, id }: DataStream, name: string) {
  return { ownerId, resourceId: id, name }
}

/** @throws DomainError `conflict` */
async function assertFree(
  { devicesOfFleets }: FleetDeviceRoutesNeeds,
  { id }: Fleet,
  name: string,
): Promise<void> {
  const other = await devicesOfFleets.find(id, name)
  if (other === undefined) return
  throw other.streamId === undefined
    ? conflict(
        `the name ${name} is denied`,
        'Allow it first with POST /fleets/{fleetId}/devices/{device}/allow, or choose another name.',
      )
    : conflict(
        `a device with the name ${name} has a stream`,
        'Delete that stream first with DELETE /streams/{streamId}, or choose another name.',
      )
}

/** Has messages that follow find the devices as they are now. */
function forget(
  { fleetDevices, topics }: FleetDeviceRoutesNeeds,
  { id: fleetId, ownerId }: Fleet,
  ...names: readonly string[]
): void {
  for (const device of names) fleetDevices.forget({ fleetId, device })
  topics.forget(ownerId)
}

/** @throws DomainError `not_found` */
async function knownDevice(
  { devicesOfFleets }: Pick<FleetDeviceRoutesNeeds, 'devicesOfFleets'>,
  { id }: Fleet,
  name: string,
): Promise<SeenDevice> {
  const device = await devicesOfFleets.find(id, name)
  if (!device) throw notFound('fleet device', name)
  return device
}

/** @throws DomainError `invalid_request` */
function nameIn(text: string, place: string): string {
  const problem = deviceNameProblem(text)
  if (problem !== undefined) throw invalidParameter(place, problem)
  return text
}

/** @throws DomainError `invalid_request` */
function durationOf(text: string): number {
  const foundUs = durationUs(text)
  if (foundUs === undefined) {
    throw invalidParameter('silentFor', 'must be a duration such as 30s, 15m, 6h or 1d')
  }
  return foundUs
}

function deviceChanged() {
  return changedMeanwhile('the device', 'GET /fleets/{fleetId}/devices/{device}')
}

function withoutStream(name: string) {
  return conflict(
    `the device ${name} has no stream`,
    'Allow it first with POST /fleets/{fleetId}/devices/{device}/allow: its next message makes its stream.',
  )
}
