import { hash } from 'node:crypto'
import type { ShippedReading } from './shipment.ts'
import type { StreamState } from './stream-state.ts'

/** Readings of a stream in a shipment, and what is known of the stream before it. */
interface ArrivedReadings {
  readonly record: Pick<StreamState, 'timestampMaxUs' | 'newestContent'>
  readonly readings: readonly ShippedReading[]
}

/** What is left of a stream's part of a shipment when readings that tell nothing new are dropped. */
export interface ChangedReadings {
  readonly readings: ShippedReading[]
  readonly unchanged: number
  /** What the newest of the stream's stored readings says, where the stream drops others like it. */
  readonly newestContent: bigint | undefined
}

/**
 * Drops each reading that is newer than all stored ones of its stream, says the same as the newest
 * of them, and falls into the same window (decisions.md#readings-that-are-unchanged). It follows
 * from the journal and from what is stored before, so a repetition after a crash, in other
 * portions, drops the same ones.
 *
 * A late reading is stored: what followed it may have been dropped because of what came before it. Where a stream has
 * several senders, the newest of its readings has to be of the same one: what holds until the next reading comes is what
 * the last sender said, so averages by time are the same whether or not anything was dropped.
 */
export function withoutUnchanged(
  { record, readings }: ArrivedReadings,
  windowsUs: ReadonlyMap<ShippedReading, number>,
): ChangedReadings {
  const kept: ShippedReading[] = []
  let { timestampMaxUs: newestUs, newestContent } = record
  for (const reading of readings) {
    const { timestampUs } = reading
    if (timestampUs > newestUs) {
      const windowUs = windowsUs.get(reading)
      const content = windowUs === undefined ? undefined : contentOf(reading)
      const isUnchanged =
        windowUs !== undefined &&
        content === newestContent &&
        Math.floor(timestampUs / windowUs) === Math.floor(newestUs / windowUs)
      if (isUnchanged) continue
      newestUs = timestampUs
      newestContent = content
    }
    kept.push(reading)
  }
  return { readings: kept, unchanged: readings.length - kept.length, newestContent }
}

/** 64 bits of what is stored of a reading beside its times, and of its sender where there are several. */
function contentOf(reading: ShippedReading): bigint {
  const { shape, values, extra = '', flagged, sender, timestampUs } = reading
  const content = [shape.id, values, extra, flagged, ...(sender === undefined ? [] : [sender])]
  // An export has found it stored: among readings in another order it tells something new as well.
  const text = JSON.stringify(sender?.startsWith(':') ? [...content, timestampUs] : content)
  return hash('sha256', text, 'buffer').readBigUInt64LE()
}
