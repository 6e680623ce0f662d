import { expect } from 'vitest'
import { otlpRecords } from '../../processors/decode-otlp.ts'
import type { Records } from '../../processors/records.ts'
import { jsonOf, protobufOf } from './otlp-messages.ts'

/** Nanoseconds since 1970, with more digits than a double. */
export const timeUnixNano = '1769853590123456789'
export const timeUs = 1_769_853_590_123_456

/** The records of a request, which are the same in both encodings. */
export function recordsInBoth(request: object): Records {
  const inProtobuf = otlpRecords(protobufOf(request), 'protobuf')
  const inJson = otlpRecords(jsonOf(request), 'json')
  if (!inProtobuf.ok) throw new Error(inProtobuf.problem)
  if (!inJson.ok) throw new Error(inJson.problem)
  expect(withoutKept(inJson.records)).toEqual(withoutKept(inProtobuf.records))
  return inProtobuf.records
}

function withoutKept(records: Records) {
  return records.map((record) => ('problem' in record ? { problem: record.problem } : record))
}

/** A gauge of one point. */
export function gauge(point: object, rest: object = {}): object {
  return { name: 'load', ...rest, gauge: { dataPoints: [{ timeUnixNano, ...point }] } }
}

export function attribute(key: string, value: object): object {
  return { key, value }
}

export function text(key: string, stringValue: string): object {
  return attribute(key, { stringValue })
}
