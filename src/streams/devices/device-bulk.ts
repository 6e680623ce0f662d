import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { Problems } from '../../contracts/definitions/problems.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { bulkMax, type DeviceSettings } from './device.ts'
import type { CsvRow } from './device-csv.ts'
import { type DeviceRequest, readDeviceRequest, settingsOf } from './device-request.ts'
import { assertMayName } from './device-rights.ts'
import type { DeviceStore } from './device-store.ts'
import { ownStreamIds, streamsNamed } from './device-streams.ts'

/** Problems that are named of one request. */
const detailsMax = 1_000

/** A device that is asked for, and where it stands in the request. */
interface Row {
  readonly place: string
  readonly request: DeviceRequest
}

interface BulkNeeds {
  readonly state: StateDatabase
  readonly devices: Pick<DeviceStore, 'takenNames'>
  readonly caller: AuthenticatedCaller
  readonly nowUs: number
}

/**
 * The settings of many new devices: of the lines of a table, or of a JSON array.
 *
 * @throws DomainError `invalid_request` naming every place that is wrong, or
 *   `insufficient_permissions` for a certificateName that is not the caller's to give
 */
export async function parseDevices(
  needs: BulkNeeds,
  items: readonly CsvRow[],
): Promise<readonly DeviceSettings[]> {
  if (items.length === 0 || items.length > bulkMax) {
    throw new DomainError('invalid_request', `send 1 to ${bulkMax} devices at once`)
  }
  const found: ErrorDetail[] = []
  const rows = items.map(({ place, value }) => {
    const problems = new Problems(place, found)
    const options = { kind: 'one of many', nowUs: needs.nowUs } as const
    return { place, request: readDeviceRequest(value, options, problems) }
  })
  if (found.length > 0) throw invalid(found)
  await refuseTakenNames(needs, rows, found)
  const settings = await withStreams(needs, rows, found)
  if (found.length > 0) throw invalid(found)
  return settings
}

async function refuseTakenNames(
  { devices, caller }: BulkNeeds,
  rows: readonly Row[],
  found: ErrorDetail[],
): Promise<void> {
  const names = rows.flatMap(({ request }) => request.certificateName ?? [])
  // First: else anybody could find out which names the devices of others have.
  for (const name of names) assertMayName(caller, caller.userId, name)
  const taken = new Set(await devices.takenNames(names))
  for (const { place, request } of rows) {
    const { certificateName } = request
    if (certificateName === undefined) continue
    if (taken.has(certificateName)) {
      found.push({ path: `${place}.certificateName`, message: "is another device's" })
    }
    taken.add(certificateName)
  }
}

async function withStreams(
  { state, caller: { userId: ownerId } }: BulkNeeds,
  rows: readonly Row[],
  found: ErrorDetail[],
): Promise<readonly DeviceSettings[]> {
  const ids = new Set(rows.flatMap(({ request }) => request.streamIds ?? []))
  const names = new Set(rows.flatMap(({ request }) => request.streamName ?? []))
  const own = await ownStreamIds(state, ownerId, [...ids])
  const named = await streamsNamed(state, ownerId, [...names])
  return rows.map(({ place, request }) => {
    const { streamIds = [], streamName } = request
    if (streamName === undefined) {
      const missing = streamIds.find((id) => !own.has(id))
      if (missing !== undefined) {
        found.push({ path: `${place}.streamIds`, message: `there is no stream ${missing}` })
      }
      return settingsOf(request, streamIds)
    }
    const [only, ...others] = named.get(streamName) ?? []
    const message = only === undefined ? 'there is no stream of this name' : ambiguous
    if (only === undefined || others.length > 0)
      found.push({ path: `${place}.streamName`, message })
    return settingsOf(request, listOfOne(only))
  })
}

const ambiguous = 'several streams have this name: send the streamId'

function listOfOne(id: StreamId | undefined): readonly StreamId[] {
  return id === undefined ? [] : [id]
}

function invalid(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', 'the list of devices is not valid: none was made', {
    details: details.slice(0, detailsMax),
  })
}
