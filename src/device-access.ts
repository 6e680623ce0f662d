import type { AuditLog } from './audit/audit-log.ts'
import type { Auth } from './auth/auth.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { deviceBulkRoutes } from './devices/device-bulk-routes.ts'
import { deviceChangeRoutes } from './devices/device-change-routes.ts'
import { deviceRoutes } from './devices/device-routes.ts'
import { DeviceStore } from './devices/device-store.ts'
import { provisioningRoutes } from './devices/provisioning-routes.ts'
import { ProvisioningStore } from './devices/provisioning-store.ts'
import { RegisteredDevices } from './devices/registered-devices.ts'
import { registrationRoutes } from './devices/registration-routes.ts'
import type { Domains } from './domains.ts'
import type { GuardedRoutes } from './http/server.ts'
import type { Posts } from './idempotency/posts.ts'
import type { StateDatabase, StateWriter } from './state/database.ts'

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
