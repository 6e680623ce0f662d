import { ApiFailure } from './api-failure.ts'
import type { ErrorCode } from './errors.ts'
import type { ErrorBody } from './operations.ts'
import type { Outgoing } from './request.ts'

/** The body of an answer: JSON as its value, text as it came, all else as bytes, and nothing as undefined. */
export async function answerIn(response: Response, sent: Outgoing): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) {
    await response.body?.cancel()
    throw new Error(`${sent.operationId} answers events without an end: open() follows them`)
  }
  const bytes = await whole(response, sent)
  if (bytes.length === 0) return undefined
  if (!isText(type)) return bytes
  // What begins with a byte order mark begins with it: a value of CSV may.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return isJson(type) ? parsed(text, response, sent) : text
}

async function whole(response: Response, sent: Outgoing): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer())
  } catch (cause) {
    throw unreachable(cause, sent)
  }
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type)
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /^application\/(?:[\w.-]+\+|x-nd)?json\b/.test(type)
}

function parsed(text: string, response: Response, sent: Outgoing): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadable(response, sent, cause)
  }
}

/** No answer, or not all of one. A signal that has ended the call speaks for itself. */
export function unreachable(cause: unknown, { operationId, init, idempotencyKey }: Outgoing) {
  if (init.signal?.aborted === true) return init.signal.reason as Error
  return new ApiFailure('the service cannot be reached', {
    operationId,
    status: 0,
    code: 'unreachable',
    idempotencyKey,
    cause,
  })
}

function unreadable(response: Response, sent: Outgoing, cause?: unknown): ApiFailure {
  const { status, headers } = response
  const { operationId, idempotencyKey } = sent
  return new ApiFailure(`an answer with status ${status} that is not of the service`, {
    operationId,
    status,
    code: 'unreadable',
    retryAfterS: secondsIn(headers),
    idempotencyKey,
    headers,
    cause,
  })
}

/** What a response that is no good answer says. */
export async function failureIn(response: Response, sent: Outgoing): Promise<ApiFailure> {
  const body = isJson(response.headers.get('content-type') ?? '')
    ? await answerIn(response, sent)
    : await response.body?.cancel()
  if (!isErrorBody(body)) return unreadable(response, sent)
  const { operationId, idempotencyKey } = sent
  return new ApiFailure(body.message, {
    operationId,
    status: response.status,
    code: body.error as ErrorCode,
    details: body.details ?? [],
    remedy: body.remedy,
    retryAfterS: body.retryAfter ?? secondsIn(response.headers),
    idempotencyKey,
    headers: response.headers,
    body,
  })
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false
  const { error, message } = body as { readonly error?: unknown; readonly message?: unknown }
  return typeof error === 'string' && typeof message === 'string'
}

function secondsIn(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds : undefined
}
