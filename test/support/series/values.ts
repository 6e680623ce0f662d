const startMs = Date.UTC(2026, 0, 31)

/** What a device sends, and what is to be found in it. */
export interface Series {
  readonly name: string
  readonly message: (index: number) => { readonly topic?: string; readonly payload: unknown }
  /** Part of the source that is proposed. */
  readonly source: object
  /** The paths of some of the fields; undefined: the name is the path. */
  readonly fields: Readonly<Record<string, string | undefined>>
}

/** Values of a series that is no constant: whole and not, zero, below it; the first ten show little of that. */
export function value(index: number, seed = 1): number {
  if (index < 10) return 20 + ((index * seed) % 5)
  if (index % 13 === 0) return 0
  return index % 3 === 0 ? -index * seed : Math.round(index * seed * 37) / 8
}

/** A value that is null from time to time, but not in the first ten. */
export function nullable(index: number, seed = 1): number | null {
  return index % 17 === 11 ? null : value(index, seed)
}

export function time(index: number): Date {
  return new Date(startMs + index * 60_000)
}

export const iso = (index: number) => time(index).toISOString()
export const seconds = (index: number) => Math.floor(time(index).getTime() / 1_000)
export const wall = (index: number) => iso(index).slice(0, 19)
export const dotted = (index: number) =>
  wall(index).replace(/^(\d+)-(\d+)-(\d+)T(.*)$/, '$3.$2.$1 $4')

/** Members that are there in most messages of a series only, and in all of the first ten. */
export function mostly(index: number, members: object): object {
  return index % 19 === 14 ? {} : members
}
