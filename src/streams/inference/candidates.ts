import { isObject } from '../../contracts/definitions/field-map.ts'
import type { ItemsLevel } from '../../contracts/mapping.ts'
import { follow, pathText, type Step } from '../../contracts/path.ts'
import { folded, lastName } from './names.ts'
import { leavesOf, newRoom, type Seen, seenIn } from './seen.ts'
import { rankOfName, timeFormatOf } from './times.ts'

/** Elements that are looked at to tell what a list holds: the others are like them. */
const elementsMax = 2_000

/** Lists that are always so short are more often parts of a reading than readings. */
const shortLength = 4

/** Readings of more names than a schema has fields are better kept as they are. */
const pivotNamesMax = 200

/** Members of an entry of a pivot beside its name, value and time, such as a quality and a unit. */
const pivotOthersMax = 5

/** Objects are of one shape if so many of all of their names are in each. */
const shapeMin = 0.6

const likelyNames =
  /^(readings?|measurements?|values?|vals|data|samples?|records?|points?|datapoints?|items|metrics|sensors?|results?|observations?|entries|devices|modules|nodes|meters|inverters|sensordatavalues|obs|events?|messages?|telemetry|resourcemetrics|scopemetrics|rows|series|list|features)$/

const unlikelyNames =
  /^(rxmetadata|rxinfo|txinfo|gateways?|hotspots|tags|labels|links|alarms?|errors?|warnings?|history|schema|fields|permissions|settings|config|options|geometry|coordinates|attributes|members|users|actions|definition|capabilities|exposes|endpoints|networks|wifi|counters)$/

/** A sign that is so clear that one of always a few entries is enough. */
const pivotScore = 4

/** Keys of entries that are called by a name, the likeliest ones first. */
const nameKeys = (
  'name n metric tag signal valuetype sensor variable parameter channel measurement key id type code property label ' +
  'obis obiscode measurand quantity register attribute point item nodeid'
).split(' ')
const valueKeys = 'value v val reading y'.split(' ')

const identifierKey =
  /^(([0-9a-f]{2}[:-]){5,7}[0-9a-f]{2}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}|(?=.*\d)[0-9a-f]{8,}|\d{4,})$/i

/** A level that readings may be within, and how likely that is. */
export interface Candidate {
  readonly level: ItemsLevel
  readonly score: number
  /** What is added where no more stands beside than within. */
  readonly scoreAlone?: number
}

/** One place that all samples have something at. */
export interface Place {
  readonly steps: readonly Step[]
  /** What stands there in each of them. */
  readonly nodes: readonly unknown[]
  /** What encloses it in each of them. */
  readonly holders: readonly unknown[]
  readonly latestUs: number
}

/** What a place may be read as. Pure. */
export function candidatesAt(place: Place): readonly Candidate[] {
  const { nodes } = place
  if (nodes.every(Array.isArray) && nodes.some(({ length }) => length > 0)) {
    return candidatesOfLists(place, nodes as readonly unknown[][])
  }
  if (nodes.every(isObject)) {
    const objects = nodes as readonly Readonly<Record<string, unknown>>[]
    return [...columnsIn(place, objects), ...mapIn(place, objects)]
  }
  return []
}

function candidatesOfLists(place: Place, lists: readonly unknown[][]): readonly Candidate[] {
  const elements = lists.flatMap((list) => list.slice(0, elementsMax)).slice(0, elementsMax)
  if (elements.every(isObject)) {
    const bonus = scoreOfLists(place, lists)
    const pivot = pivotOf(place, elements, lists)
    if (pivot !== undefined) return [{ level: pivot, score: bonus + pivotScore }]
    const hasTime = hasTimes(seenIn(elements, newRoom()), place.latestUs)
    const level = { path: pathText(place.steps), as: 'list' } as const
    const scoreAlone = areNamed(lists as readonly Json[][]) ? 3 : 0
    return [{ level, score: bonus + (hasTime ? 3 : 0), scoreAlone }]
  }
  if (elements.every(Array.isArray)) return rowsOf(place, elements as readonly unknown[][])
  if (elements.every((element) => typeof element === 'number')) return samplesOf(place, lists)
  return []
}

type Json = Readonly<Record<string, unknown>>

function scoreOfLists({ steps }: Place, lists: readonly unknown[][]): number {
  const lengths = lists.map(({ length }) => length)
  const longest = Math.max(...lengths)
  const isFixed = longest === Math.min(...lengths) && longest <= shortLength
  const name = folded(lastName(steps))
  return (
    (likelyNames.test(name) ? 2 : 0) +
    (unlikelyNames.test(name) ? -5 : 0) +
    (longest > 1 ? 1 : 0) +
    (isFixed ? -2 : 0) +
    (longest !== Math.min(...lengths) ? 1 : 0)
  )
}

