import { changesBetween } from '../core/changes-between.ts'

/** A name in the environment that looks like a setting, and that nobody reads. */
export interface UnknownSetting {
  readonly name: string
  /** The setting that may have been meant. */
  readonly nearest: string | undefined
}

const prefix = /^streamvault_/i

/** Names that begin like those of settings, in whatever case, and are none. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): readonly UnknownSetting[] {
  return Object.keys(environment)
    .filter((name) => prefix.test(name) && !known.has(name))
    .map((name) => ({ name, nearest: nearestOf(name, known) }))
}

/** For example `STREAMVAULT_HTP_PORT (did you mean STREAMVAULT_HTTP_PORT?)`. */
export function sentenceOf({ name, nearest }: UnknownSetting): string {
  return nearest === undefined ? name : `${name} (did you mean ${nearest}?)`
}

/** The known name that ends with all of this one, else the one that needs the fewest changes, if these are few for its length. */
function nearestOf(name: string, known: ReadonlySet<string>): string | undefined {
  const [nearest] = [...known]
    .map((one) => ({ one, changes: changesBetween(name.toUpperCase(), one) }))
    .filter(({ one, changes }) => changes <= Math.max(2, (one.length - 'STREAMVAULT_'.length) / 3))
    .toSorted((first, second) => first.changes - second.changes)
  return withEndOf(name, known) ?? nearest?.one
}

/** The shortest known name that ends like this one, as STREAMVAULT_HTTP_PORT does for STREAMVAULT_PORT. */
function withEndOf(name: string, known: ReadonlySet<string>): string | undefined {
  const end = name.toUpperCase().replace(prefix, '_')
  const [shortest] = [...known]
    .filter((one) => end.length > '_'.length && one.endsWith(end))
    .toSorted((first, second) => first.length - second.length)
  return shortest
}
