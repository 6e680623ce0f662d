import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { type Bucket, bucketFor, isFew } from '../../../charts/buckets.ts'
import type { TimeRange } from '../../../charts/field-plot.ts'

export type DataPoint = Operations['readReadings']['answer']['data'][number]

export interface HistoryAsked extends TimeRange {
  readonly streamId: string
  /** Names of numeric fields. */
  readonly fields: readonly string[]
  readonly widthPx: number
  readonly zone: string
}

export interface History extends TimeRange {
  /** Undefined: the points are the readings themselves. */
  readonly bucket: Bucket | undefined
  /** Readings in the range. */
  readonly readings: number
  /** In the order of their times. */
  readonly points: readonly DataPoint[]
}

const pageMax = 10_000

/** Readings that are listed, the newest ones, where no field can be drawn. */
export const listedMax = 1000

/**
 * Buckets as fine as the chart can show them, with their least and greatest values; the readings themselves,
 * where there are few.
 */
export async function loadHistory(asked: HistoryAsked, signal: AbortSignal): Promise<History> {
  const { streamId, fields, fromMs, toMs, widthPx, zone } = asked
  const bucket = bucketFor(toMs - fromMs, widthPx)
  const query = {
    start: new Date(fromMs).toISOString(),
    end: new Date(toMs).toISOString(),
    limit: pageMax,
  }
  const path = { streamId }
  if (fields.length === 0) {
    const { data } = await api.call('readReadings', {
      path,
      query: { ...query, limit: listedMax, order: 'desc' },
      signal,
    })
    return { fromMs, toMs, bucket: undefined, readings: data.length, points: data.toReversed() }
  }
  const { aggregation } = bucket
  const { data } = await api.call('readReadings', {
    path,
    query: { ...query, aggregation, tz: zone, fields: askedFields(fields).join(',') },
    signal,
  })
  const readings = data.reduce((sum, { count = 0 }) => sum + count, 0)
  if (!isFew(readings, widthPx)) return { fromMs, toMs, bucket, readings, points: data }
  const raw = await api.call('readReadings', { path, query, signal })
  return { fromMs, toMs, bucket: undefined, readings: raw.data.length, points: raw.data }
}

/** What is asked for of each field, under the keys of the answer. */
export function askedFields(fields: readonly string[]): readonly string[] {
  return fields.flatMap((name) => [name, `${name}:min`, `${name}:max`])
}
