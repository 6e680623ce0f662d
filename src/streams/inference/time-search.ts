import type { TimestampFormat } from '../../contracts/stream-schema.ts'
import { parseRfc3339 } from '../../core/time.ts'
import { type Notes, pathFrom, type Trees } from './fields.ts'
import { folded, lastName } from './names.ts'
import { type Leaf, leavesOf, type Seen } from './seen.ts'
import { classOfRank, mayBeUnnamed, rankOfName, timeFormatOf, unnamedRank } from './times.ts'

/** Where readings have their time, and how it is written. */
export interface FoundTime {
  readonly path: string
  readonly format: TimestampFormat
  readonly isLocal: boolean
  /** The time zone that the messages name for it. */
  readonly zone?: string | undefined
  /** Some readings were without it. */
  readonly isOptional: boolean
}

/** Readings that have to have a time, as a part of all, for it to be that of the stream. */
const shareMin = 0.5

/** How much less likely a time is that some readings are without: it is better than one of transport only. */
const optionalClasses = 2.5

/** How far a number may be from a time that is written as one, before it is taken for a counter. */
const counterAwayUs = 366 * 86_400_000_000

interface Candidate extends FoundTime {
  readonly order: readonly [number, number, number, number]
  readonly times: readonly number[]
  readonly isText: boolean
}

/** The time of readings: that of the measurement before those of its way to us. Pure. */
export function findTime(
  { items, parents }: Trees,
  { latestUs, notes }: { readonly latestUs: number; readonly notes: Notes },
): FoundTime | undefined {
  const candidates: Candidate[] = []
  for (const [up, tree] of [items, ...parents].entries()) {
    for (const leaf of leavesOf(tree).leaves) {
      const candidate = candidateOf(leaf, { up, total: tree.objects, latestUs, notes })
      if (candidate !== undefined) candidates.push(candidate)
    }
  }
  const sure = candidates.filter(({ isText }) => isText)
  const likely = candidates.filter((one) => one.isText || !isCounter(one, sure))
  const [best] = likely.toSorted((left, right) => compared(left.order, right.order))
  if (best === undefined) return undefined
  const { path, format, isLocal, isOptional } = best
  return {
    path,
    format,
    isLocal,
    isOptional,
    zone: isLocal ? zoneIn([items, ...parents]) : undefined,
  }
}

const zoneNames = ['timezone', 'tz', 'zone', 'timezoneid', 'tzid', 'timezonename']

/** Longer texts are no names of time zones. */
const zoneLengthMax = 64

/** The one time zone that all messages name. */
function zoneIn(trees: readonly Seen[]): string | undefined {
  for (const tree of trees) {
    for (const { steps, seen } of leavesOf(tree).leaves) {
      if (!zoneNames.includes(folded(lastName(steps)))) continue
      const [zone, ...others] = new Set(seen.scalars)
      if (typeof zone === 'string' && others.length === 0 && isZone(zone)) return zone
    }
  }
  return undefined
}

function isZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text) || text.length > zoneLengthMax) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

interface Place {
  readonly up: number
  readonly total: number
  readonly latestUs: number
  readonly notes: Notes
}

function candidateOf(
  { steps, seen }: Leaf,
  { up, total, latestUs, notes }: Place,
): Candidate | undefined {
  const { scalars, times } = seen
  const name = lastName(steps)
  const rank = rankOfName(name) ?? (mayBeUnnamed(name, scalars) ? unnamedRank : undefined)
  const isWithinList = steps.some((step) => typeof step === 'number')
  if (rank === undefined || isWithinList || seen.arrays > 0) return undefined
  if (scalars.length === 0 || scalars.length < total * shareMin) return undefined
  const found = timeFormatOf(scalars, latestUs)
  const path = pathFrom(up, steps)
  if (found === undefined) return undefined
  if ('problem' in found) {
    notes.add(path, `is not used as the time: ${found.problem}`)
    return undefined
  }
  const { format, isLocal } = found
  const isOptional = scalars.length < total || times < total
  return {
    path,
    format,
    isLocal,
    isOptional,
    order: [classOfRank(rank) + (isOptional ? optionalClasses : 0), up, steps.length, rank],
    times: scalars.map((value) => roughUs(value, format)),
    isText: typeof scalars[0] === 'string',
  }
}

const unitUs: Readonly<Partial<Record<TimestampFormat, number>>> = {
  epoch_s: 1e6,
  epoch_ms: 1e3,
  epoch_us: 1,
  epoch_ns: 1e-3,
}

function roughUs(value: unknown, format: TimestampFormat): number {
  const unit = unitUs[format]
  if (unit !== undefined) return Number(value) * unit
  const instant = parseRfc3339(String(value))
  return typeof instant === 'number' ? instant : Number.NaN
}

/** A number that counts something, such as the clock of a radio: it is far from all that is surely a time. */
function isCounter({ times }: Candidate, sure: readonly Candidate[]): boolean {
  const [time = 0] = times
  const known = sure.map(({ times: [one = Number.NaN] }) => one).filter((one) => !Number.isNaN(one))
  return known.length > 0 && known.every((one) => Math.abs(one - time) > counterAwayUs)
}

function compared(left: readonly number[], right: readonly number[]): number {
  for (const [index, one] of left.entries()) {
    const difference = one - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
