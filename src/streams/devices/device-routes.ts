import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { DroppedPublishes } from '../../access/auth/dropped-publishes.ts'
import type { KeyDirectory } from '../../access/auth/key-directory.ts'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Post, Posts } from '../../requests/idempotency/posts.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type Device, type DeviceSettings, deviceBody } from './device.ts'
import { deviceFilter, listDevices } from './device-list.ts'
import { parseDeviceRequest, settingsOf } from './device-request.ts'
import { grantedSettings, visibleDevice } from './device-rights.ts'
import * as schemas from './device-schemas.ts'
import { type DeviceStore, type DeviceWithSecret, devicesOfUserMax } from './device-store.ts'
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

export interface OneDevice {
  Params: { deviceId: string }
}

interface ListDevices {
  Querystring: QueryOf<typeof schemas.listDevices.querystring>
}

/** Devices of one's own, and for `platform:admin` of everybody. */
export function deviceRoutes(needs: DeviceRoutesNeeds): FastifyPluginAsync {
  const { state, devices, droppedPublishes, clock, callerOf } = needs
  const config = { scope: 'keys:admin', errors: ['conflict', 'not_found'] } as const
  const deviceOf = (request: FastifyRequest<OneDevice>) =>
    visibleDevice(devices, callerOf(request), request.params.deviceId)

  return async (app) => {
    app.post('/devices', { schema: schemas.createDevice, config }, (request, reply) =>
      create(needs, request, reply),
    )

    app.get<ListDevices>(
      '/devices',
      { schema: schemas.listDevices, config: { scope: 'streams:read' } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        const filter = deviceFilter(request.query)
        const page = cursorRequest(request.query)
        const nowUs = clock.nowUs()
        const wanted = { filter, after: page.after, limit: page.limit + 1, nowUs }
        const found = await listDevices(state, userId, wanted)
        return cursorPage(found, page, { request, reply }).map((one) =>
          deviceBody(one, nowUs, droppedPublishes.of(one.id)),
        )
      },
    )

    app.get<OneDevice>(
      '/devices/:deviceId',
      { schema: schemas.readDevice, config: { scope: 'streams:read' } },
      async (request) => {
        const device = await deviceOf(request)
        return deviceBody(device, clock.nowUs(), droppedPublishes.of(device.id))
      },
    )
  }
}

async function create(
  needs: DeviceRoutesNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { devices, directory, clock, posts, callerOf } = needs
  const caller = callerOf(request)
  return await posts.answer(secretPost(needs, request, reply), async () => {
    const nowUs = clock.nowUs()
    const wanted = parseDeviceRequest(request.body, 'new', nowUs)
    const settings = grantedSettings(directory, caller, settingsOf(wanted, wanted.streamIds ?? []))
    const actor = actorOf(request, callerOf)
    const { made, changes } = devices.plan(actor, caller.userId, [settings])
    const [first] = made
    if (!first) throw new Error('a device that was planned is missing')
    return {
      statusCode: 201,
      body: bodyWithSecret(first, nowUs),
      changes,
      refusal: () => refusal(needs, first.device, settings),
    }
  })
}

/** Why a device could not be made, or changed. */
export async function refusal(
  { state, devices }: Pick<DeviceRoutesNeeds, 'state' | 'devices'>,
  { id, ownerId }: Device,
  { streamIds, certificateName }: DeviceSettings,
): Promise<DomainError> {
  const missing = await missingStream(state, ownerId, streamIds)
  if (missing !== undefined) return new DomainError('not_found', `no stream ${missing}`)
  const names = certificateName === undefined ? [] : [certificateName]
  if ((await devices.takenNames(names, id)).size > 0) {
    return new DomainError('conflict', `the certificateName ${certificateName} is another device's`)
  }
  if (!(await devices.hasRoom(ownerId, 1))) {
    return new DomainError('conflict', `a user can have ${devicesOfUserMax} devices`)
  }
  return changedMeanwhile()
}

export function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'the device was changed at the same time: try again')
}

export function bodyWithSecret(
  { device, secret }: DeviceWithSecret,
  nowUs: number,
  droppedPublishes = 0,
): object {
  return { ...deviceBody(device, nowUs, droppedPublishes), apiSecret: secret }
}

/** A POST that shows a secret: to the key that asks only, and in no cache between us. */
export function secretPost(
  { callerOf }: Pick<DeviceRoutesNeeds, 'callerOf'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Post {
  const { userId, apiKeyId } = callerOf(request)
  return { request, reply: reply.header('cache-control', 'no-store'), userId, apiKeyId }
}
