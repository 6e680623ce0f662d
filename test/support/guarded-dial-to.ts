import type { Dial } from '../../src/contracts/fetch-connector.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

/** A way out to some ports of this machine. */
export function guardedDialTo(...ports: readonly number[]): Dial {
  const allowed = new AllowedDestinations(ports.map((port) => ({ host: '127.0.0.1', port })))
  return guardedDial(new EgressGuard({ allowed }))
}
