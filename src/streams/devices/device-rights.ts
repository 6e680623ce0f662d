import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { KeyDirectory } from '../../access/auth/key-directory.ts'
import { grants } from '../../access/auth/scopes.ts'
import { DomainError, lackingPermission } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { assertHolds, assertOutlives } from '../../identity/keys/key.ts'
import type { Device, DeviceSettings } from './device.ts'
import type { DeviceStore } from './device-store.ts'

/**
 * What a caller may give to a device: no more than the caller's own key has, in scope and in time. A
 * device without an end of its own ends with the key that made it.
 *
 * @throws DomainError `insufficient_permissions`, or `invalid_api_key` for a key that has ended
 */
export function grantedSettings(
  directory: Pick<KeyDirectory, 'find'>,
  caller: AuthenticatedCaller,
  settings: DeviceSettings,
): DeviceSettings {
  const { certificateName } = settings
  const expiresAtUs = settings.expiresAtUs ?? directory.find(caller.apiKeyId)?.expiresAtUs
  assertMayGive(directory, caller, expiresAtUs)
  if (certificateName !== undefined) assertMayName(caller, caller.userId, certificateName)
  return { ...settings, expiresAtUs }
}

/**
 * Who gets the credentials of a device can send readings, until they end (undefined: for good). To end a device
 * takes as much: nobody ends what has more than their own key.
 *
 * @throws DomainError `insufficient_permissions`, or `invalid_api_key` for a key that has ended
 */
export function assertMayGive(
  directory: Pick<KeyDirectory, 'find'>,
  caller: AuthenticatedCaller,
  expiresAtUs: number | undefined,
): void {
  assertHolds(caller, ['data:write'])
  const key = directory.find(caller.apiKeyId)
  if (!key) throw new DomainError('invalid_api_key', 'the key in use has ended')
  assertOutlives(key, expiresAtUs)
}

/**
 * Nobody can claim a name that belongs to somebody else: names that begin with a user's id and a
 * colon are that user's to give, and any other one is given by who runs the service.
 *
 * @throws DomainError `insufficient_permissions`
 */
export function assertMayName(
  { scope }: Pick<AuthenticatedCaller, 'scope'>,
  ownerId: UserId,
  certificateName: string,
): void {
  if (certificateName.startsWith(`${ownerId}:`) || grants(scope, 'platform:admin')) return
  const reason = ` for a certificateName that does not begin with '${ownerId}:'`
  throw lackingPermission('platform:admin', reason)
}

/** @throws DomainError `not_found` for the devices of others, just as for ids that no device has */
export async function visibleDevice(
  devices: Pick<DeviceStore, 'find'>,
  caller: AuthenticatedCaller,
  id: string,
): Promise<Device> {
  const device = await devices.find(id)
  const isVisible = device?.ownerId === caller.userId || grants(caller.scope, 'platform:admin')
  if (!device || !isVisible) throw notFound('device', id)
  return device
}
