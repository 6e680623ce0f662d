import { FleetChanges } from '../../streams/fleets/fleet-changes.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'

/** What brings the streams of fleets to where their fleets are. */
export function openFleetChanges(
  { state, worker, deletions }: Engine,
  domains: Domains,
  around: {
    readonly endStream: (id: Parameters<Domains['directory']['forget']>[0]) => void
    readonly onFailure: (error: unknown) => void
  },
): FleetChanges {
  const { directory, fleetDevices } = domains
  return new FleetChanges({
    ...domains,
    ...around,
    state,
    writer: worker,
    forget: (id) => directory.forget(id),
    onChanged: () => worker.wakeRetention(),
    forgetDevice: (place) => fleetDevices.forget(place),
    onDeleted(id) {
      around.endStream(id)
      deletions.wake()
    },
  })
}
