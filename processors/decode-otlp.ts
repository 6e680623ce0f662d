import type { DecodedStream, Decoder, UndecodableMessage } from '../src/contracts/reading.ts'
import { UnreadableItem } from './decode-binary.ts'
import { pointsOfJson } from './otlp-json.ts'
import type { Point, Points } from './otlp-points.ts'
import { pointsOfProtobuf } from './otlp-protobuf.ts'
import { recordOf } from './otlp-record.ts'
import { messageOfRecords, type Records } from './records.ts'

/** How a request is written: the content type of OTLP over HTTP says it. */
export type OtlpEncoding = 'protobuf' | 'json'

/** The points of a request that were read, or what is wrong with all of it. */
export type OtlpRequest = { readonly ok: true; readonly records: Records } | UndecodableMessage

/**
 * A record for each data point of an ExportMetricsServiceRequest (OTLP 1.x, metrics), in its order. Those that say that
 * they have no value are left out, so there may be none. Pure.
 */
export function otlpRecords(payload: Uint8Array, encoding: OtlpEncoding): OtlpRequest {
  try {
    return { ok: true, records: recordsOf(pointsOf(payload, encoding)) }
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error
    return { ok: false, problem: error.message }
  }
}

const openBrace = 123

/** How a request is written of which no header says it: in JSON it begins with a brace, which no Protobuf of OTLP does. */
export function otlpEncodingIn(payload: Uint8Array): OtlpEncoding {
  return payload[0] === openBrace ? 'json' : 'protobuf'
}

/** A decoder of requests for one stream. */
export function otlpDecoder(stream: DecodedStream): Decoder {
  return (payload) => {
    const read = otlpRecords(payload, otlpEncodingIn(payload))
    return read.ok ? messageOfRecords(read.records, stream, 'otlp') : read
  }
}

function pointsOf(payload: Uint8Array, encoding: OtlpEncoding): Points {
  return encoding === 'json' ? pointsOfJson(payload) : pointsOfProtobuf(payload)
}

function recordsOf({ found }: Points): Records {
  return found.flatMap((point): Records => {
    try {
      const record = recordOf(point)
      return record === undefined ? [] : [record]
    } catch (error) {
      return [refused(point, error)]
    }
  })
}

/** @throws unknown what is no problem of the point */
function refused(point: Point, error: unknown) {
  if (!(error instanceof UnreadableItem)) throw error
  return { problem: error.message, kept: point.keep() }
}
