import type { Item } from '../../../processors/mapping/item.ts'
import { pathOf } from '../../../processors/mapping/level.ts'
import { fieldNameProblem, fieldsMax, isObject } from '../../contracts/definitions/field-map.ts'
import type { ItemsLevel } from '../../contracts/mapping.ts'
import { parsePath, pathText, type Step } from '../../contracts/path.ts'
import type { FieldDefinition } from '../../contracts/stream-schema.ts'
import { cutText } from '../../core/cut-text.ts'
import { typeOf } from './field-types.ts'
import { FieldNames, folded, isSecret, lastName } from './names.ts'
import { type Leaf, leavesOf, type Room, type Seen, seenIn, without } from './seen.ts'
import type { VaryingLevel } from './topics.ts'

const notesMax = 100

/** Readings of which all had an identifier, before it is proposed as one that no reading is without. */
const requiredSeenMin = 10

/** Characters of all paths together: a definition has a limit, too. */
const pathsLengthMax = 60_000

export interface Note {
  readonly path: string
  readonly message: string
}

/** Collects what was left out, and why. */
export class Notes {
  readonly all: Note[] = []

  add(path: string, message: string): void {
    if (this.all.length < notesMax) this.all.push({ path: cutText(path, 200), message })
  }
}

/** The trees of readings, and of what encloses them, from the inside outwards. */
export interface Trees {
  readonly items: Seen
  readonly parents: readonly Seen[]
  /** Their members are entries of lists, of which any may be missing. */
  readonly isPivoted: boolean
}

/** What encloses readings is looked at without what leads to them. */
export function treesOf(items: readonly Item[], levels: readonly ItemsLevel[], room: Room): Trees {
  const parents: Seen[] = []
  let around: readonly Item[] = items
  for (const { path } of levels.toReversed()) {
    around = [...new Set(around.flatMap(({ parent }) => parent ?? []))]
    const { steps } = pathOf(path)
    const rest = around.map(({ raw }) =>
      steps.length === 0 ? besideLists(raw) : without(raw, steps),
    )
    parents.push(seenIn(rest, room))
  }
  const own = items.map(({ value }) => value)
  return { items: seenIn(own, room), parents, isPivoted: levels.at(-1)?.as === 'pivot' }
}

/** What is no column, where a whole message is columns. */
function besideLists(raw: unknown): unknown {
  if (!isObject(raw)) return undefined
  return Object.fromEntries(Object.entries(raw).filter(([, member]) => typeof member !== 'object'))
}

/** A path that begins at an item, or so many levels around it. */
export function pathFrom(up: number, steps: readonly Step[]): string {
  const text = pathText(steps)
  if (up === 0) return text
  const root = Array.from({ length: up }, () => '$parent').join('.')
  if (steps.length === 0) return root
  return text.startsWith('[') ? `${root}${text}` : `${root}.${text}`
}

interface Wanted {
  readonly trees: Trees
  /** The path of the time, which is no field unless it is a member of the reading itself. */
  readonly timePath: string | undefined
  readonly topics: readonly VaryingLevel[]
  readonly notes: Notes
}

/** The fields of readings, by their names. What no type takes, and what has no room, is left out with a note. */
export function inferFields(wanted: Wanted): Record<string, FieldDefinition> {
  const planned = new PlannedFields(wanted.notes)
  const { items, parents, isPivoted } = wanted.trees
  const own = leavesOf(items)
  for (const { steps, why } of own.leftOut) wanted.notes.add(pathFrom(0, steps), `left out: ${why}`)
  const isTime = (path: string) =>
    path === wanted.timePath || (wanted.timePath === undefined && path === 'timestamp')
  const leaves = own.leaves.filter(
    ({ steps }) => isField(steps, isTime(pathFrom(0, steps))) && !isOfSchema(steps, items),
  )
  // Where some senders are, there may be others, of another kind.
  const isOneSender = wanted.topics.length === 0
  const mayRequire = !isPivoted && isOneSender && isRegular(items)
  planned.addOwn(leaves, mayRequire ? items.objects : undefined)
  for (const leaf of leaves) planned.addFrom(leaf, 0)
  noteEntered(leaves, wanted.notes)
  addParents(planned, parents, wanted)
  for (const { index, isSender } of wanted.topics) {
    planned.addTopic(index, wanted.topics.length === 1 || !isSender ? isSender : undefined)
  }
  return planned.fields
}

/** Names the members that fields lead into: a stream keeps nothing else of them. */
function noteEntered(leaves: readonly Leaf[], notes: Notes): void {
  const entered = leaves.flatMap(({ steps: [name, ...deeper] }) =>
    typeof name === 'string' && deeper.length > 0 && !isSecret([name]) ? [name] : [],
  )
  for (const name of new Set(entered)) notes.add(pathText([name]), enteredOnly)
}

const enteredOnly =
  'is stored as far as fields lead into it: what else comes within it later is not'

/** The time is no field of its own unless it stands in the reading under a name that is one. */
function isField(steps: readonly Step[], isTime: boolean): boolean {
  const [name, ...deeper] = steps
  const isOwn = deeper.length === 0 && typeof name === 'string'
  return !isTime || (isOwn && fieldNameProblem(name, new Set()) === undefined)
}

/** Messages of Kafka Connect come with a description of what they hold. */
function isOfSchema([first]: readonly Step[], { members }: Seen): boolean {
  return first === 'schema' && members.size === 2 && members.has('payload')
}

/** Whether all readings had the same members, and none was null: of such devices nothing is expected to be missing. */
function isRegular({ objects, members }: Seen): boolean {
  if (objects < requiredSeenMin) return false
  return [...members.values()].every(({ times, nulls }) => times === objects && nulls === 0)
}