const ownNames =
  /^(id|name|sensor|device|mac|serial|serialnumber|sn|address|addr|imei|eui|deveui|.*(id|name))$/

/** Whether elements say by themselves what they are of, so that one more would be another reading. */
function areNamed(lists: readonly (readonly Json[])[]): boolean {
  const [first] = lists.flat()
  if (first === undefined || lists.every(({ length }) => length < 2)) return false
  return Object.keys(first).some((key) => {
    if (!ownNames.test(folded(key))) return false
    return lists.every((list) => {
      const names = list.slice(0, elementsMax).map((element) => element[key])
      return names.every(isName) && new Set(names).size === names.length
    })
  })
}

/** Whether some values are times by their names and by what they are. */
export function hasTimes(seen: Seen, latestUs: number): boolean {
  return leavesOf(seen).leaves.some(({ steps, seen: { scalars } }) => {
    if (rankOfName(lastName(steps)) === undefined) return false
    const format = timeFormatOf(scalars, latestUs)
    return format !== undefined && !('problem' in format)
  })
}

/** Entries of a name and a value each. */
function pivotOf(
  { steps, latestUs }: Place,
  entries: readonly Json[],
  lists: readonly unknown[][],
): ItemsLevel | undefined {
  const keys = [...new Set(entries.flatMap((entry) => Object.keys(entry)))]
  const name = keyOf(keys, nameKeys, (key) => entries.every((entry) => isName(entry[key])))
  const value = keyOf(keys, valueKeys, (key) => isValueKey(entries, key))
  if (name === undefined || value === undefined || keys.length > pivotOthersMax + 3)
    return undefined
  const time = keys.find((key) => {
    const format = timeFormatOf(
      entries.map((entry) => entry[key]),
      latestUs,
    )
    return rankOfName(key) !== undefined && format !== undefined && !('problem' in format)
  })
  const names = new Set(entries.map((entry) => String(entry[name])))
  const isClear = (list: readonly unknown[]) => {
    const seen = (list as readonly Json[]).map((entry) =>
      JSON.stringify([entry[name], entry[time ?? '']]),
    )
    return new Set(seen).size === seen.length
  }
  if (names.size < 2 || names.size > pivotNamesMax || !lists.every(isClear)) return undefined
  return {
    path: pathText(steps),
    as: 'pivot',
    ...(name !== 'name' && { name: pathText([name]) }),
    ...(value !== 'value' && { value: pathText([value]) }),
    ...(time !== undefined && { time: pathText([time]) }),
  }
}

function keyOf(
  keys: readonly string[],
  likely: readonly string[],
  fits: (key: string) => boolean,
): string | undefined {
  const rank = (key: string) => likely.indexOf(folded(key))
  return keys
    .filter((key) => rank(key) >= 0 && fits(key))
    .toSorted((left, right) => rank(left) - rank(right))[0]
}

function isName(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' && value.length <= 200 : Number.isInteger(value)
}

function isValueKey(entries: readonly Json[], key: string): boolean {
  const values = entries.map((entry) => entry[key])
  return (
    values.every((value) => value === undefined || value === null || typeof value !== 'object') &&
    values.some((value) => value !== undefined && value !== null)
  )
}

/** Lists of values, all equally long; their names stand beside them, or are made. */
function rowsOf(place: Place, rows: readonly unknown[][]): readonly Candidate[] {
  const [first = []] = rows
  const width = first.length
  const isRow = (row: readonly unknown[]) =>
    row.length === width && row.every((cell) => cell === null || typeof cell !== 'object')
  if (width < 2 || !rows.every(isRow)) return []
  const { steps, latestUs } = place
  const path = pathText(steps)
  const beside = namesBeside(place, width)
  if (beside !== undefined) {
    return [{ level: { path, as: 'rows', columns: pathText(beside) }, score: 6 }]
  }
  const times = [...first.keys()].filter((index) => {
    const values = rows.map((row) => row[index])
    const format = timeFormatOf(values, latestUs)
    return format !== undefined && !('problem' in format) && (index === 0 || index === width - 1)
  })
  const [time] = times
  if (time === undefined && !likelyNames.test(folded(lastName(steps)))) return []
  if (time === undefined && rows.length < 2) return []
  const columns = [...first.keys()].map((index) => (index === time ? 'time' : `value_${index}`))
  return [{ level: { path, as: 'rows', columns }, score: time === undefined ? 3 : 5 }]
}

