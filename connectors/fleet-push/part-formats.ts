import type { FastifyRequest } from 'fastify'
import { sharedLineDecoder } from '../../processors/decode-lines.ts'
import { linesByTag } from '../../processors/line-protocol/lines-by-tag.ts'
import { precisionNamed } from '../../processors/line-protocol/precision.ts'
import { formatOfBody } from '../../processors/media-types.ts'
import { recordReaders } from '../../processors/record-formats.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { deviceNameProblem } from '../../src/core/device-names.ts'
import { DomainError } from '../../src/core/errors.ts'
import {
  type DevicePart,
  type MessageParts,
  recordsByDevice,
  rejectedRow,
  withoutDevice,
} from './device-parts.ts'
import type { TargetFleet } from './fleet-target.ts'

/**
 * The body of a request in a format whose rows name their values, by devices; undefined for another format.
 *
 * @throws DomainError `malformed_body`, or `invalid_request` for a precision that there is not
 */
export function partsOfBody(
  { body, headers }: FastifyRequest,
  { deviceField }: TargetFleet,
  precision: string | undefined,
): MessageParts | undefined {
  const payload = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const format = formatOfBody(headers) ?? 'json'
  if (format === 'line-protocol') return partsOfLines(payload, { deviceField, precision })
  const read = recordReaders[format]
  if (read === undefined) return undefined
  const found = read(payload)
  if (!found.ok) throw new DomainError('malformed_body', found.problem)
  return recordsByDevice(found.records, { deviceField, format })
}

/**
 * Lines of InfluxDB line protocol by the devices that one of their tags names.
 *
 * @param precision the unit of their times, as a request names it; nanoseconds if nothing is said
 * @throws DomainError `invalid_request` for a precision that there is not
 */
export function partsOfLines(
  payload: Uint8Array,
  {
    deviceField,
    precision: named = 'ns',
  }: { readonly deviceField: string | undefined; readonly precision: string | undefined },
): MessageParts {
  const precision = precisionNamed(named)
  if (precision === undefined) {
    const message = 'must be one of ns, us, ms, s, m and h'
    throw new DomainError('invalid_request', `precision ${message}`, {
      details: [{ path: 'precision', message }],
    })
  }
  // Hardly a tag has this name, and one that has is of no device.
  const { devices, refused } = linesByTag(payload, deviceField ?? '')
  const parts: DevicePart[] = []
  const rejected = refused.map(({ place, problem }) =>
    deviceField === undefined
      ? { index: place - 1, ...withoutDevice(undefined) }
      : rejectedRow(place - 1, problem),
  )
  let [rows, placesEnd] = [refused.length, refused.at(-1)?.place ?? 0]
  for (const { device, payload: lines, places } of devices) {
    rows += places.length
    placesEnd = Math.max(placesEnd, places.at(-1) ?? 0)
    const own = places.map((place) => place - 1)
    if (deviceField !== undefined && deviceNameProblem(device) === undefined) {
      const read = (stream: CompiledStream) => ({
        payload: lines,
        decoded: sharedLineDecoder(stream, precision)(lines, stream.scan),
      })
      parts.push({ device, places: own, read })
    } else rejected.push(...own.map((index) => ({ index, ...withoutDevice(deviceField) })))
  }
  return { parts, rejected, rows, placesEnd }
}
