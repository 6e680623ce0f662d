import type { FastifyPluginAsync } from 'fastify'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { describedOnly, keyHeaders, noContent } from '../../requests/http/schema.ts'
import { actorOf } from '../../requests/http/server.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
  postOf,
  secretPostOf,
} from '../../requests/operations/operation.ts'
import type { Device } from './device.ts'
import * as api from './device-api.ts'
import { type DeviceRequest, parseDeviceRequest, settingsOf } from './device-request.ts'
import { assertMayGive, assertMayName, visibleDevice } from './device-rights.ts'
import { changedMeanwhile, type DeviceRoutesNeeds, deviceParams, refusal } from './device-routes.ts'
import { hasEnded } from './device-store.ts'

/** Seconds that the secret before a rotation stays good, unless somebody says otherwise. */
const overlapSDefault = 86_400

const shared = {
  scope: 'keys:admin',
  params: deviceParams,
  errors: ['conflict', 'not_found'],
} as const

/** What happens to a device after it was made: changes, other secrets, its end. */
export function deviceChangeRoutes(needs: DeviceRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Devices'] })
    addChange(add, needs)
    addRotation(add, needs)
    addEnds(add, needs)
  }
}

function addChange(add: AddOperation, needs: DeviceRoutesNeeds): void {
  const { devices, droppedPublishes, clock } = needs

  add('PUT /devices/:deviceId', {
    ...shared,
    operationId: 'changeDevice',
    summary: 'Change a device; what is not sent stays.',
    description: 'Its sessions end, and begin again with its new rights.',
    body: describedOnly(api.changedDeviceSchema),
    answers: { 200: api.deviceSchema },
    handler: async (exchange) => {
      const { caller, params } = exchange
      const device = await visibleDevice(devices, caller, params.deviceId)
      await change(needs, device, exchange)
      const changed = await visibleDevice(devices, caller, device.id)
      return api.deviceBody(changed, clock.nowUs(), droppedPublishes.of(device.id))
    },
  })
}

function addRotation(add: AddOperation, needs: DeviceRoutesNeeds): void {
  const { devices, directory, droppedPublishes, clock, posts, callerOf } = needs

  add('POST /devices/:deviceId/rotate', {
    ...shared,
    operationId: 'rotateDevice',
    summary: 'Give a device a new secret; the one before stays good for a while.',
    description: 'With an overlap of 0 its sessions end at once.',
    headers: keyHeaders,
    body: api.rotationSchema,
    answers: { 200: api.deviceWithSecretSchema },
    handler: async (exchange) => {
      const { caller, params, body: asked, request } = exchange
      const found = await visibleDevice(devices, caller, params.deviceId)
      return await posts.answer(secretPostOf(exchange), async () => {
        assertMayGive(directory, caller, found.expiresAtUs)
        const overlapS = asked?.overlapSeconds ?? overlapSDefault
        const actor = actorOf(request, callerOf)
        const { device, secret, ...plan } = await devices.planRotation(actor, found, overlapS)
        const dropped = droppedPublishes.of(device.id)
        const body = api.bodyWithSecret({ device, secret }, clock.nowUs(), dropped)
        return { ...plan, statusCode: 200, body, refusal: async () => changedMeanwhile() }
      })
    },
  })
}

function addEnds(add: AddOperation, needs: DeviceRoutesNeeds): void {
  const { devices, droppedPublishes, clock, posts, callerOf } = needs

  add('POST /devices/:deviceId/revoke', {
    ...shared,
    operationId: 'revokeDevice',
    summary: 'Revoke a device: its tokens and sessions end at once, and it stays in the list.',
    headers: keyHeaders,
    answers: { 200: api.deviceSchema },
    handler: async (exchange) => {
      const { caller, params, request } = exchange
      const device = await deviceToEnd(needs, caller, params.deviceId)
      return await posts.answer(postOf(exchange), async () => {
        const plan = devices.planRevocation(actorOf(request, callerOf), device)
        const nowUs = clock.nowUs()
        const revoked = { ...device, revokedAtUs: device.revokedAtUs ?? nowUs }
        const dropped = droppedPublishes.of(device.id)
        return { ...plan, statusCode: 200, body: api.deviceBody(revoked, nowUs, dropped) }
      })
    },
  })

  add('DELETE /devices/:deviceId', {
    ...shared,
    operationId: 'deleteDevice',
    summary: 'Delete a device: its tokens and sessions end at once. Its readings stay.',
    answers: { 204: noContent },
    handler: async ({ caller, params, request }) => {
      const device = await deviceToEnd(needs, caller, params.deviceId)
      await devices.remove(actorOf(request, callerOf), device)
      return null
    },
  })
}

/** A device that somebody wants to end. @throws DomainError `not_found`, `insufficient_permissions` */
async function deviceToEnd(
  { devices, directory }: DeviceRoutesNeeds,
  caller: AuthenticatedCaller,
  id: string,
): Promise<Device> {
  const device = await visibleDevice(devices, caller, id)
  assertMayGive(directory, caller, device.expiresAtUs)
  return device
}

async function change(
  needs: DeviceRoutesNeeds,
  device: Device,
  { caller, body, request }: Exchange,
): Promise<void> {
  const { devices, directory, clock, callerOf } = needs
  const wanted = parseDeviceRequest(body, 'change', clock.nowUs())
  const settings = settingsOf(wanted, wanted.streamIds ?? device.streamIds, device)
  const { certificateName, expiresAtUs } = settings
  if (device.revokedAtUs !== undefined) throw hasEnded()
  if (concernsRights(wanted)) {
    // Nothing is taken either from a device that can do more than the caller.
    assertMayGive(directory, caller, device.expiresAtUs)
    assertMayGive(directory, caller, expiresAtUs)
  }
  if (certificateName !== undefined && certificateName !== device.certificateName) {
    assertMayName(caller, device.ownerId, certificateName)
  }
  const { mayRegisterAgain } = wanted
  const actor = actorOf(request, callerOf)
  if (await devices.change(actor, device, { ...settings, mayRegisterAgain })) return
  throw await refusal(needs, device, settings)
}

/** Whether somebody could send something with the device, or as it, that could not before, or no more. */
function concernsRights({ mayRegisterAgain, ...settings }: DeviceRequest): boolean {
  return mayRegisterAgain === true || Object.keys(settings).some((name) => name !== 'name')
}
