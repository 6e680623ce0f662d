import { decoderOf } from '../../../processors/decode.ts'
import { RoundedInteger, typedValue } from '../../../processors/typed-text.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Decoder } from '../../contracts/reading.ts'
import type { LinePrecision } from '../../contracts/stream-schema.ts'
import { timeFormatOf } from '../inference/times.ts'
import { formatOf, schemaOf } from './definition.ts'
import { formatOptionsOf } from './payload-format.ts'
import type { SampledSource } from './stream-samples.ts'
import { currentRules } from './time-rules.ts'

/** Texts that name their values: nothing has to be known of a stream to read them. */
export type NamingFormat = 'form' | 'line-protocol' | 'prometheus' | 'toa5'

/** What a source says that has such texts. */
export const namingSources: Readonly<Record<NamingFormat, SampledSource>> = {
  form: { format: 'form' },
  'line-protocol': { format: 'line-protocol' },
  // Exporters write NaN for a value that does not exist in this moment.
  prometheus: { format: 'prometheus', missing: ['nan'] },
  // Files of data loggers of Campbell Scientific: the second of four header lines names the columns.
  toa5: { format: 'csv', headerLines: 4, columnsLine: 2, missing: ['NAN'] },
}

/** Two pairs at least: one alone may be a text of any kind. */
const formPattern = /^[^\s=&{}[\]"]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)+$/

/** A sample without labels, or a comment about none, may be a text of any kind. */
const prometheusPattern = /^(?:# (?:TYPE|HELP) |[a-z_:][\w:]*\{)/im

const linePattern = /^\S.* [^\s=,]+=\S/m

/** What the text of each begins with, or has in it. */
const patterns: readonly (readonly [NamingFormat, RegExp])[] = [
  ['toa5', /^"?TOA5"?,/],
  ['form', formPattern],
  ['prometheus', prometheusPattern],
  ['line-protocol', linePattern],
]

/** The format of a text, as far as it shows. */
export function namingFormatOf(payload: Uint8Array, text: string): NamingFormat | undefined {
  return patterns
    .filter(([, pattern]) => pattern.test(text))
    .find(([format]) => isSound(readerOf(namingSources[format])(payload)))?.[0]
}

function isSound(decoded: ReturnType<Decoder>): boolean {
  return decoded.ok && decoded.readings.length > 0 && (decoded.unreadable?.size ?? 0) === 0
}

/** What the source of these texts says. */
export function sourceOfTexts(
  format: NamingFormat,
  texts: readonly string[],
  latestUs: number,
): SampledSource {
  const precision = format === 'line-protocol' ? precisionOf(texts, latestUs) : undefined
  return { ...namingSources[format], ...(precision !== undefined && { precision }) }
}

const precisions: Readonly<Partial<Record<string, LinePrecision>>> = {
  epoch_s: 's',
  epoch_ms: 'ms',
  epoch_us: 'us',
}

/** The unit in which the times of lines are times that have been; undefined for that of lines without a word about it. */
function precisionOf(texts: readonly string[], latestUs: number): LinePrecision | undefined {
  const times = texts.flatMap((text) =>
    [...text.matchAll(/ (\d{9,20})[ \r]*$/gm)].map(([, digits]) => Number(digits)),
  )
  const found = timeFormatOf(times, latestUs)
  return found === undefined || 'problem' in found ? undefined : precisions[found.format]
}

/** Reads messages as a stream of such a source does that knows no field yet. */
export function readerOf(source: SampledSource): Decoder {
  const version = { source: { ...source }, schema: {}, processing: {}, rules: currentRules }
  return decoderOf(formatOf(version), {
    schema: schemaOf(version),
    formatOptions: formatOptionsOf(version.source),
  })
}

/** Readings that have texts only: what is a number in all of them is one, and what means no value is absent. */
export function typedTexts<Message extends { readonly readings: readonly unknown[] }>(
  messages: readonly Message[],
  { missing = [] }: SampledSource,
): readonly Message[] {
  const pairsOf = (reading: unknown) =>
    Object.entries(isObject(reading) ? reading : {}).filter(
      ([, text]) => !missing.includes(String(text)),
    )
  const all = messages.flatMap(({ readings }) => readings.flatMap(pairsOf))
  const worded = new Set(all.flatMap(([name, text]) => (numberIn(text) === undefined ? name : [])))
  const typed = (reading: unknown) =>
    Object.fromEntries(
      pairsOf(reading).map(([name, text]) => [name, worded.has(name) ? text : numberIn(text)]),
    )
  return messages.map((message) => ({ ...message, readings: message.readings.map(typed) }))
}

function numberIn(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const value = typedValue(text, 'number')
    return typeof value === 'number' ? value : undefined
  } catch (error) {
    if (!(error instanceof RoundedInteger)) throw error
    return undefined
  }
}
