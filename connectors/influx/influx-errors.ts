import type { FastifyRequest } from 'fastify'
import type { ErrorBody, ErrorForm } from '../../src/requests/http/error-handler.ts'
import { withRemedies } from '../fleet-push/protocol-remedies.ts'

/** Errors as InfluxDB writes them. */

const remedies = {
  malformed_body:
    'Send lines of InfluxDB line protocol in UTF-8, at most 10,000 of them; compressed ones with Content-Encoding: gzip or zstd.',
}

/** `{"error": ...}`, as InfluxDB 1 answers. */
export const errorOfV1: ErrorForm = withRemedies(
  (body, request) => inJson(body, { error: textOf(body, request) }),
  remedies,
)

/** `{"code": ..., "message": ...}`, as InfluxDB 2 answers. */
export const errorOfV2: ErrorForm = withRemedies(
  (body, request) =>
    inJson(body, { code: codes[body.statusCode] ?? 'invalid', message: textOf(body, request) }),
  remedies,
)

function inJson({ statusCode }: ErrorBody, body: object) {
  return { statusCode, contentType: 'application/json', payload: JSON.stringify(body) }
}

function textOf({ error, message, remedy }: ErrorBody, { url }: FastifyRequest): string {
  if (error === 'missing_credentials' && /[?&]u=/.test(url)) return `${message}. ${queryRemedy}`
  return `${message}. ${remedy}`
}

/** Proxies write addresses into their logs, so that no secret may be there. */
const queryRemedy =
  'u= and p= in the address are not accepted: send the key and its secret as Basic authentication, or as Authorization: Token KEY:SECRET.'

/** The codes of the API of InfluxDB 2. */
const codes: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  409: 'conflict',
  413: 'request too large',
  415: 'unsupported media type',
  422: 'unprocessable entity',
  429: 'too many requests',
  500: 'internal error',
  503: 'unavailable',
}
