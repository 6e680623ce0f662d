import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { OtlpEncoding } from '../../processors/decode-otlp.ts'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'

/**
 * Answers of OTLP over HTTP (its specification, OTLP/HTTP): each is written as its request is.
 */

export interface OtlpAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const mediaTypes: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

/** How a request is written, by its content type; undefined for a type that OTLP does not have. */
export function otlpEncodingOf(contentType: string | undefined): OtlpEncoding | undefined {
  const [mediaType = ''] = (contentType ?? '').split(';')
  const name = mediaType.trim().toLowerCase()
  if (name === mediaTypes.protobuf) return 'protobuf'
  return name === mediaTypes.json ? 'json' : undefined
}

/** Data points that were refused although the request was accepted: the client does not send them again. */
export interface RejectedDataPoints {
  readonly count: number
  /** What is wrong with them, for people. */
  readonly message: string
}

/**
 * An ExportMetricsServiceResponse: the data points are stored, but for those that were refused.
 *
 * @param rejected nothing where all were accepted
 */
export function otlpAnswer(encoding: OtlpEncoding, rejected?: RejectedDataPoints): OtlpAnswer {
  const body = encoding === 'json' ? jsonOf(partialSuccess(rejected)) : responseInProtobuf(rejected)
  return { statusCode: 200, headers: { 'content-type': mediaTypes[encoding] }, body }
}

/** A text of JSON has integers of 64 bits as texts. */
function partialSuccess(rejected: RejectedDataPoints | undefined): object {
  if (rejected === undefined) return {}
  const { count, message } = rejected
  return { partialSuccess: { rejectedDataPoints: String(count), errorMessage: message } }
}

function responseInProtobuf(rejected: RejectedDataPoints | undefined): Buffer {
  if (rejected === undefined) return Buffer.alloc(0)
  const partial = new BinaryWriter()
  partial.tag(1, WireType.Varint).int64(rejected.count)
  partial.tag(2, WireType.LengthDelimited).string(rejected.message)
  const response = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partial.finish())
  return Buffer.from(response.finish())
}

/** Statuses after which a client of OTLP sends the same request again; after any other it drops its data. */
const retryableStatuses: readonly number[] = [429, 503]

type Refusal = Pick<ErrorBody, 'statusCode' | 'message' | 'remedy' | 'retryAfter'>

/**
 * A google.rpc.Status for a refusal. One after which the same request may succeed has a status that clients of OTLP
 * repeat requests for, and the header Retry-After; any other has none of these, so that no client repeats it for ever.
 */
export function otlpError(encoding: OtlpEncoding, refusal: Refusal): OtlpAnswer {
  const { message, remedy, retryAfter } = refusal
  const statusCode =
    retryAfter === undefined ? refusal.statusCode : retryableStatus(refusal.statusCode)
  return {
    statusCode,
    headers: {
      'content-type': mediaTypes[encoding],
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: statusIn(encoding, rpcCodeOf(statusCode), `${message}. ${remedy}`),
  }
}

/** After 408 a client would drop its data. */
function retryableStatus(statusCode: number): number {
  return retryableStatuses.includes(statusCode) ? statusCode : 503
}

/** Codes of gRPC (google/rpc/code.proto) by statuses of HTTP. */
const rpcCodes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 9,
  413: 3,
  415: 3,
  422: 3,
  429: 8,
  500: 13,
  503: 14,
}

const unknownCode = 2

function rpcCodeOf(statusCode: number): number {
  return rpcCodes[statusCode] ?? unknownCode
}

function statusIn(encoding: OtlpEncoding, code: number, message: string): Buffer {
  if (encoding === 'json') return jsonOf({ code, message })
  const writer = new BinaryWriter()
  writer.tag(1, WireType.Varint).int32(code)
  writer.tag(2, WireType.LengthDelimited).string(message)
  return Buffer.from(writer.finish())
}

function jsonOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
