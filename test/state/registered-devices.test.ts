import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { LimitedKeys } from '../../src/access/auth/limited-keys.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type UserId, type VaultId } from '../../src/core/ids.ts'
import { ProvisioningStore } from '../../src/streams/devices/provisioning-store.ts'
import { RegisteredDevices } from '../../src/streams/devices/registered-devices.ts'
import { TestState } from '../support/test-state.ts'

const vaultId = newId<VaultId>()

/** A provisioning key, and a device of its vault that may register again. */
async function registered(subject: TestState, ownerId: UserId, key: object): Promise<void> {
  const { state } = subject
  const made = { owner_id: ownerId, vault_id: vaultId, name: '', secret_digest: '', created_at: 0 }
  const provisioning = {
    ...made,
    id: 'sv_prov_1',
    definition: '{}',
    created_by: '',
    devices_max: 1,
    expires_at: null,
    revoked_at: null,
    readings_per_second: null,
    burst: null,
    registrations_per_minute: 60,
    ...key,
  }
  const nothing = { previous_digest: null, previous_until: null, rotated_at: null, burst: null }
  const device = {
    ...made,
    ...nothing,
    id: 'sv_dev_1',
    name_folded: '',
    created_by: 'sv_prov_1',
    expires_at: null,
    revoked_at: null,
    client_id: null,
    certificate_name: null,
    readings_per_second: null,
    serial: 'SN-1',
    may_register_again: 1,
    last_seen_at: null,
    last_seen_address: null,
    last_seen_protocol: null,
  }
  await subject.commit(
    state.insertInto('provisioning_keys').values(provisioning),
    state.insertInto('devices').values(device),
  )
}

test.each([
  ['registers again', {}, true],
  ['does not with a key that was revoked meanwhile', { revoked_at: 1 }, false],
  ['does not with a key that has expired', { expires_at: 1 }, false],
])('a device that may %s', async (_, key, isDone) => {
  await using subject = await TestState.open()
  const { state } = subject
  const masterKey = new MasterKey(MasterKey.generate())
  const needs = { state, writer: subject, masterKey, clock: systemClock }
  const parts = { ...needs, keys: new LimitedKeys(needs), audit: new AuditLog(state, systemClock) }
  const devices = new RegisteredDevices(parts)
  const provisioning = new ProvisioningStore(parts)
  await registered(subject, await subject.newUser(), key)
  const device = await devices.find(vaultId, 'SN-1')
  if (!device) throw new Error('the device is not there')

  const { changes } = devices.planAgain(device, provisioning.isGood('sv_prov_1'))

  expect(await subject.attempt(...changes)).toBe(isDone)
  expect((await devices.find(vaultId, 'SN-1'))?.mayRegisterAgain).toBe(!isDone)
})
