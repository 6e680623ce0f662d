import { changesBetween } from './changes-between.ts'

/** Longer names are not looked up: that would take a while. */
const lengthMax = 50

/** What a name may be made of to be repeated: it is shown to people. */
const repeatable = /^[\w.:/-]+$/

/** Names that are listed where none is near. */
const listedMax = 20

/** Characters from which on a part of a name says which one it is of. */
const partLengthMin = 5

/** Hints of one refusal. */
const hintsMax = 3

/** Problems of one request that hints are looked for: a body can have 100,000, and each takes a while. */
export const hintedMax = 20

/** What people write for names of ours, without case and signs; the first that is known where it stands is meant. */
const usual: Readonly<Record<string, readonly string[]>> = {
  after: ['start', 'cursor'],
  alertrules: ['alertThresholds'],
  alerts: ['alertThresholds'],
  ascending: ['asc'],
  before: ['end'],
  begin: ['start'],
  bool: ['boolean'],
  broker: ['endpoint'],
  bucket: ['aggregation'],
  columns: ['fields'],
  count: ['limit', 'page_size'],
  cron: ['schedule'],
  date: ['datetime'],
  decimal: ['number'],
  descending: ['desc'],
  dict: ['object'],
  double: ['number'],
  enddate: ['end'],
  endtime: ['end'],
  epoch: ['epoch_s'],
  every: ['schedule'],
  events: ['event_types'],
  eventtypes: ['event_types', 'events'],
  fields: ['schema'],
  filter: ['tags'],
  float: ['number'],
  from: ['start'],
  granularity: ['aggregation'],
  host: ['endpoint', 'url'],
  int: ['integer'],
  interval: ['aggregation', 'schedule'],
  iso: ['rfc3339'],
  iso8601: ['rfc3339'],
  latest: ['desc'],
  limit: ['page_size'],
  list: ['array'],
  long: ['integer'],
  map: ['object'],
  milliseconds: ['epoch_ms'],
  ms: ['epoch_ms'],
  newest: ['desc'],
  offset: ['cursor', 'page'],
  op: ['operator'],
  orderby: ['order', 'sort'],
  oldest: ['asc'],
  page: ['cursor'],
  pagesize: ['limit'],
  perpage: ['limit', 'page_size'],
  pg: ['postgres'],
  postgresql: ['postgres'],
  q: ['contains', 'search_term', 'name'],
  query: ['contains', 'search_term'],
  queue: ['topic'],
  resolution: ['aggregation'],
  rules: ['alertThresholds'],
  search: ['contains', 'search_term', 'name'],
  seconds: ['epoch_s'],
  select: ['fields'],
  since: ['start'],
  size: ['limit', 'page_size'],
  skip: ['cursor', 'page'],
  sort: ['order'],
  sqlserver: ['mssql'],
  startdate: ['start'],
  starttime: ['start'],
  str: ['string'],
  subject: ['topic'],
  subscribe: ['topic', 'objects', 'registers', 'items'],
  text: ['string'],
  time: ['datetime'],
  timefield: ['timestampField'],
  timeformat: ['timestampFormat'],
  timestamp: ['datetime'],
  timezone: ['tz'],
  to: ['end'],
  topics: ['topic'],
  tz: ['timezone'],
  value: ['threshold'],
  unix: ['epoch_s'],
  unixms: ['epoch_ms'],
  until: ['end'],
  uri: ['endpoint', 'url'],
  url: ['endpoint'],
  ws: ['websocket'],
}

/** The known name that is meant by another one; undefined where none is near. */
export function meantBy(given: string, known: readonly string[]): string | undefined {
  if (given.length > lengthMax) return undefined
  const bare = bareOf(given)
  const same = known.find((name) => bareOf(name) === bare)
  if (same !== undefined) return same
  const other = Object.hasOwn(usual, bare) ? usual[bare] : undefined
  const found = other?.find((name) => known.includes(name))
  if (found !== undefined) return found
  const [nearest] = known
    .filter((name) => Math.abs(bareOf(name).length - bare.length) <= changesMax(name))
    .map((name) => ({ name, changes: changesBetween(bare, bareOf(name)) }))
    .filter(({ name, changes }) => changes <= changesMax(name))
    .toSorted((first, second) => first.changes - second.changes)
  return nearest?.name ?? withPart(bare, known)
}

/** Changes up to which a name is near. */
function changesMax(name: string): number {
  return Math.max(1, name.length / 3)
}

/** A name of several parts of which only some were written, as alert.triggered of stream.alert_triggered. */
function withPart(bare: string, known: readonly string[]): string | undefined {
  if (bare.length < partLengthMin) return undefined
  return known.find((name) => bareOf(name).includes(bare))
}

/** What to write for a value that is none of those that are known, as a sentence; undefined where that is not known. */
export function spellingHint(given: unknown, known: readonly string[]): string | undefined {
  if (typeof given !== 'string' || !isRepeatable(given)) return undefined
  const meant = meantBy(given, known)
  return meant === undefined ? undefined : `Write ${meant} for ${given}.`
}

/** What to do about a name that does not exist, as a sentence: how it is spelt, or which names do exist. */
export function unknownNameHint(given: string, known: readonly string[]): string | undefined {
  if (!isRepeatable(given)) return undefined
  const spelling = spellingHint(given, known)
  if (spelling !== undefined || known.length === 0) return spelling
  const more = known.length > listedMax ? ' and others' : ''
  return `Leave out ${given}, or use one of ${known.slice(0, listedMax).join(', ')}${more}.`
}

/** What to do about a value that is none of a few, as a sentence: how it is spelt, or which ones there are. */
export function choiceHint(
  given: unknown,
  known: readonly string[],
  path: string,
): string | undefined {
  const spelling = spellingHint(given, known)
  if (spelling !== undefined || known.length > listedMax) return spelling
  return `Use one of ${known.join(', ')} for ${path}.`
}

/** Looks for the hint of one more problem, unless there are too many to look for all. */
export function soughtHint(
  problems: readonly unknown[],
  seek: () => string | undefined,
): string | undefined {
  return problems.length < hintedMax ? seek() : undefined
}

/** Some hints as one text; undefined without any. */
export function joinedHints(hints: readonly (string | undefined)[]): string | undefined {
  const known = new Set(hints.filter((hint) => hint !== undefined))
  return known.size === 0 ? undefined : [...known].slice(0, hintsMax).join(' ')
}

function isRepeatable(given: string): boolean {
  return given.length <= lengthMax && repeatable.test(given)
}

function bareOf(name: string): string {
  return name.toLowerCase().replaceAll(/[\s._-]/g, '')
}
