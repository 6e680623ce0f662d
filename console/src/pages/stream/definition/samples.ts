import { isJson } from '../../../editor/definition.ts'
import { readJson } from '../../../formats/json-tree.ts'

/** Readings in a sample, and the path of each in its text. */
export interface SampleReadings {
  readonly readings: readonly unknown[]
  /** Path of the reading in the text; empty where the text is the reading. */
  readonly places: readonly string[]
}

export type ReadSample =
  | ({ readonly ok: true } & SampleReadings)
  | { readonly ok: false; readonly problem: string }

/** As many as a preview takes. */
export const readingsMax = 100

/**
 * A sample as somebody has pasted it: one reading, a list of them, or one a line. Where the stream says where the
 * readings of a message are, a list is a message as well.
 */
export function readSample(text: string, source: Readonly<Record<string, unknown>>): ReadSample {
  const read = readJson(text)
  if (read.ok) {
    const value = JSON.parse(text) as unknown
    if (!Array.isArray(value) || source['items'] !== undefined) {
      return { ok: true, readings: [value], places: [''] }
    }
    const readings = value.slice(0, readingsMax) as unknown[]
    return { ok: true, readings, places: readings.map((_, at) => String(at)) }
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > 1 && lines.every((line) => readJson(line).ok)) {
    const readings = lines.slice(0, readingsMax).map((line) => JSON.parse(line) as unknown)
    return { ok: true, readings, places: [] }
  }
  return { ok: false, problem: read.problem.message }
}

/**
 * Where a detail of a refusal leads in the message: a field with `from` stands at another place than its name says.
 * Paths with more than names and indexes are left as they are.
 */
export function placeInMessage(path: string, schema: Readonly<Record<string, unknown>>): string {
  const [first = '', ...rest] = path.split('.')
  const field = schema[first]
  const from = isJson(field) ? field['from'] : undefined
  if (typeof from !== 'string' || !/^[\w.-]+(?:\[\d+\][\w.-]*)*$/.test(from)) return path
  return [from.replaceAll(/\[(\d+)\]/g, '.$1'), ...rest].join('.')
}

/** A step of a transform in a few words: `convert temperature: degF to degC`. */
export function stepWords(step: unknown): string {
  if (!isJson(step)) return JSON.stringify(step)
  const [[kind, options] = ['', undefined]] = Object.entries(step)
  if (!isJson(options)) return kind
  const { field, from, to, expression } = options
  if (kind === 'rename') return `rename ${worded(from)} to ${worded(to)}`
  if (kind === 'convert') return `convert ${worded(field)} from ${worded(from)} to ${worded(to)}`
  if (kind === 'scale') {
    const { factor = 1, offset = 0 } = options
    return `scale ${worded(field)} by ${worded(factor)}, plus ${worded(offset)}`
  }
  if (kind === 'filter') return `keep only where ${worded(expression)}`
  if (kind === 'drop') return `drop ${worded(field)}`
  return `${kind} ${worded(field)} = ${worded(expression)}`
}

function worded(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
