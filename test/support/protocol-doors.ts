import { jsonOf, protobufOf, requestOf } from './otlp-messages.ts'
import { attribute, gauge } from './otlp-points.ts'
import { snapped, writeRequest } from './prometheus/remote-write-bodies.ts'

/** Where clients of each protocol send their rows, and how a row and a refusal look there. */

export type DoorHeaders = Readonly<Record<string, string>>

export interface ProtocolDoor {
  readonly name: string
  /** @param fleet its id or name; undefined: the request names none */
  readonly path: (fleet?: string) => string
  readonly headers: DoorHeaders
  /** A row of each device, with the value 1 and a time that counts up. */
  readonly body: (devices: readonly string[]) => Uint8Array
  /** The status when all is stored. */
  readonly stored: number
  /** The status when a part of it was refused. */
  readonly partly: number
  /** Whether a text is a refusal in the form of the protocol. */
  readonly isRefusal: (text: string) => boolean
}

const timeMs = Date.UTC(2026, 0, 1)

/** The member of a row that names its device. */
export const deviceField = 'host'

function named(parameter: string, path: string) {
  return (fleet?: string) =>
    fleet === undefined ? path : `${path}?${parameter}=${encodeURIComponent(fleet)}`
}

function linesOf(devices: readonly string[]): Uint8Array {
  const lines = devices.map((host, index) => `load,host=${host} value=1 ${timeMs + index}000000\n`)
  return Buffer.from(lines.join(''))
}

function pointsOf(devices: readonly string[]): object {
  const points = devices.map((host, index) => ({
    asDouble: 1,
    timeUnixNano: `${timeMs + index}000000`,
    attributes: [attribute(deviceField, { stringValue: host })],
  }))
  return requestOf({ ...gauge({}), gauge: { dataPoints: points } })
}

function hasMembers(...members: readonly string[]) {
  return (text: string) => {
    try {
      const body = JSON.parse(text) as object
      return Object.keys(body).toSorted().join() === members.join()
    } catch {
      return false
    }
  }
}

const lines = { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: linesOf }

export const influx1: ProtocolDoor = {
  name: 'InfluxDB 1',
  path: named('db', '/write'),
  ...lines,
  stored: 204,
  partly: 400,
  isRefusal: hasMembers('error'),
}

export const influx2: ProtocolDoor = {
  name: 'InfluxDB 2',
  path: named('bucket', '/api/v2/write'),
  ...lines,
  stored: 204,
  partly: 400,
  isRefusal: hasMembers('code', 'message'),
}

export const remoteWrite: ProtocolDoor = {
  name: 'remote write',
  path: named('fleet', '/api/v1/write'),
  headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
  body: (devices) =>
    snapped(
      writeRequest(
        devices.map((host, index) => ({
          labels: [
            ['__name__', 'load'],
            [deviceField, host],
          ],
          samples: [{ value: 1, timeMs: timeMs + index }],
        })),
      ),
    ),
  stored: 204,
  partly: 400,
  // A sentence.
  isRefusal: (text) => /^[^{].+\n$/s.test(text),
}

export const otlpJson: ProtocolDoor = {
  name: 'OTLP in JSON',
  path: named('fleet', '/v1/metrics'),
  headers: { 'content-type': 'application/json' },
  body: (devices) => jsonOf(pointsOf(devices)),
  stored: 200,
  partly: 200,
  isRefusal: hasMembers('code', 'message'),
}

export const otlpProtobuf: ProtocolDoor = {
  ...otlpJson,
  name: 'OTLP in Protobuf',
  headers: { 'content-type': 'application/x-protobuf' },
  body: (devices) => protobufOf(pointsOf(devices)),
  // A google.rpc.Status: its code, and its message.
  isRefusal: (text) => text.startsWith('\u0008') && text.charAt(2) === '\u0012',
}

export const protocolDoors = [influx1, influx2, remoteWrite, otlpJson, otlpProtobuf] as const
