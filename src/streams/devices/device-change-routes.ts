import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../requests/http/server.ts'
import { type Device, deviceBody } from './device.ts'
import { type DeviceRequest, parseDeviceRequest, settingsOf } from './device-request.ts'
import { assertMayGive, assertMayName, visibleDevice } from './device-rights.ts'
import {
  bodyWithSecret,
  changedMeanwhile,
  type DeviceRoutesNeeds,
  type OneDevice,
  refusal,
  secretPost,
} from './device-routes.ts'
import * as schemas from './device-schemas.ts'
import { hasEnded } from './device-store.ts'

/** Seconds that the secret before a rotation stays good, unless somebody says otherwise. */
const overlapSDefault = 86_400

interface RotateDevice extends OneDevice {
  Body: { overlapSeconds?: number } | null | undefined
}

/** What happens to a device after it was made: changes, other secrets, its end. */
export function deviceChangeRoutes(needs: DeviceRoutesNeeds): FastifyPluginAsync {
  const { devices, droppedPublishes, clock, posts, callerOf } = needs
  const config = { scope: 'keys:admin', errors: ['conflict', 'not_found'] } as const
  const deviceOf = (request: FastifyRequest<OneDevice>) =>
    visibleDevice(devices, callerOf(request), request.params.deviceId)
  return async (app) => {
    app.put<OneDevice>(
      '/devices/:deviceId',
      { schema: schemas.changeDevice, config },
      async (request) => {
        const device = await deviceOf(request)
        await change(needs, device, request)
        const changed = await visibleDevice(devices, callerOf(request), device.id)
        return deviceBody(changed, clock.nowUs(), droppedPublishes.of(device.id))
      },
    )

    app.post<RotateDevice>(
      '/devices/:deviceId/rotate',
      { schema: schemas.rotateDevice, config },
      async (request, reply) => {
        const found = await deviceOf(request)
        return await posts.answer(secretPost(needs, request, reply), async () => {
          assertMayGive(needs.directory, callerOf(request), found.expiresAtUs)
          const overlapS = request.body?.overlapSeconds ?? overlapSDefault
          const actor = actorOf(request, callerOf)
          const { device, secret, ...plan } = await devices.planRotation(actor, found, overlapS)
          const dropped = droppedPublishes.of(device.id)
          const body = bodyWithSecret({ device, secret }, clock.nowUs(), dropped)
          return { ...plan, statusCode: 200, body, refusal: async () => changedMeanwhile() }
        })
      },
    )

    app.post<OneDevice>(
      '/devices/:deviceId/revoke',
      { schema: schemas.revokeDevice, config },
      async (request, reply) => {
        const device = endedBy(needs, request, await deviceOf(request))
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const plan = devices.planRevocation(actorOf(request, callerOf), device)
          const nowUs = clock.nowUs()
          const revoked = { ...device, revokedAtUs: device.revokedAtUs ?? nowUs }
          const dropped = droppedPublishes.of(device.id)
          return { ...plan, statusCode: 200, body: deviceBody(revoked, nowUs, dropped) }
        })
      },
    )

    app.delete<OneDevice>(
      '/devices/:deviceId',
      { schema: schemas.deleteDevice, config },
      async (request, reply) => {
        const device = endedBy(needs, request, await deviceOf(request))
        await devices.remove(actorOf(request, callerOf), device)
        return reply.code(204).send()
      },
    )
  }
}

/** A device that somebody wants to end. @throws DomainError `insufficient_permissions` */
function endedBy(
  { directory, callerOf }: DeviceRoutesNeeds,
  request: FastifyRequest,
  device: Device,
): Device {
  assertMayGive(directory, callerOf(request), device.expiresAtUs)
  return device
}

async function change(
  needs: DeviceRoutesNeeds,
  device: Device,
  request: FastifyRequest<OneDevice>,
): Promise<void> {
  const { devices, directory, clock, callerOf } = needs
  const caller = callerOf(request)
  const wanted = parseDeviceRequest(request.body, 'change', clock.nowUs())
  const settings = settingsOf(wanted, wanted.streamIds ?? device.streamIds, device)
  const { certificateName, expiresAtUs } = settings
  if (device.revokedAtUs !== undefined) throw hasEnded()
  if (concernsRights(wanted)) {
    // Of one that can do more than the caller, nothing is taken either.
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
