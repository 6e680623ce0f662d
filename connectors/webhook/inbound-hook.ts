import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { keyOf, type Mac, type SignatureScheme, signatureScheme } from './signature-scheme.ts'
import { webhookSource } from './source.ts'

export interface HookDefinition {
  readonly streamId: StreamId
  /** Source with its secret. */
  readonly source: Readonly<Record<string, unknown>>
  /** Secret before this one, good until then, too. */
  readonly previous: { readonly secret: string; readonly untilUs: number } | undefined
}

/** What a signature that is good has shown. */
export interface Verified {
  readonly ok: true
  /**
   * Id that a message keeps when it is sent again; undefined where nothing tells messages apart.
   */
  readonly messageId: string | undefined
  readonly eventType: string | undefined
}

interface Refused {
  readonly ok: false
  /** Problem for the sender: it tells nothing of the secret. */
  readonly problem: string
}

/** Parameters of the address that a message was sent to. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** What messages are recognised by. */
export interface Proof {
  readonly header: string
  readonly parameter: string | undefined
}

/** What a message brings, as it came. */
interface Signed {
  readonly id: string
  readonly timestamp: string
  readonly body: Uint8Array
}

/** Signatures of one message that are looked at: senders that rotate their secrets send two. */
const signaturesMax = 10

/** A webhook that messages are checked for. */
export class InboundHook {
  readonly streamId: StreamId
  /** What shows who has sent a message, and may be the secret itself: a header in lower case, or a parameter. */
  readonly proof: Proof
  /** Slack asks whether an address is meant for it. */
  readonly answersChallenges: boolean
  readonly #scheme: SignatureScheme
  readonly #key: KeyObject
  readonly #previous: { readonly key: KeyObject; readonly untilUs: number } | undefined

  constructor({ streamId, source, previous }: HookDefinition) {
    const hook = sourceOf(webhookSource, source)
    const { scheme } = hook.signature
    const { secret } = hook.credentials
    this.streamId = streamId
    this.answersChallenges = scheme === 'slack'
    this.#scheme = signatureScheme(hook)
    this.proof = { header: this.#scheme.header, parameter: this.#scheme.parameter }
    this.#key = keyOf(scheme, secret)
    this.#previous = previous && {
      key: keyOf(scheme, previous.secret),
      untilUs: previous.untilUs,
    }
  }

  /** Says of the very bytes that came whether somebody who knows the secret has sent them now. */
  verify(
    headers: IncomingHttpHeaders,
    body: Uint8Array,
    nowUs: number,
    query: Query = {},
  ): Verified | Refused {
    const { header, parameter, read, mac, timestampHeader, idHeader, isIdRequired } = this.#scheme
    const text = parameter === undefined ? headers[header] : query[parameter]
    if (typeof text !== 'string') {
      const name = parameter === undefined ? `header ${header}` : `parameter ${parameter}`
      return refused(`the ${name} is missing`)
    }
    const { signatures, timestamp = textOf(headers, timestampHeader) } = read(text)
    const isTimed = mac?.parts.includes('{timestamp}') === true
    if (isTimed && timestamp === undefined) {
      return refused(`the header ${timestampHeader ?? header} has no time`)
    }
    const id = textOf(headers, idHeader)
    if (isIdRequired && id === undefined) return refused(`the header ${idHeader} is missing`)
    const signed = { id: id ?? '', timestamp: timestamp ?? '', body }
    const good = this.#goodOf(signatures.slice(0, signaturesMax), signed, nowUs)
    if (good === undefined) return refused('the signature does not fit')
    if (isTimed && !this.#isNow(timestamp ?? '', nowUs)) {
      const seconds = this.#scheme.toleranceUs / 1_000_000
      return refused(`the time that was signed is not within ${seconds} s of now`)
    }
    const eventType = textOf(headers, this.#scheme.eventTypeHeader)
    return { ok: true, messageId: id ?? (isTimed ? good : undefined), eventType }
  }

  /** The signature that one of the secrets makes, if it is among those that came. */
  #goodOf(signatures: readonly string[], signed: Signed, nowUs: number): string | undefined {
    const previous = this.#previous
    const isOverlap = previous !== undefined && nowUs < previous.untilUs
    const keys = isOverlap ? [this.#key, previous.key] : [this.#key]
    const { mac } = this.#scheme
    for (const key of keys) {
      const made = mac === undefined ? hash('sha256', key.export()) : macOf(mac, key, signed)
      for (const signature of signatures) {
        if (isSame(made, mac === undefined ? hash('sha256', signature) : spelled(mac, signature)))
          return made
      }
    }
    return undefined
  }

  /** @param text seconds since the Unix epoch; milliseconds where there are too many for seconds */
  #isNow(text: string, nowUs: number): boolean {
    if (!/^\d{1,13}$/.test(text)) return false
    const value = Number(text)
    const timeUs = value < 100_000_000_000 ? value * 1_000_000 : value * 1_000
    return Math.abs(nowUs - timeUs) <= this.#scheme.toleranceUs
  }
}

function macOf({ algorithm, encoding, parts }: Mac, key: KeyObject, signed: Signed): string {
  const hmac = createHmac(algorithm, key)
  for (const part of parts) {
    if (part === '{body}') hmac.update(signed.body)
    else if (part === '{timestamp}') hmac.update(signed.timestamp)
    else hmac.update(part === '{id}' ? signed.id : part)
  }
  return hmac.digest(encoding)
}

/** Hexadecimal digits are the same in either case. */
function spelled({ encoding }: Mac, signature: string): string {
  return encoding === 'hex' ? signature.toLowerCase() : signature
}

/** Compares in a time that does not depend on where they differ. */
function isSame(made: string, given: string): boolean {
  const [left, right] = [Buffer.from(made), Buffer.from(given)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function textOf(headers: IncomingHttpHeaders, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function refused(problem: string): Refused {
  return { ok: false, problem }
}
