import type { TSchema } from 'typebox'
import * as s from '../../src/requests/http/schema.ts'
import {
  bodyOf,
  pushReadings,
  pushToStreams,
  readByDefinition,
  readingsBody,
  selfDescribing,
} from '../http/http-push-api.ts'
import { anyQuery } from '../http/request-context.ts'

const fleetId = { ...s.text, description: 'The id of the fleet, or its name.' }

const { 'line-protocol': lines, prometheus } = readByDefinition

/** Formats whose rows name their values. */
const readByRows = { 'line-protocol': lines, prometheus }

const deviceReading = s.component('DeviceReading', {
  type: 'object',
  description:
    'A reading, with the name of its device in the member that `source.deviceField` of the fleet names.',
  properties: { timestamp: s.dateTime },
  additionalProperties: true,
  examples: [{ device: 'boiler', timestamp: '2026-01-31T10:00:00Z', temperature: 21.5 }],
})

/** Readings of several devices of a fleet in one request. */
export const pushToFleet = {
  operationId: 'pushReadingsToFleet',
  summary: 'Push readings of the devices of a fleet.',
  description: [
    'One reading, or many, of any devices: each names its device in the member that `source.deviceField` of the fleet',
    'says. At most 4 MiB and 10,000 readings, in JSON, NDJSON, CBOR or MessagePack, in the line protocol of InfluxDB, as',
    'text or remote write of Prometheus, or as metrics of OTLP. The first reading of a new device makes its stream. 202',
    'means that all that were accepted are on disk.',
  ].join(' '),
  tags: ['Readings'],
  params: s.record({ fleetId }),
  headers: s.keyHeaders,
  querystring: s.record({ precision: s.text }, { optional: ['precision'] }),
  body: bodyOf({
    ...selfDescribing(
      { oneOf: [deviceReading, s.listOf(deviceReading, { minItems: 1, maxItems: 10_000 })] },
      deviceReading,
    ),
    ...readByRows,
  }),
  response: { 202: pushToStreams.response[202], 422: pushToStreams.response[422] },
} as const

/** Readings of one device of a fleet, which the address names. */
export const pushToFleetDevice = {
  operationId: 'pushReadingsToFleetDevice',
  summary: 'Push readings of one device of a fleet.',
  description:
    'As to a data stream: the stream is that of the device, and the first reading of a new device makes it.',
  tags: ['Readings'],
  params: s.record({ fleetId, device: { ...s.text, description: 'The name of the device.' } }),
  headers: s.keyHeaders,
  querystring: anyQuery,
  body: readingsBody,
  response: pushReadings.response,
} as const

/** Statuses that a message in the protocol of another service may be refused with. */
const refusedStatuses = [400, 401, 403, 404, 409, 413, 415, 422, 429, 503] as const

const namesFleet = { ...s.text, description: 'Names a fleet by its id or its name.' }

/** Words of the query of other protocols that name a fleet. */
export const fleetNames = { fleet: namesFleet, bucket: namesFleet, db: namesFleet } as const

/** Answers of refusals in the form of a protocol. */
export function refusedWith(answer: TSchema): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(refusedStatuses.map((status) => [status, answer]))
}
