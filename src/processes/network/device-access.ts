import type { AuditLog } from '../../access/audit/audit-log.ts'
import type { Auth } from '../../access/auth/auth.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { deviceBulkRoutes } from '../../streams/devices/device-bulk-routes.ts'
import { deviceChangeRoutes } from '../../streams/devices/device-change-routes.ts'
import { deviceRoutes } from '../../streams/devices/device-routes.ts'
import { DeviceStore } from '../../streams/devices/device-store.ts'
import { provisioningRoutes } from '../../streams/devices/provisioning-routes.ts'
import { ProvisioningStore } from '../../streams/devices/provisioning-store.ts'
import { RegisteredDevices } from '../../streams/devices/registered-devices.ts'
import { registrationRoutes } from '../../streams/devices/registration-routes.ts'
import type { Domains } from './domains.ts'

export interface DevicesNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
  readonly audit: AuditLog
  readonly auth: Auth
  readonly posts: Posts
}

export type Devices = ReturnType<typeof openDevices>

/** Composition of the credentials of devices. */
export function openDevices(needs: DevicesNeeds) {
  const { auth, posts, state, clock } = needs
  const { directory, droppedPublishes, masterKey, limitedKeys: keys } = auth
  const parts = { ...needs, masterKey, keys }
  const devices = new DeviceStore(parts)
  const routed = { state, devices, directory, droppedPublishes, clock, posts }
  const routes: readonly GuardedRoutes[] = [
    (callerOf) => deviceRoutes({ ...routed, callerOf }),
    (callerOf) => deviceChangeRoutes({ ...routed, callerOf }),
    (callerOf) => deviceBulkRoutes({ ...routed, callerOf }),
  ]
  return {
    ...routed,
    registered: new RegisteredDevices(parts),
    provisioning: new ProvisioningStore(parts),
    routes,
  }
}

/** How devices register themselves: for that vaults and streams have to be there. */
export function registeringRoutes(devices: Devices, domains: Domains): readonly GuardedRoutes[] {
  const parts = { ...domains, ...devices, clock: systemClock }
  return [
    (callerOf) => provisioningRoutes({ ...parts, callerOf }),
    (callerOf) => registrationRoutes({ ...parts, callerOf }),
  ]
}
