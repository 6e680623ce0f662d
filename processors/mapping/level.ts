import type { ItemsLevel, MessageContext, TimeUnit } from '../../src/contracts/mapping.ts'
import { type Path, parsePath, type Step } from '../../src/contracts/path.ts'
import type { TimeReader } from '../timestamp.ts'
import type { Reserved } from './reserved.ts'

/** Why no readings can be found where a definition says that there are some. */
export class LevelProblem extends Error {
  override readonly name = 'LevelProblem'
  /** The part of the definition that does not fit the message. */
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/** A level with its paths taken apart. */
export interface Level {
  readonly given: ItemsLevel
  /** The part of the definition that it is. */
  readonly place: string
  readonly steps: readonly Step[]
  readonly columns: readonly (string | null)[] | Path | undefined
  readonly start: Path | undefined
  readonly interval: number | Path | undefined
  readonly intervalUnitUs: number
  readonly name: Path
  readonly value: Path
  readonly time: Path | undefined
  readonly readTime: TimeReader
  readonly reserved: Reserved
}

/** What is known of a message beside its items. */
export type PlacedContext = MessageContext & { readonly place?: number | undefined }

const unitUs: Readonly<Record<TimeUnit, number>> = { s: 1_000_000, ms: 1_000, us: 1, ns: 0.001 }

/** A level before it is known what other paths read. */
export type FreeLevel = Omit<Level, 'reserved'>

/** @param place the part of the definition that it is */
export function levelOf(given: ItemsLevel, place: string, readTime: TimeReader): FreeLevel {
  const { as, columns, interval } = given
  return {
    given,
    place,
    steps: pathOf(given.path).steps,
    columns: typeof columns === 'string' ? pathOf(columns) : columns,
    start: given.start === undefined ? undefined : pathOf(given.start),
    interval: typeof interval === 'string' ? pathOf(interval) : interval,
    intervalUnitUs: unitUs[given.unit ?? 's'],
    name: pathOf(as === 'pivot' ? (given.name ?? 'name') : 'name'),
    value: pathOf(as === 'pivot' ? (given.value ?? 'value') : 'value'),
    time: given.time === undefined ? undefined : pathOf(given.time),
    readTime,
  }
}

/** A path that was checked when it was defined. */
export function pathOf(text: string): Path {
  const path = parsePath(text)
  if ('problem' in path) throw new Error(`the path ${text} ${path.problem}`)
  return path
}

/** The paths of a level that lead to other places of what encloses its items. */
export function pathsBeside({ columns, start, interval }: FreeLevel): readonly Path[] {
  return [columns, start, interval].filter(
    (path): path is Path => typeof path === 'object' && 'steps' in path,
  )
}

export function notA(what: string, { place, given }: Level): LevelProblem {
  return new LevelProblem(`${place}.path`, `is not ${what}: ${given.path}`)
}

export function nothingAt({ place, given }: Level): LevelProblem {
  return new LevelProblem(`${place}.path`, `leads nowhere: there is nothing at ${given.path}`)
}
