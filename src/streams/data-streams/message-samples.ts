import { isUtf8 } from 'node:buffer'
import { csvSamples } from '../../../processors/csv-samples.ts'
import { decoders as strictDecoders } from '../../../processors/decode.ts'
import { jsonDecoder } from '../../../processors/decode-json.ts'
import { decodeNdjson } from '../../../processors/decode-ndjson.ts'
import { looseNumber } from '../../../processors/typed-text.ts'
import { fieldNameProblem, isObject } from '../../contracts/definitions/field-map.ts'
import type { MessageContext } from '../../contracts/mapping.ts'
import type { Decoder } from '../../contracts/reading.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { timeFormatOf } from '../inference/times.ts'
import { areSenml, senmlMessages } from './senml-samples.ts'
import { type SampledMessage, type SampledSource, Samples, samplesMax } from './stream-samples.ts'
import {
  type NamingFormat,
  namingFormatOf,
  namingSources,
  readerOf,
  sourceOfTexts,
  typedTexts,
} from './text-samples.ts'

/** A message as a device has sent it. */
export interface SentMessage
  extends Pick<MessageContext, 'topic' | 'headers' | 'key' | 'separator'> {
  readonly payload: Uint8Array
}

/** How a message is written in a request. */
interface WrittenMessage extends Omit<SentMessage, 'payload'> {
  readonly payload: unknown
  readonly encoding?: 'utf8' | 'base64' | 'json'
}

