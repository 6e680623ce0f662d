import { deviceNamed } from '../../processors/mapping/device-name.ts'
import { messageOfRecords, type Records, type SampleRecord } from '../../processors/records.ts'
import type {
  CompiledStream,
  DecodedMessage,
  UndecodableMessage,
} from '../../src/contracts/reading.ts'
import type { PayloadFormat } from '../../src/contracts/stream-schema.ts'
import { deviceNameProblem } from '../../src/core/device-names.ts'
import type { Rejection } from '../http/http-push-api.ts'

/** What one device has sent in a message. */
export interface DevicePart {
  readonly device: string
  /** The place in the message of each of its rows. */
  readonly places: readonly number[]
  /** Its rows as readings of its stream, before a mapping, and their bytes. */
  readonly read: (stream: CompiledStream) => {
    readonly payload: Uint8Array
    readonly decoded: DecodedMessage | UndecodableMessage
  }
}

/** A message by the devices that it names. */
export interface MessageParts {
  readonly parts: readonly DevicePart[]
  /** Rows that name no device, or cannot be read: they are kept nowhere. */
  readonly rejected: readonly Rejection[]
  /** All rows of the message. */
  readonly rows: number
  /** A number that is greater than all places. */
  readonly placesEnd: number
}

/** Sorts the rows of a message by their devices, in the order in which these come first. */
export function recordsByDevice(
  records: Records,
  {
    deviceField,
    format,
  }: { readonly deviceField: string | undefined; readonly format: PayloadFormat },
): MessageParts {
  const nameOf = deviceNamed(deviceField)
  const devices = new Map<string, { readonly records: SampleRecord[]; readonly places: number[] }>()
  const rejected: Rejection[] = []
  for (const [index, record] of records.entries()) {
    if ('problem' in record) {
      rejected.push(rejectedRow(index, record.problem))
      continue
    }
    const device = nameOf(record.members)
    if (device === undefined || deviceNameProblem(device) !== undefined) {
      rejected.push({ index, ...withoutDevice(deviceField) })
      continue
    }
    const known = devices.get(device) ?? { records: [], places: [] }
    devices.set(device, known)
    known.records.push(record)
    known.places.push(index)
  }
  const parts = [...devices].map(([device, own]) => ({
    device,
    places: own.places,
    read: (stream: CompiledStream) => ({
      payload: nothing,
      decoded: messageOfRecords(own.records, stream, format),
    }),
  }))
  return { parts, rejected, rows: records.length, placesEnd: records.length }
}

/** The rows say all themselves: each is kept as JSON of its own. */
const nothing = new Uint8Array()

/** What is answered about a row that cannot be read. */
export function rejectedRow(index: number, problem: string): Rejection {
  const remedy = 'Correct the row that index names, and send it again.'
  return { index, error: 'malformed', message: problem, remedy, details: [] }
}

/** What is answered about a row that names no device. */
export function withoutDevice(deviceField: string | undefined): Omit<Rejection, 'index'> {
  const path = deviceField ?? 'deviceField'
  const message =
    deviceField === undefined
      ? 'the definition of the fleet has no source.deviceField, so nothing in a row can name its device'
      : `${deviceField} must name the device`
  const remedy =
    deviceField === undefined
      ? 'Set source.deviceField with PUT /fleets/{fleetId}, or send to /fleets/{fleetId}/devices/{device}/data.'
      : 'Send the member that source.deviceField of the fleet names, or set another one with PUT /fleets/{fleetId}.'
  return { error: 'malformed', message, remedy, details: [{ path, message }] }
}
