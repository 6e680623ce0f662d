import type { Shape } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import type { StreamGroup } from '../stream-groups.ts'
import type { StoredCounts } from '../time-series-store.ts'
import type { RefusedReading } from './write-rows.ts'

/** Groups whose readings are those that QuestDB has taken. */
export function withoutRefused(
  groups: readonly StreamGroup[],
  refused: readonly RefusedReading[],
): readonly StreamGroup[] {
  if (refused.length === 0) return groups
  const readings = new Set(refused.map(({ reading }) => reading))
  return groups.map((group) => ({
    ...group,
    readings: group.readings.filter((reading) => !readings.has(reading)),
  }))
}

export function withRefused(
  streamId: string,
  counts: StoredCounts,
  refused: readonly RefusedReading[],
): StoredCounts {
  if (refused.length === 0) return counts
  const added = refused.filter(({ reading }) => reading.streamId === streamId).length
  return { ...counts, refused: (counts.refused ?? 0) + added }
}

/** The shapes of readings, by stream. Neighbours are mostly of one, which costs little. */
export function shapesOf(
  readings: readonly ShippedReading[],
  placeOf: (reading: ShippedReading) => Shape,
): Map<string, Set<string>> {
  const shapes = new Map<string, Set<string>>()
  let last: { readonly streamId: string; readonly shape: Shape } | undefined
  for (const reading of readings) {
    const { streamId } = reading
    const shape = placeOf(reading)
    if (last?.streamId === streamId && last.shape === shape) continue
    last = { streamId, shape }
    const known = shapes.get(streamId)
    if (known) known.add(shape.id)
    else shapes.set(streamId, new Set([shape.id]))
  }
  return shapes
}
