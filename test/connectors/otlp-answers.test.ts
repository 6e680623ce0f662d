import { fromBinary, fromJson, toJson } from '@bufbuild/protobuf'
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { describe, expect, test } from 'vitest'
import {
  type OtlpAnswer,
  otlpAnswer,
  otlpEncodingOf,
  otlpError,
} from '../../connectors/otlp/otlp-answers.ts'
import { otlpMessage } from '../support/otlp-messages.ts'

const encodings = ['protobuf', 'json'] as const

/** An answer as the library of Protobuf reads it. */
function read({ headers, body }: OtlpAnswer, name: 'ExportMetricsServiceResponse' | 'Status') {
  const message = otlpMessage(name)
  return headers['content-type'] === 'application/x-protobuf'
    ? toJson(message, fromBinary(message, body))
    : toJson(message, fromJson(message, JSON.parse(String(body)) as never))
}

describe.each(encodings)('in %s', (encoding) => {
  const serializer = encoding === 'json' ? JsonMetricsSerializer : ProtobufMetricsSerializer

  test('a request that was accepted has an answer without a partial success', () => {
    const answer = otlpAnswer(encoding)
    expect(answer).toMatchObject({ statusCode: 200 })
    expect(read(answer, 'ExportMetricsServiceResponse')).toEqual({})
    expect(String(answer.body)).toBe(encoding === 'json' ? '{}' : '')
  })

  test('data points that were refused are counted, with what is wrong', () => {
    const answer = otlpAnswer(encoding, { count: 3, message: 'é: the data point has no value' })
    expect(read(answer, 'ExportMetricsServiceResponse')).toEqual({
      partialSuccess: { rejectedDataPoints: '3', errorMessage: 'é: the data point has no value' },
    })
    const { partialSuccess } = serializer.deserializeResponse(answer.body)
    expect(Number(partialSuccess?.rejectedDataPoints)).toBe(3)
    expect(partialSuccess?.errorMessage).toBe('é: the data point has no value')
  })

  test.each([
    [{ statusCode: 400 }, 400, 3],
    [{ statusCode: 401 }, 401, 16],
    [{ statusCode: 404 }, 404, 5],
    [{ statusCode: 413 }, 413, 3],
    [{ statusCode: 426 }, 426, 2],
    [{ statusCode: 429, retryAfter: 7 }, 429, 8],
    [{ statusCode: 503, retryAfter: 7 }, 503, 14],
    [{ statusCode: 408, retryAfter: 7 }, 503, 14],
  ])('a refusal is a Status: %j', (refusal, statusCode, code) => {
    const answer = otlpError(encoding, { ...refusal, message: 'it is é', remedy: 'Do this.' })
    expect(answer.statusCode).toBe(statusCode)
    expect(read(answer, 'Status')).toEqual({ code, message: 'it is é. Do this.' })
    expect(answer.headers['retry-after']).toBe('retryAfter' in refusal ? '7' : undefined)
  })
})

test.each([
  ['application/x-protobuf', 'protobuf'],
  ['Application/JSON; charset=utf-8', 'json'],
  ['application/protobuf', undefined],
  ['text/plain', undefined],
  [undefined, undefined],
])('the encoding of %s is %s', (contentType, encoding) => {
  expect(otlpEncodingOf(contentType)).toBe(encoding)
})