/** What was measured may be missing tomorrow, however many readings have had it: a sensor fails, a device restarts. */
function isIdentifier(name: string, { type }: FieldDefinition): boolean {
  return type === 'string' && identifying.test(folded(name))
}

/** Names of what says whose a reading is. */
const identifying =
  /(id|name|device|serial|serialnumber|mac|sn|eui|eui64|imei|gateway|host|hostname|source|src|site|station|location|lat|latitude|lon|lng|longitude|unit|type|model|sensor|node|publisher|writer|room|zone|channel|tag|asset|machine|line|plant)$/

function addParents(
  planned: PlannedFields,
  parents: readonly Seen[],
  { notes, timePath }: Wanted,
): void {
  for (const [index, tree] of parents.entries()) {
    const up = index + 1
    const { leaves } = leavesOf(tree)
    for (const leaf of leaves) {
      const { steps, seen } = leaf
      const path = pathFrom(up, steps)
      if (path === timePath || isInList(leaf) || seen.scalars.length === 0) continue
      if (steps.length <= 2 && identifying.test(folded(lastName(steps)))) planned.addFrom(leaf, up)
      else notes.add(path, besideReadings)
    }
    const lists = leaves.filter(isInList).map(({ steps }) => pathFrom(up, untilPlace(steps)))
    for (const path of new Set(lists)) notes.add(path, otherList)
  }
}

const besideReadings =
  'left out: it is the same for all readings of a message; a field with this path has it'

const otherList = 'left out: the readings are in another list; what is in this one is not stored'

function isInList({ steps, seen }: Leaf): boolean {
  return seen.arrays > 0 || steps.some((step) => typeof step === 'number')
}

function untilPlace(steps: readonly Step[]): readonly Step[] {
  const place = steps.findIndex((step) => typeof step === 'number')
  return place < 0 ? steps : steps.slice(0, place)
}

class PlannedFields {
  readonly fields: Record<string, FieldDefinition> = {}
  readonly #names = new FieldNames()
  readonly #notes: Notes
  readonly #own = new Set<string>()
  #count = 0
  #pathsLength = 0

  constructor(notes: Notes) {
    this.#notes = notes
  }

  /** Members that are fields by their own names, before any name is made that may be one of theirs. */
  addOwn(leaves: readonly Leaf[], requiredTimes: number | undefined): void {
    for (const { steps, seen } of leaves) {
      const [name, ...deeper] = steps
      if (typeof name !== 'string' || deeper.length > 0 || isSecret(steps)) continue
      const found = this.#typed(seen, steps, pathText(steps))
      if (found === undefined || this.#isFull(pathText(steps))) continue
      if (!this.#names.takeOwn(name)) continue
      this.#own.add(name)
      const isRequired = seen.times === requiredTimes && isIdentifier(name, found)
      this.fields[name] = isRequired ? { ...found, required: true } : found
      this.#count++
    }
  }

  /** What stands anywhere else, under a name that is made of its path. */
  addFrom({ steps, seen }: Leaf, up: number): void {
    const from = pathFrom(up, steps)
    const [name, ...deeper] = steps
    const isOwn = up === 0 && deeper.length === 0
    if (isOwn && typeof name === 'string' && this.#own.has(name)) return
    if (isSecret(steps)) {
      this.#notes.add(from, up === 0 && deeper.length === 0 ? secretKept : secretLeft)
      return
    }
    const path = parsePath(from)
    if ('problem' in path) {
      this.#notes.add(from, `left out: its path ${path.problem}`)
      return
    }
    // What has no type was noted above.
    const found = isOwn ? typedSilently(seen, steps) : this.#typed(seen, steps, from)
    if (found === undefined || this.#isFull(from)) return
    this.#add(this.#names.take(steps), { ...found, from })
  }

  /** @param isSender undefined: there are others */
  addTopic(index: number, isSender: boolean | undefined): void {
    const wanted = isSender === undefined ? [`topic_${index}`] : [isSender ? 'device' : 'kind']
    this.#add(this.#names.take(wanted), { type: 'string', from: `$topic[${index}]` })
  }

  #typed(seen: Seen, steps: readonly Step[], path: string): FieldDefinition | undefined {
    const found = typeOf(seen, lastName(steps))
    if ('problem' in found) {
      this.#notes.add(path, `left out: ${found.problem}`)
      return undefined
    }
    if (found.note !== undefined) this.#notes.add(path, found.note)
    return found.field
  }

  #isFull(path: string): boolean {
    const isTooMany = this.#count >= fieldsMax - topicLevelsMax
    const isTooLong = this.#pathsLength + path.length > pathsLengthMax
    if (isTooMany) this.#notes.add(path, `left out: there are more than ${fieldsMax} fields`)
    else if (isTooLong) this.#notes.add(path, 'left out: the paths are too long together')
    return isTooMany || isTooLong
  }

  #add(name: string, field: FieldDefinition): void {
    this.fields[name] = field
    this.#count++
    this.#pathsLength += typeof field.from === 'string' ? field.from.length : 0
  }
}

const secretLeft = 'left out: by its name it is a secret'

/** A lenient stream keeps members that no field reads. */
const secretKept = `${secretLeft}; it is kept under extra, unless a field has it and a step of transform drops that`

/** Room that is kept for levels of topics. */
const topicLevelsMax = 8

function typedSilently(seen: Seen, steps: readonly Step[]): FieldDefinition | undefined {
  const found = typeOf(seen, lastName(steps))
  return 'problem' in found ? undefined : found.field
}
