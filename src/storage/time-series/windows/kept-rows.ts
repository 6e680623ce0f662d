import { parseJson } from '../../../core/parse-json.ts'
import type { KnownResult } from './revisions.ts'
import { addSegment } from './window-changes.ts'
import type { WindowRange, WindowSegment } from './window-starts.ts'
import type { StoredWindow, WindowDefinition } from './window-store.ts'

/** A row as a database hands it out; both stores name their columns alike. */
export type KeptRow = Readonly<Record<string, unknown>>

/**
 * Reads what versions say about windows, by the small numbers of the streams.
 *
 * @param rows with `stream`, `version`, `from_us` and `definition`, in the order of the first two
 * @param parsed one object for all definitions that are alike
 */
export function segmentsByStream(
  rows: Iterable<KeptRow>,
  parsed: (definition: string) => WindowDefinition,
): ReadonlyMap<number, readonly WindowSegment[]> {
  const byStream = new Map<number, WindowSegment[]>()
  for (const { stream, version, from_us: fromUs, definition: text } of rows) {
    const definition = typeof text === 'string' ? parsed(text) : undefined
    const segment = { version: Number(version), fromUs: Number(fromUs), definition }
    addSegment(listOf(byStream, Number(stream)), segment)
  }
  return byStream
}

/**
 * Reads what is marked, by the small numbers of the streams.
 *
 * @param rows with `stream`, `from_us` and `to_us`
 */
export function marksByStream(
  rows: Iterable<KeptRow>,
): ReadonlyMap<number, readonly WindowRange[]> {
  const byStream = new Map<number, WindowRange[]>()
  for (const { stream, from_us: fromUs, to_us: toUs } of rows) {
    listOf(byStream, Number(stream)).push({ fromUs: Number(fromUs), toUs: Number(toUs) })
  }
  return byStream
}

/** @param row with `start_us`, `count`, `revision` and `content` */
export function knownResult(streamId: string, row: KeptRow): KnownResult {
  return {
    streamId,
    timestampUs: Number(row['start_us']),
    count: Number(row['count']),
    revision: Number(row['revision']),
    values: String(row['content']),
  }
}

/** @param row that has `computed_at_us`, too */
export function storedWindow(streamId: string, row: KeptRow): StoredWindow {
  const result = knownResult(streamId, row)
  const computedAtUs = Number(row['computed_at_us'])
  return {
    ...result,
    computedAtUs,
    values: parseJson(result.values) as Readonly<Record<string, unknown>>,
  }
}

function listOf<Item>(byStream: Map<number, Item[]>, stream: number): Item[] {
  const own = byStream.get(stream) ?? []
  byStream.set(stream, own)
  return own
}