/** @throws DomainError `invalid_request` naming each payload that is not in the encoding that is said */
export function sentMessages(written: readonly WrittenMessage[]): readonly SentMessage[] {
  const details: ErrorDetail[] = []
  const sent = written.map(({ payload, encoding, ...context }, index) => {
    const isText = typeof payload === 'string'
    const how = encoding ?? (isText ? 'utf8' : 'json')
    if (how === 'json') return { ...context, payload: Buffer.from(JSON.stringify(payload)) }
    if (!isText || (how === 'base64' && !isBase64(payload))) {
      details.push({ path: `messages.${index}.payload`, message: `must be a text in ${how}` })
      return { ...context, payload: Buffer.alloc(0) }
    }
    return { ...context, payload: Buffer.from(payload, how) }
  })
  if (details.length === 0) return sent
  throw new DomainError('invalid_request', 'the messages are not valid', { details })
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

/** What a stream of a fitting definition takes: NaN for no value, and long integers where paths lead around them. */
const reading = { takesNonFinite: true, integersAsTexts: true }

const decoders = {
  ...strictDecoders,
  json: jsonDecoder(reading),
  ndjson: (payload: Uint8Array) => decodeNdjson(payload, undefined, reading),
}

/** Formats that are looked for, the likeliest ones first. */
const formats = [
  'json',
  'ndjson',
  'cbor',
  'msgpack',
  'toa5',
  'form',
  'prometheus',
  'line-protocol',
  'csv',
  'plain',
] as const

type Format = (typeof formats)[number]

/** Messages of any format, taken apart in that which most of them are in. Pure. */
export function samplesOfMessages(sent: readonly SentMessage[], latestUs: number): Samples {
  const delimiter = delimiterOf(sent)
  const ofEach = sent.map(({ payload }) => formatOf(payload, delimiter))
  const format = mostOf(ofEach)
  const unreadable = new Map<number, string>()
  for (const [index, { payload }] of sent.entries()) {
    const problem = problemIn(payload, format, ofEach[index])
    if (problem !== undefined) unreadable.set(index, problem)
  }
  const readable = [...sent.entries()].filter(([index]) => !unreadable.has(index))
  const { messages, source } = takenApart(readable, format, { delimiter, latestUs })
  return new Samples(sent, { unreadable, source, messages })
}

/** The format of one payload, as far as it shows; undefined for bytes that are in none. */
function formatOf(payload: Uint8Array, delimiter: string | undefined): Format | undefined {
  if (decoders.json(payload).ok) return 'json'
  if (!isUtf8(payload)) {
    return (['cbor', 'msgpack'] as const).find((binary) => decoders[binary](payload).ok)
  }
  const text = textOf(payload)
  if (text.trim() === '' || text.includes('\0')) return undefined
  const lines = decoders.ndjson(payload)
  if (lines.ok && lines.readings.some(isObject)) return 'ndjson'
  // What begins like an object and is none is broken, and no value.
  if (/^\s*[{[]/.test(text)) return undefined
  return namingFormatOf(payload, text) ?? (delimiter === undefined ? 'plain' : 'csv')
}

function mostOf(found: readonly (Format | undefined)[]): Format {
  const count = (format: Format) => found.filter((one) => one === format).length
  const [first, ...others] = formats
  return others.reduce<Format>((best, one) => (count(one) > count(best) ? one : best), first)
}

/** What keeps a payload from being one of the format that most are in. */
function problemIn(
  payload: Uint8Array,
  format: Format,
  own: Format | undefined,
): string | undefined {
  if (format === 'plain' || format === 'csv') {
    return own === format ? undefined : `it is not ${format}, as most of the messages are`
  }
  const decoded = isNaming(format)
    ? readerOf(namingSources[format])(payload)
    : decoders[format](payload)
  if (!decoded.ok) return decoded.problem
  const [problem] = decoded.unreadable?.values() ?? []
  return decoded.readings.length === (decoded.unreadable?.size ?? 0) ? problem : undefined
}

interface Taken {
  readonly messages: readonly SampledMessage[]
  readonly source: SampledSource
}

type Numbered = readonly [number, SentMessage]

function takenApart(
  sent: readonly Numbered[],
  format: Format,
  { delimiter, latestUs }: { readonly delimiter: string | undefined; readonly latestUs: number },
): Taken {
  if (format === 'csv') return tableOf(sent, delimiter ?? ',', latestUs)
  if (format === 'plain') return valuesOf(sent)
  if (isNaming(format)) {
    const texts = sent.map(([, { payload }]) => textOf(payload))
    const source = sourceOfTexts(format, texts, latestUs)
    const messages = decodedWith(readerOf(source), sent)
    const hasTexts = format === 'form' || format === 'toa5'
    return { messages: hasTexts ? typedTexts(messages, source) : messages, source }
  }
  const messages = decodedWith(decoders[format], sent)
  if (format === 'json' && areSenml(messages)) {
    return { messages: senmlMessages(messages), source: { format: 'senml-json' } }
  }
  return { messages, source: format === 'json' ? {} : { format } }
}

function isNaming(format: Format): format is NamingFormat {
  return format in namingSources
}

function decodedWith(decode: Decoder, sent: readonly Numbered[]): readonly SampledMessage[] {
  return sent.flatMap(([index, { payload, ...context }]): SampledMessage[] => {
    const decoded = decode(payload)
    if (!decoded.ok) return []
    const { readings, isBatch, unreadable } = decoded
    const sound = readings.filter((_, at) => unreadable?.has(at) !== true)
    return [{ index, context, readings: sound, isBatch, payload }]
  })
}

/** Last levels of topics that say what a message is, and not what it is about. */
const emptyNames: readonly string[] = ['state', 'status', 'value', 'get', 'set', 'data']

/** The value of a field that is called like the topic. */
function valuesOf(sent: readonly Numbered[]): Taken {
  const topics = new Set(sent.map(([, { topic = '' }]) => topic.split('/').at(-1) ?? ''))
  const [last = ''] = topics
  const isName =
    topics.size === 1 &&
    fieldNameProblem(last, new Set()) === undefined &&
    !emptyNames.includes(last.toLowerCase())
  const field = isName ? last : 'value'
  const messages = sent.map(([index, { payload, ...context }]) => {
    const readings = [{ [field]: valueOf(textOf(payload)) }]
    return { index, context, readings, isBatch: false, payload }
  })
  return { messages, source: { format: 'plain', field } }
}

function valueOf(text: string): string | number | boolean {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  // As JSON writes it, a payload is a number without a rule for texts.
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
}

/** Lines of values whose places have no names. */
function tableOf(sent: readonly Numbered[], delimiter: string, latestUs: number): Taken {
  const texts = sent.map(([, { payload }]) => textOf(payload))
  const first = cellsOf(texts[0] ?? '', delimiter)
  const cells = texts.map((text) => cellsOf(text, delimiter))
  const time = first.findIndex((_, place) => {
    const format = timeFormatOf(
      cells.map((line) => numberOrText(line[place])),
      latestUs,
    )
    return format !== undefined && !('problem' in format)
  })
  const columns = first.map((_, place) => (place === time ? 'time' : `value_${place + 1}`))
  const head = columns.join(delimiter)
  const messages = sent.map(([index, { payload, ...context }], at) => {
    const table = csvSamples(Buffer.from(`${head}\n${texts[at]}`), samplesMax)
    const readings = table.ok ? table.readings.filter((line) => line !== undefined) : []
    return { index, context, readings, isBatch: true, payload }
  })
  const written = delimiter === ',' ? {} : { delimiter }
  return { messages, source: { format: 'csv', columns, ...written } }
}

function numberOrText(text: string | undefined): unknown {
  const number = looseNumber(text ?? '', '.')
  return number ?? text
}

/** What parts all texts into as many values, most of which are numbers. */
function delimiterOf(sent: readonly SentMessage[]): string | undefined {
  const texts = sent
    .filter(({ payload }) => isUtf8(payload))
    .map(({ payload }) => textOf(payload))
    .filter((text) => text.trim() !== '' && !/^\s*[{["]/.test(text))
  if (texts.length === 0) return undefined
  return [';', '\t', '|', ','].find((delimiter) => {
    const lines = texts.map((text) => cellsOf(text, delimiter))
    const [{ length: width } = []] = lines
    if (width < 2 || lines.some((line) => line.length !== width)) return false
    const numbers = lines.flat().filter((cell) => looseNumber(cell, '.') !== undefined)
    // 21,5 is one number in half of the world.
    const isPair = delimiter === ',' && width === 2
    return numbers.length * 2 >= lines.length * width && !isPair
  })
}

/** The values of the first line. */
function cellsOf(text: string, delimiter: string): readonly string[] {
  const [line = ''] = text.split(/\r?\n/, 1)
  return line.split(delimiter).map((cell) => cell.trim())
}

function textOf(payload: Uint8Array): string {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString()
}
