import type { Offset } from '../../journal/journal.ts'
import type { ShippedReading } from '../shipment.ts'
import { isRising, type StreamGroup } from '../stream-groups.ts'
import type { QuestDbConnection } from './connection.ts'
import { markOf } from './expiry.ts'
import { digestOf, literal, quoted, storedDigest, tableOf } from './layout.ts'
import type { Unapplied } from './unapplied.ts'

/** Readings of one look-up: its statement has to fit into the head of a request. */
const lookUpMax = 400

interface Suspect {
  readonly reading: ShippedReading
  readonly group: StreamGroup
}

export interface DuplicateNeeds {
  readonly connection: QuestDbConnection
  readonly unapplied: Unapplied
  /** The store's position: rows from it on were sent by an attempt that did not come to its end. */
  readonly position: Offset
  /**
   * The round of the next portion that expires: what bears its mark, or a later one, is not counted
   * as expired yet.
   */
  readonly expiryRound: number
}

/**
 * Readings of a shipment that are stored already or stand in it twice
 * (decisions.md#identity-of-a-reading). QuestDB would put one row in the place of the other, and
 * not say so: what is counted has to be found before.
 *
 * A live device sends rising times, and what is newer than all that is stored of its stream needs
 * no look-up.
 */
export async function findDuplicates(
  needs: DuplicateNeeds,
  groups: readonly StreamGroup[],
): Promise<ReadonlySet<ShippedReading>> {
  const duplicates = new Set<ShippedReading>()
  const suspects: Suspect[] = []
  for (const group of groups) {
    if (isRising(group)) continue
    const seen = new Set<string>()
    for (const reading of group.readings) {
      const key = `${reading.timestampUs} ${reading.digest}`
      if (seen.has(key)) duplicates.add(reading)
      else if (reading.timestampUs <= group.record.timestampMaxUs) suspects.push({ reading, group })
      seen.add(key)
    }
  }
  if (suspects.length === 0) return duplicates
  const left: Suspect[] = []
  for (const suspect of suspects) {
    if (needs.unapplied.has(suspect.reading)) duplicates.add(suspect.reading)
    else left.push(suspect)
  }
  for (const reading of await storedAlready(needs, left)) duplicates.add(reading)
  return duplicates
}

async function storedAlready(
  { connection, position, expiryRound }: DuplicateNeeds,
  suspects: readonly Suspect[],
): Promise<ShippedReading[]> {
  const found: ShippedReading[] = []
  // What an attempt has marked that did not come to its end is still counted as there, once.
  const isStored = `("$removedBy" = null OR "$removedBy" <= ${markOf(expiryRound)}) AND "$offset" < ${position}`
  for (const [shape, all] of byShape(suspects)) {
    const table = tableOf(connection.server.prefix, shape)
    // In the order of time, so that each look-up touches few partitions.
    const sorted = all.sort((left, right) => left.timestampUs - right.timestampUs)
    for (let from = 0; from < sorted.length; from += lookUpMax) {
      const asked = new Map(
        sorted.slice(from, from + lookUpMax).map((reading) => [identityOf(reading), reading]),
      )
      const { rows } = await connection.run(lookUp(table, [...asked.values()], isStored))
      for (const [streamId, timestamp, digest] of rows) {
        const identity = `${String(streamId)} ${String(timestamp)} ${digestOf(digest as string | null)}`
        const reading = asked.get(identity)
        if (reading) found.push(reading)
      }
    }
  }
  return found
}

/** Where they could be stored: in each table that their stream has rows in. */
function byShape(suspects: readonly Suspect[]): Map<string, ShippedReading[]> {
  const shapes = new Map<string, ShippedReading[]>()
  for (const { reading, group } of suspects) {
    for (const shape of group.record.shapes) {
      const readings = shapes.get(shape)
      if (readings) readings.push(reading)
      else shapes.set(shape, [reading])
    }
  }
  return shapes
}

function identityOf({ streamId, timestampUs, digest }: ShippedReading): string {
  return `${streamId} ${timestampUs} ${digest}`
}

/** Rows that have the stream, the time and the digest of one of the readings, or of several. */
function lookUp(table: string, readings: readonly ShippedReading[], isStored: string): string {
  const times = new Set(readings.map(({ timestampUs }) => timestampUs))
  const streams = new Set(readings.map(({ streamId }) => literal(streamId)))
  const digests = new Set(readings.map(({ digest }) => storedDigest(digest)))
  return `SELECT "streamId", "timestamp"::LONG, "$digest" FROM ${quoted(table)}
    WHERE "timestamp" IN (${[...times].join()}) AND "streamId" IN (${[...streams].join()})
      AND ${isOneOf(digests)} AND ${isStored}`
}

function isOneOf(digests: Set<bigint>): string {
  const listed = [...digests].filter((digest) => digest !== nullDigest)
  const conditions = listed.length > 0 ? [`"$digest" IN (${listed.join()})`] : []
  if (listed.length < digests.size) conditions.push('"$digest" = null')
  return `(${conditions.join(' OR ')})`
}

/** The one digest that QuestDB takes for null. */
const nullDigest = storedDigest(1n << 63n)
