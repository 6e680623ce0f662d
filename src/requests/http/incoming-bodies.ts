import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import { isSnappy } from '../../core/snappy-coding.ts'
import type { ArrivingBodies } from './arriving-bodies.ts'
import type { BodiesInFlight, BodyRoom } from './bodies-in-flight.ts'
import { type ContentCoding, contentCodingOf, inflate, inflatedBytesMax } from './content-coding.ts'
import { endWithAnswer } from './unread-bodies.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route takes bodies that are compressed. */
    readonly takesCompressed?: boolean
    /** Whether a body in Snappy comes to the route as it was sent: its format has that as a part. */
    readonly passesSnappy?: boolean
    /**
     * Whether the route brings bodies to the disk as they come: they take no room in memory, and may
     * take long as long as they go on.
     */
    readonly spoolsBody?: boolean
    /** Whether a body may be of any type and charset, because nobody reads what it says. */
    readonly takesAnyContent?: boolean
  }
}

export interface IncomingBodiesNeeds {
  readonly bodies: BodiesInFlight
  readonly arriving: ArrivingBodies
  /** Whose room a body takes. */
  readonly ownerOf: (request: FastifyRequest) => string
}

/**
 * A preParsing hook through which every body comes: it finds room for it, and decompresses it where
 * the route takes that.
 *
 * @throws DomainError `unsupported_media_type`, `overloaded`, `body_too_large`, or `malformed_body`
 */
export function incomingBodies(needs: IncomingBodiesNeeds) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: RequestPayload,
  ): Promise<RequestPayload> => {
    const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
    if (length === undefined && chunked === undefined) return payload
    try {
      return await admitted(needs, { request, reply, payload })
    } catch (error) {
      // What has not arrived yet is not waited for.
      endWithAnswer(reply)
      throw error
    }
  }
}

interface Incoming {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly payload: RequestPayload
}

async function admitted(
  { bodies, arriving: inTime, ownerOf }: IncomingBodiesNeeds,
  { request, reply, payload }: Incoming,
): Promise<RequestPayload> {
  if (request.routeOptions.config.takesAnyContent !== true) refuseOtherCharsets(request)
  const coding = codingOf(request, reply)
  if (request.routeOptions.config.spoolsBody === true) {
    inTime.takeSlowly(request.raw)
    return payload
  }
  const room = bodies.roomOf(ownerOf(request), reply.raw)
  const { bodyLimit: bytesMax } = request.routeOptions
  const { 'content-length': length } = request.headers
  // What is too long is refused before it is read.
  if (length !== undefined && Number(length) <= bytesMax) room.take(Number(length))
  const arriving = length === undefined ? bodyStream(counted(payload, room)) : payload
  return coding === undefined ? arriving : inflated(arriving, { coding, bytesMax, room })
}

/** JSON is UTF-8 and nothing else (RFC 8259, section 8.1); nor has any other of our types another. */
function refuseOtherCharsets({ headers }: FastifyRequest): void {
  const [, charset] = charsetPattern.exec(headers['content-type'] ?? '') ?? []
  if (charset === undefined || charset.toLowerCase() === 'utf-8') return
  throw new DomainError('unsupported_media_type', 'the charset must be utf-8')
}

const charsetPattern = /;\s*charset\s*=\s*"?([^\s";]*)/i

function codingOf({ headers, routeOptions }: FastifyRequest, reply: FastifyReply) {
  const header = headers['content-encoding']
  if (header === undefined) return undefined
  if (routeOptions.config.passesSnappy === true && isSnappy(header)) return undefined
  if (routeOptions.config.takesCompressed !== true) {
    throw new DomainError('unsupported_media_type', 'this operation takes no content coding')
  }
  // RFC 9110, section 12.5.3: what would have been taken.
  void reply.header('accept-encoding', 'gzip, zstd')
  return contentCodingOf(header)
}

/**
 * A body as a stream of ours. Whoever reads it listens only until there is an answer; a client may go on
 * sending after that, or leave. A failure that nobody waits for any more ends the stream, and nothing else.
 */
function bodyStream(pieces: Iterable<Buffer> | AsyncIterable<Buffer>): RequestPayload {
  return streamOf(pieces)
}

/** What comes in chunks does not say before how much it is: it is counted as it comes. */
async function* counted(payload: RequestPayload, room: BodyRoom): AsyncGenerator<Buffer> {
  // Not destroyed, because the connection is needed for the answer.
  for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
    room.take((chunk as Buffer).length)
    yield chunk as Buffer
  }
}

interface Inflation {
  readonly coding: ContentCoding
  readonly bytesMax: number
  readonly room: BodyRoom
}

async function inflated(arriving: RequestPayload, inflation: Inflation): Promise<RequestPayload> {
  const { coding, bytesMax, room } = inflation
  const bytes = await collected(arriving, bytesMax)
  const body = { coding, bytes, bytesMax }
  room.take(inflatedBytesMax(body))
  const stream = bodyStream([await inflate(body)])
  // Fastify compares it with the content length.
  stream.receivedEncodedLength = bytes.length
  return stream
}

async function collected(arriving: RequestPayload, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of arriving.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length
    if (length > bytesMax) throw new DomainError('body_too_large', 'the body is too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