/** The path of a list of as many names as a row has values, beside the list of rows. */
function namesBeside({ steps, holders }: Place, width: number): readonly Step[] | undefined {
  const around = steps.slice(0, -1)
  const inner = holders.map((holder) => follow(holder, around))
  const [first] = inner
  if (!isObject(first)) return undefined
  const isNames = (list: unknown) =>
    Array.isArray(list) && list.length === width && list.every(isNamed)
  const name = Object.keys(first).find((key) => inner.every((one) => isNames(follow(one, [key]))))
  return name === undefined ? undefined : [...around, name]
}

function isNamed(one: unknown): boolean {
  return (
    (typeof one === 'string' && one !== '') || (isObject(one) && typeof one['name'] === 'string')
  )
}

const intervalNames =
  /^(interval|period|dt|step|samplinginterval|sampleinterval|sampletime)(ms|us|ns|s|sec|seconds)?$/
const startNames = /^(start|starttime|t0|begin|from|first|base|basetime)$/

/** Values at equal distances, beside the time of the first one and what is between two. */
function samplesOf(
  { steps, holders, latestUs }: Place,
  lists: readonly unknown[][],
): readonly Candidate[] {
  const around = steps.slice(0, -1)
  const inner = holders.map((holder) => follow(holder, around))
  const [first] = inner
  if (!isObject(first) || steps.length === 0) return []
  const valuesAt = (key: string) => inner.map((one) => follow(one, [key]))
  const interval = Object.keys(first).find(
    (key) =>
      intervalNames.test(folded(key)) &&
      valuesAt(key).every((value) => typeof value === 'number' && value > 0),
  )
  const start = Object.keys(first).find((key) => {
    if (!startNames.test(folded(key)) && rankOfName(key) === undefined) return false
    const format = timeFormatOf(valuesAt(key), latestUs)
    return format !== undefined && !('problem' in format)
  })
  if (interval === undefined || start === undefined) return []
  if (Math.max(...lists.map(({ length }) => length)) < 2) return []
  const [unit] = /(ms|us|ns)$/.exec(folded(interval)) ?? []
  return [
    {
      level: {
        path: pathText(steps),
        as: 'samples',
        start: pathText([...around, start]),
        interval: pathText([...around, interval]),
        ...(unit !== undefined && { unit: unit as 'ms' | 'us' | 'ns' }),
      },
      score: 6,
    },
  ]
}

/** Lists of one length side by side, of which one holds times. */
function columnsIn({ steps, latestUs }: Place, objects: readonly Json[]): readonly Candidate[] {
  const lists = objects.map((object) =>
    Object.entries(object).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1])),
  )
  if (!lists.every(isEven) || lists.every((columns) => columns[0]?.[1].length === 0)) return []
  const values = new Map<string, unknown[]>()
  for (const [name, column] of lists.flat()) {
    const all = values.get(name) ?? []
    all.push(...column.slice(0, elementsMax))
    values.set(name, all)
  }
  const hasTime = [...values].some(([name, column]) => {
    const format = rankOfName(name) === undefined ? undefined : timeFormatOf(column, latestUs)
    return format !== undefined && !('problem' in format)
  })
  return hasTime ? [{ level: { path: pathText(steps), as: 'columns' }, score: 7 }] : []
}

/** Whether there are several lists, all of one length. */
function isEven(columns: readonly (readonly [string, unknown[]])[]): boolean {
  const [first] = columns
  return columns.length >= 2 && columns.every(([, values]) => values.length === first?.[1].length)
}

/** Objects of one shape under keys that are identifiers, or that are others each time. */
function mapIn({ steps }: Place, objects: readonly Json[]): readonly Candidate[] {
  const full = objects.filter((object) => Object.keys(object).length > 0)
  const entries = full.flatMap((object) => Object.entries(object)).slice(0, elementsMax)
  if (entries.length === 0) return []
  if (!entries.every(([, value]) => isObject(value) && Object.keys(value).length > 0)) return []
  const level: ItemsLevel = { path: pathText(steps), as: 'map' }
  const keys = new Set(entries.map(([key]) => key))
  const varies = full.some((object) => Object.keys(object).length !== keys.size)
  const hasIdentifiers = entries.every(([key]) => identifierKey.test(key))
  if (!hasIdentifiers && !(varies && keys.size >= 3)) return []
  if (!areOfOneShape(entries.map(([, value]) => value as Json))) return []
  const isTaken = entries.some(([, value]) => Object.hasOwn(value as Json, 'key'))
  const named = isTaken ? { ...level, key: 'item_key' } : level
  return [{ level: named, score: hasIdentifiers ? 6 : 4 }]
}

function areOfOneShape(values: readonly Json[]): boolean {
  const all = new Set(values.flatMap((value) => Object.keys(value)))
  return values.every((value) => Object.keys(value).length >= all.size * shapeMin)
}
