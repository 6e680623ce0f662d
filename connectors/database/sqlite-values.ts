import { NaiveTimes } from '../../src/core/naive-times.ts'
import type { Column, ColumnKind, Raw, Row } from './dialect.ts'

/** What is said of a column, of which SQLite itself makes little use. */
interface Declared {
  readonly name: string
  readonly type: string | null
}

/**
 * Writes what is in a file of SQLite as JSON: each value by its own type, as a column may have several. Texts in
 * columns that are declared as times, and in the one with the times of readings, are times.
 */
export function sqliteColumns(
  declared: readonly Declared[],
  first: Row | undefined,
  { timezone, timestampField }: { readonly timezone: string; readonly timestampField: string },
): readonly Column[] {
  const times = new NaiveTimes(timezone)
  const time = (text: string) => JSON.stringify(times.rfc3339(text) ?? text)
  return declared.map(({ name, type }, index) => {
    const said = (type ?? '').toLowerCase()
    const isTime = /^(datetime|timestamp)/.test(said) || name === timestampField
    const isFlag = said.startsWith('bool')
    const ofText = isTime ? time : said.startsWith('json') ? document : quoted
    return {
      name,
      kind: kindOf(said, first?.[index]),
      json: (value) => json(value, isFlag, ofText),
    }
  })
}

function kindOf(said: string, value: Raw | undefined): ColumnKind {
  const isText = typeof value === 'string'
  if (isText && said === 'date') return 'date'
  if (isText && /^(datetime|timestamp)/.test(said)) return 'naive'
  if (typeof value === 'bigint' || typeof value === 'number') return 'number'
  if (isText) return 'text'
  if (value instanceof Uint8Array) return 'other'
  return /int|real|floa|doub|num|dec/.test(said) ? 'number' : 'text'
}

function json(value: Raw, isFlag: boolean, ofText: (text: string) => string): string {
  if (typeof value === 'bigint') {
    return isFlag && (value === 0n || value === 1n) ? String(value === 1n) : value.toString()
  }
  // SQLite has infinities, JSON has none.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'string') return ofText(value)
  return `"${Buffer.from(value ?? []).toString('base64')}"`
}

const quoted = (text: string) => JSON.stringify(text)

function document(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return quoted(text)
  }
}
