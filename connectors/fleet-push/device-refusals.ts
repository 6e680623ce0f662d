import { deviceNameProblem } from '../../src/core/device-names.ts'
import { closedRefusal, type Refusal } from '../http/sorted-readings.ts'
import type { DeviceProblem, FoundStream, TargetFleet } from './fleet-target.ts'

/** Characters of a device's name that an answer shows. */
const shownLength = 100

/** What is answered about readings of a device that are kept nowhere. */
export function deviceRefusal(
  { name: fleet, deviceField }: TargetFleet,
  device: string,
  found: FoundStream | undefined,
): Refusal {
  if (found?.stream !== undefined) return closedRefusal(found.stream)
  const problem = deviceNameProblem(device)
  if (problem !== undefined) {
    const path = deviceField ?? 'device'
    const details = [{ path, message: problem }]
    return { error: 'malformed', message: `${path} ${problem}`, remedy: nameRemedy, details }
  }
  const { error, message, remedy } = refusals[found?.problem ?? 'unknown']
  const shown = device.slice(0, shownLength)
  return { error, message: `${message}: ${shown}, fleet ${fleet}`, remedy, details: [] }
}

const nameRemedy =
  'Send the name of the device where the definition of the fleet says: its deviceField, its topic, or the address.'

const refusals: Readonly<Record<DeviceProblem, Omit<Refusal, 'details'>>> = {
  denied: {
    error: 'conflict',
    message: 'the device is denied',
    remedy: 'POST /fleets/{fleetId}/devices/{device}/allow lets it send again.',
  },
  full: {
    error: 'conflict',
    message: 'the fleet has as many streams as its streamsMax, and the device has none',
    remedy:
      'Set a greater streamsMax with PUT /fleets/{fleetId}, or delete streams of devices that are gone.',
  },
  no_fleet: {
    error: 'not_found',
    message: 'the fleet was deleted',
    remedy: 'GET /fleets lists the fleets that there are.',
  },
  unknown: {
    error: 'not_found',
    message: 'no device of the caller',
    remedy: 'A device sends its own readings only; a key of a user sends those of every device.',
  },
}
