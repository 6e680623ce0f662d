import type { FastifyPluginAsync } from 'fastify'
import type { DroppedPublishes } from '../../access/auth/dropped-publishes.ts'
import type { KeyDirectory } from '../../access/auth/key-directory.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { notFound } from '../../core/not-found.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, describedOnly } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type Exchange, operationsOf } from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Device, DeviceSettings } from './device.ts'
import * as api from './device-api.ts'
import { deviceFilter, listDevices } from './device-list.ts'
import { parseDeviceRequest, settingsOf } from './device-request.ts'
import { grantedSettings, visibleDevice } from './device-rights.ts'
import { type DeviceStore, devicesOfUserMax } from './device-store.ts'
import { missingStream } from './device-streams.ts'

export interface DeviceRoutesNeeds {
  readonly state: StateDatabase
  readonly devices: DeviceStore
  readonly directory: Pick<KeyDirectory, 'find'>
  readonly droppedPublishes: Pick<DroppedPublishes, 'of'>
  readonly clock: Clock
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** The id in paths: it is a key as well. */
export const deviceParams = { deviceId: api.deviceId }

/** Devices of one's own, and for `platform:admin` of everybody. */
export function deviceRoutes(needs: DeviceRoutesNeeds): FastifyPluginAsync {
  const { state, devices, droppedPublishes, clock } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Devices'] })

    add('POST /devices', {
      operationId: 'createDevice',
      summary: 'Make credentials for a device; their secret is shown this once.',
      description:
        'A device sends readings of its own streams, over MQTT and HTTP, and can do nothing else.',
      scope: 'keys:admin',
      body: describedOnly(api.newDeviceSchema),
      answers: { 201: api.deviceWithSecretSchema },
      errors: ['conflict', 'not_found'],
      answersSecret: true,
      effect: (exchange) => creation(needs, exchange),
    })

    add('GET /devices', {
      operationId: 'listDevices',
      summary: "List one's own devices.",
      scope: 'streams:read',
      query: api.devicesQuery,
      answers: { 200: cursorListOf(api.deviceSchema) },
      handler: async ({ caller, query, request, reply }) => {
        const filter = deviceFilter(query)
        const page = cursorRequest(query)
        const nowUs = clock.nowUs()
        const wanted = { filter, after: page.after, limit: page.limit + 1, nowUs }
        const found = await listDevices(state, caller.userId, wanted)
        return cursorPage(found, page, { request, reply }).map((one) =>
          api.deviceBody(one, nowUs, droppedPublishes.of(one.id)),
        )
      },
    })

    add('GET /devices/:deviceId', {
      operationId: 'readDevice',
      summary: 'Read a device.',
      scope: 'streams:read',
      params: deviceParams,
      answers: { 200: api.deviceSchema },
      handler: async ({ caller, params }) => {
        const device = await visibleDevice(devices, caller, params.deviceId)
        return api.deviceBody(device, clock.nowUs(), droppedPublishes.of(device.id))
      },
    })
  }
}

async function creation(needs: DeviceRoutesNeeds, { caller, body, request }: Exchange) {
  const { devices, directory, clock, callerOf } = needs
  const nowUs = clock.nowUs()
  const wanted = parseDeviceRequest(body, 'new', nowUs)
  const settings = grantedSettings(directory, caller, settingsOf(wanted, wanted.streamIds ?? []))
  const { made, changes } = devices.plan(actorOf(request, callerOf), caller.userId, [settings])
  const [first] = made
  if (!first) throw new Error('a device that was planned is missing')
  return {
    statusCode: 201,
    body: api.bodyWithSecret(first, nowUs),
    changes,
    refusal: () => refusal(needs, first.device, settings),
  }
}

/** Why a device could not be made, or changed. */
export async function refusal(
  { state, devices }: Pick<DeviceRoutesNeeds, 'state' | 'devices'>,
  { id, ownerId }: Device,
  { streamIds, certificateName }: DeviceSettings,
): Promise<DomainError> {
  const missing = await missingStream(state, ownerId, streamIds)
  if (missing !== undefined) return notFound('stream', missing)
  const names = certificateName === undefined ? [] : [certificateName]
  if ((await devices.takenNames(names, id)).size > 0) {
    return conflict(
      `the certificateName ${certificateName} is another device's`,
      'Use another certificateName, or take it from the other device first with PUT /devices/{deviceId}; GET /devices has the names.',
    )
  }
  if (!(await devices.hasRoom(ownerId, 1))) {
    return noRoom(`a user can have ${devicesOfUserMax} devices`, 'DELETE /devices/{deviceId}')
  }
  return changedMeanwhile()
}

export function changedMeanwhile(): DomainError {
  return conflict(
    'the device was changed at the same time: try again',
    'Read it again with GET /devices/{deviceId}, then send the change again with its new ETag in If-Match.',
  )
}
