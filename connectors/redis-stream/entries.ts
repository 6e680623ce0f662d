import { isUtf8 } from 'node:buffer'
import { contextTexts } from '../../src/contracts/context-texts.ts'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import type { RedisStreamOptions } from './options.ts'
import { LargeText, type Reply } from './replies.ts'

type Text = Uint8Array | LargeText

export interface Entry {
  readonly id: string
  /** Names and values by turns; undefined: it was deleted, and only its id is still known. */
  readonly texts: readonly Text[] | undefined
}

/** Bytes of the largest entry that is taken, and those that are kept of a larger one for a person to look at. */
const entryBytesMax = 4 * 1024 * 1024
const shownBytes = 64 * 1024

/** Characters of an id, and of the name of a stream, in what is said of them. */
const shownLength = 200

/** Numbers as JSON writes them (RFC 8259, section 6): their digits are left as they are. */
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const numberLengthMax = 1_000

/** The entries of an answer. @throws Error for what is none */
export function entriesOf(reply: Reply | undefined): readonly Entry[] {
  if (!Array.isArray(reply)) throw new Error('the server has answered with no entries')
  return (reply as readonly Reply[]).map((entry) => {
    const [id, texts] = Array.isArray(entry) ? (entry as readonly Reply[]) : []
    // One that is deleted has nothing behind its id; an array of nothing would have no entry either.
    if (texts === null) return { id: textOf(id), texts: undefined }
    if (!Array.isArray(texts) || !texts.every(isText)) {
      throw new Error('the server has answered with no entries')
    }
    return { id: textOf(id), texts }
  })
}

/** The entries of the only stream that was asked for. */
export function entriesOfStream(reply: Reply): readonly Entry[] {
  if (reply === null) return []
  const [stream] = Array.isArray(reply) ? (reply as readonly Reply[]) : []
  return entriesOf(Array.isArray(stream) ? (stream as readonly Reply[])[1] : undefined)
}

/** The text of a part of an answer that is short. */
export function textOf(reply: Reply | undefined): string {
  if (reply instanceof Uint8Array) return Buffer.from(reply).toString()
  return typeof reply === 'string' || typeof reply === 'number' ? String(reply) : ''
}

export function bytesOf({ texts = [] }: Entry): number {
  let bytes = 0
  for (const text of texts) bytes += text instanceof LargeText ? shownBytes : text.length
  return bytes
}

function isText(reply: Reply): reply is Text {
  return reply instanceof Uint8Array || reply instanceof LargeText
}

/** What has to be said about an entry instead of taking it. */
class Unfit extends Error {
  override readonly name = 'Unfit'
}

/** Makes messages of entries. */
export class EntryMessages {
  readonly #options: RedisStreamOptions

  constructor(options: RedisStreamOptions) {
    this.#options = options
  }

  messageOf(entry: Entry): FetchedMessage {
    const { key, host, port } = this.#options
    const id = entry.id.slice(0, shownLength)
    const source = `entry ${id} of stream ${key.slice(0, shownLength)} at ${host}:${port}`
    const { texts } = entry
    if (texts === undefined) {
      const problem = 'the entry was deleted before it could be read'
      return { payload: Buffer.alloc(0), source, problem }
    }
    try {
      const message = { payload: this.#payloadOf(texts), source, ...this.#eventTypeOf(texts) }
      return this.#options.isMapped ? { ...message, ...this.#contextOf(entry) } : message
    } catch (error) {
      if (!(error instanceof Unfit)) throw error
      return { payload: beginningOf(texts), source, problem: error.message }
    }
  }

  #payloadOf(texts: readonly Text[]): Uint8Array {
    const { payloadField, columns } = this.#options.shape
    const payload =
      payloadField !== undefined
        ? fieldOf(texts, payloadField)
        : Buffer.from(columns === undefined ? this.#objectOf(texts) : this.#lineOf(texts, columns))
    if (payload === undefined) throw new Unfit(`the entry has no field ${payloadField}`)
    const bytes = payload instanceof LargeText ? payload.bytes : payload.length
    if (bytes > entryBytesMax || payload instanceof LargeText) {
      const [found, taken] = [bytes, entryBytesMax].map((count) => count.toLocaleString('en'))
      throw new Unfit(
        `the entry has ${found} bytes, and ${taken} are taken: it is not kept completely`,
      )
    }
    return payload
  }

  /** Writes the fields as JSON, in their order. */
  #objectOf(texts: readonly Text[]): string {
    const { fieldTypes } = this.#options.shape
    const members: string[] = []
    for (let at = 0; at + 1 < texts.length; at += 2) {
      const name = readable(texts[at])
      const text = readable(texts[at + 1])
      const type = fieldTypes.get(name)
      members.push(`${JSON.stringify(name)}:${isValue(text, type) ? text : JSON.stringify(text)}`)
    }
    return `{${members.join(',')}}`
  }

