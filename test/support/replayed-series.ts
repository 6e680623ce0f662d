import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from './seeded-random.ts'

/** One row of a series; the value as it was written, so that nothing of it is lost on the way. */
export interface Row {
  readonly timestamp: string
  readonly value: string
}

export interface Series {
  readonly name: string
  readonly rows: readonly Row[]
}

/** Series that are replayed: one that is made, and those of the folder that is named, if one is. */
export function replayedSeries(): readonly Series[] {
  return [generatedSeries(), ...seriesIn(process.env['STREAMVAULT_TEST_SERIES_DIR'])]
}

function seriesIn(directory: string | undefined): Series[] {
  if (directory === undefined) return []
  return readdirSync(directory)
    .filter((name) => name.endsWith('.csv'))
    .map((name) => ({ name, rows: parseSeries(readFileSync(join(directory, name), 'utf8')) }))
}

/** Rows such as `2013-12-02 21:15:00,73.96732207`, in UTC, after a line of names. */
function parseSeries(text: string): Row[] {
  const [, ...lines] = text.trim().split(/\r?\n/)
  return lines.map((line) => {
    const [timestamp = '', value = ''] = line.split(',')
    return { timestamp: `${timestamp.replace(' ', 'T')}Z`, value }
  })
}

/**
 * What real series have, too: timestamps that repeat with another value, rows that repeat exactly,
 * and one jump back in time, over a month's end.
 */
function generatedSeries(): Series {
  const random = new SeededRandom(7)
  const rows: Row[] = []
  let atMs = Date.parse('2026-01-27T03:10:00Z')
  for (let index = 0; index < 3_000; index++) {
    if (index === 2_000) atMs -= 8 * 3_600_000
    if (!random.chance(0.01)) atMs += 300_000
    const timestamp = new Date(atMs).toISOString().replace('.000Z', 'Z')
    const row = { timestamp, value: String(random.integer(-4_000, 12_000) / 100 + random.next()) }
    rows.push(row)
    if (random.chance(0.01)) rows.push(row)
  }
  return { name: 'a generated series', rows: [...rows, ...rows.slice(500, 550)] }
}

/** Rows without exact copies: same instant and same number. */
export function distinctRows(rows: readonly Row[]): Row[] {
  const byIdentity = new Map<string, Row>()
  for (const row of rows) byIdentity.set(`${row.timestamp} ${Number(row.value)}`, row)
  return [...byIdentity.values()]
}
