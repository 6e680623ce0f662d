import type { Buckets } from './aggregate-query.ts'
import { type ZoneSegment, zoneSegments } from './zones.ts'

/** Buckets of one width that follow each other: they begin at startUs, startUs + widthUs, ... */
export interface BucketRun {
  readonly startUs: number
  readonly widthUs: number
  /** Where the last one ends: a whole number of widths after the start. */
  readonly endUs: number
}

const hourUs = 3_600_000_000
const dayUs = 24 * hourUs

/** Weeks begin on Monday; 1970 began on a Thursday. */
const firstMondayUs = 4 * dayUs

/**
 * How far before a range to begin, so that its first bucket is whole, and clocks that went back some
 * time before it are known.
 */
const marginUs = 64 * dayUs

/**
 * The buckets that touch [fromUs, toUs), in order and without a gap. Those of a year are few runs: one
 * for UTC, and for days some five in a zone that changes its clocks.
 */
export function bucketRuns(buckets: Buckets, fromUs: number, toUs: number): readonly BucketRun[] {
  if (toUs <= fromUs) return []
  if (buckets.kind === 'fixed') {
    const { widthUs } = buckets
    return [{ startUs: floorTo(fromUs, widthUs), widthUs, endUs: ceilTo(toUs, widthUs) }]
  }
  const margin = marginUs + buckets.units * dayUs
  const startsFromUs = fromUs - margin
  const startsToUs = toUs + margin
  const segments = zoneSegments(buckets.zone, startsFromUs, startsToUs)
  return cut(runsBetween(startsOf(buckets, segments)), fromUs, toUs)
}

/** The start of the bucket after the one with this instant. */
export function nextBucketUs(buckets: Buckets, instantUs: number): number {
  const { startUs, widthUs } = runAt(buckets, instantUs)
  return startUs + widthUs
}

/** The start of the bucket with this instant. */
export function bucketStartUs(buckets: Buckets, instantUs: number): number {
  return runAt(buckets, instantUs).startUs
}

/** Instants of the last years that can be asked for are as far apart as this, as doubles. */
const coarsestUs = 32

/** A run that begins with the bucket of this instant. */
function runAt(buckets: Buckets, instantUs: number): BucketRun {
  return bucketRuns(buckets, instantUs, instantUs + coarsestUs)[0] as BucketRun
}

/** How many buckets there are. */
export function bucketCount(runs: readonly BucketRun[]): number {
  return runs.reduce((sum, run) => sum + (run.endUs - run.startUs) / run.widthUs, 0)
}

/** The start of the bucket that so many others are before. */
export function bucketStartAt(runs: readonly BucketRun[], place: number): number {
  let left = place
  for (const { startUs, widthUs, endUs } of runs) {
    const count = (endUs - startUs) / widthUs
    if (left < count) return startUs + left * widthUs
    left -= count
  }
  return runs.at(-1)?.endUs ?? 0
}

/** The starts of at most `max` buckets, in order. */
export function bucketStarts(runs: readonly BucketRun[], max: number): number[] {
  const starts: number[] = []
  for (const { startUs, widthUs, endUs } of runs) {
    for (let at = startUs; at < endUs && starts.length < max; at += widthUs) starts.push(at)
  }
  return starts
}

/** About how long a bucket is. */
export function usualWidthUs(buckets: Buckets): number {
  if (buckets.kind === 'fixed') return buckets.widthUs
  const widths = { hour: hourUs, day: dayUs, week: 7 * dayUs, month: 30 * dayUs }
  return widths[buckets.unit] * buckets.units
}

/** Starts of buckets at equal distances. */
interface Starts {
  readonly fromUs: number
  readonly stepUs: number
  readonly count: number
}

type Calendar = Extract<Buckets, { kind: 'calendar' }>

function startsOf(calendar: Calendar, segments: readonly ZoneSegment[]): readonly Starts[] {
  const { unit, units } = calendar
  switch (unit) {
    case 'hour':
      return hourStarts(segments)
    case 'day':
      return firstShown({ stepUs: units * dayUs, phaseUs: 0 }, segments)
    case 'week':
      return firstShown({ stepUs: units * 7 * dayUs, phaseUs: firstMondayUs }, segments)
    case 'month':
      return monthStarts(segments)
    default:
      return unit satisfies never
  }
}

/**
 * Hours begin whenever the clocks show a full hour, also for the second time, and when they jump past
 * one. So where they go back by half an hour, an hour has ninety minutes.
 */