  /** Writes the fields as a line of CSV (RFC 4180): what is missing has an empty cell. */
  #lineOf(texts: readonly Text[], columns: readonly (string | null)[]): string {
    const cells = columns.map((name) => {
      const text = name === null ? undefined : fieldOf(texts, name)
      return text === undefined ? '' : `"${readable(text).replaceAll('"', '""')}"`
    })
    return cells.join(this.#options.shape.delimiter)
  }

  /** The other fields of an entry whose payload is one of them are its headers. */
  #contextOf({ id, texts = [] }: Entry): Pick<FetchedMessage, 'topic' | 'headers' | 'sentAtUs'> {
    const { key, shape } = this.#options
    const sentAtMs = /^\d{1,13}(?=-)/.exec(id)?.[0]
    return {
      topic: key,
      ...(shape.payloadField !== undefined && {
        headers: contextTexts(otherFields(texts, shape.payloadField)),
      }),
      ...(sentAtMs !== undefined && { sentAtUs: Number(sentAtMs) * 1_000 }),
    }
  }

  /** Where all fields are the payload, it is in there. */
  #eventTypeOf(texts: readonly Text[]): Pick<FetchedMessage, 'eventType'> {
    const { payloadField, eventTypeField } = this.#options.shape
    if (payloadField === undefined || eventTypeField === undefined) return {}
    const eventType = fieldOf(texts, eventTypeField)
    return eventType === undefined ? {} : { eventType: readable(eventType) }
  }
}

/** Names in lower case, with values that are texts. */
function* otherFields(
  texts: readonly Text[],
  payloadField: string,
): Generator<readonly [string, string | undefined]> {
  for (let at = 0; at + 1 < texts.length; at += 2) {
    const name = textOf(texts[at])
    const value = texts[at + 1]
    if (name === payloadField || !(value instanceof Uint8Array) || !isUtf8(value)) continue
    yield [name.toLowerCase(), textOf(value)]
  }
}

function fieldOf(texts: readonly Text[], name: string): Text | undefined {
  for (let at = 0; at + 1 < texts.length; at += 2) {
    if (textOf(texts[at]) === name) return texts[at + 1]
  }
  return undefined
}

function readable(text: Text | undefined): string {
  if (text instanceof LargeText) {
    const bytes = text.bytes.toLocaleString('en')
    throw new Unfit(`a field of the entry has ${bytes} bytes: it is not kept completely`)
  }
  if (text === undefined || !isUtf8(text)) {
    throw new Unfit('a field of the entry is not a text in UTF-8: name it as payloadField')
  }
  return Buffer.from(text).toString()
}

/** Whether a text stands for a number or a boolean: its field says so, or it looks like one. */
function isValue(text: string, type: string | undefined): boolean {
  const isNumber = text.length <= numberLengthMax && numberPattern.test(text)
  const isBoolean = text === 'true' || text === 'false'
  if (type === 'number' || type === 'integer') return isNumber
  if (type === 'boolean') return isBoolean
  return type === undefined && (isNumber || isBoolean)
}

/** What somebody can look at. */
function beginningOf(texts: readonly Text[]): Uint8Array {
  const parts = texts.map((text) => (text instanceof LargeText ? text.beginning : text))
  const lines = parts.flatMap((part) => [part.subarray(0, shownBytes), Buffer.from('\n')])
  return Buffer.concat(lines).subarray(0, shownBytes)
}