function hourStarts(segments: readonly ZoneSegment[]): readonly Starts[] {
  const starts: Starts[] = []
  for (const [index, { fromUs, toUs, offsetUs }] of segments.entries()) {
    const before = segments[index - 1]
    const firstUs = ceilTo(fromUs + offsetUs, hourUs) - offsetUs
    const isAnother =
      before !== undefined &&
      floorTo(fromUs + offsetUs, hourUs) !== floorTo(fromUs - 1 + before.offsetUs, hourUs)
    if (firstUs > fromUs && isAnother) starts.push({ fromUs, stepUs: hourUs, count: 1 })
    push(starts, { fromUs: firstUs, stepUs: hourUs, endUs: toUs })
  }
  return starts
}

/** Marks on the clocks at equal distances, the first of them `phaseUs` after 1970 began there. */
interface Marks {
  readonly stepUs: number
  readonly phaseUs: number
}

/** When the clocks show each mark for the first time, or jump past it. */
function firstShown(
  { stepUs, phaseUs }: Marks,
  segments: readonly ZoneSegment[],
): readonly Starts[] {
  const starts: Starts[] = []
  let shownUs = Number.NEGATIVE_INFINITY
  for (const { fromUs, toUs, offsetUs } of segments) {
    const firstLocalUs = fromUs + offsetUs
    const markAtUs = floorTo(firstLocalUs - phaseUs, stepUs) + phaseUs
    // The last one counts where several are jumped past at once: the others last no time.
    const isJumpedPast = markAtUs >= shownUs && markAtUs < firstLocalUs
    if (isJumpedPast && shownUs > Number.NEGATIVE_INFINITY) {
      starts.push({ fromUs, stepUs, count: 1 })
    }
    const notShownUs = Math.max(firstLocalUs, shownUs)
    const nextUs = ceilTo(notShownUs - phaseUs, stepUs) + phaseUs - offsetUs
    push(starts, { fromUs: nextUs, stepUs, endUs: toUs })
    shownUs = Math.max(shownUs, toUs + offsetUs)
  }
  return starts
}

function monthStarts(segments: readonly ZoneSegment[]): readonly Starts[] {
  const starts: Starts[] = []
  let shownUs = Number.NEGATIVE_INFINITY
  for (const { fromUs, toUs, offsetUs } of segments) {
    const fromLocalUs = fromUs + offsetUs
    const endLocalUs = toUs + offsetUs
    let month = monthNumber(Math.max(fromLocalUs, shownUs))
    if (monthLocalUs(month) < shownUs || shownUs === Number.NEGATIVE_INFINITY) month++
    for (; monthLocalUs(month) < endLocalUs; month++) {
      const atUs = Math.max(fromUs, monthLocalUs(month) - offsetUs)
      starts.push({ fromUs: atUs, stepUs: dayUs, count: 1 })
    }
    shownUs = Math.max(shownUs, endLocalUs)
  }
  return starts
}

function monthNumber(localUs: number): number {
  const date = new Date(Math.floor(localUs / 1_000))
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

function monthLocalUs(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12) * 1_000
}

function push(
  starts: Starts[],
  { fromUs, stepUs, endUs }: { fromUs: number; stepUs: number; endUs: number },
): void {
  if (fromUs < endUs) starts.push({ fromUs, stepUs, count: Math.ceil((endUs - fromUs) / stepUs) })
}

/** Each bucket lasts until the next one starts; what comes after the last start is left out. */
function runsBetween(starts: readonly Starts[]): readonly BucketRun[] {
  const runs: BucketRun[] = []
  for (const [index, { fromUs, stepUs, count }] of starts.entries()) {
    const lastUs = fromUs + (count - 1) * stepUs
    append(runs, { startUs: fromUs, widthUs: stepUs, endUs: lastUs })
    const next = starts[index + 1]
    if (!next) break
    append(runs, { startUs: lastUs, widthUs: next.fromUs - lastUs, endUs: next.fromUs })
  }
  return runs
}

/** Adds a run, or its buckets to the last one where they are as wide. */
function append(runs: BucketRun[], run: BucketRun): void {
  if (run.endUs <= run.startUs) return
  const last = runs.at(-1)
  if (last?.widthUs === run.widthUs) runs[runs.length - 1] = { ...last, endUs: run.endUs }
  else runs.push(run)
}

function cut(runs: readonly BucketRun[], fromUs: number, toUs: number): readonly BucketRun[] {
  return runs
    .filter(({ startUs, endUs }) => endUs > fromUs && startUs < toUs)
    .map(({ startUs, widthUs, endUs }) => ({
      startUs: startUs + floorTo(Math.max(0, fromUs - startUs), widthUs),
      widthUs,
      endUs: startUs + ceilTo(Math.min(endUs, toUs) - startUs, widthUs),
    }))
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step
}

function ceilTo(value: number, step: number): number {
  return Math.ceil(value / step) * step
}
