import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Step } from '../../contracts/path.ts'
import { DomainError } from '../../core/errors.ts'

/** Places of fields in all samples, which are kept while these are looked at. */
const placesMax = 10_000

/** Lists that are always so short may have another meaning at each place; of longer ones the first is looked at. */
const placesOfLists = 4

export type Scalar = string | number | boolean

type ElementKind = 'number' | 'string' | 'boolean' | 'null' | 'object' | 'array'

/** Places that may still be kept. */
export interface Room {
  places: number
}

export function newRoom(): Room {
  return { places: placesMax }
}

/** All that was seen at one place of the samples. */
export class Seen {
  readonly #room: Room
  times = 0
  nulls = 0
  objects = 0
  arrays = 0
  readonly scalars: Scalar[] = []
  readonly members = new Map<string, Seen>()
  /** What stood at the first places of lists, where that were objects. */
  readonly elements: Seen[] = []
  readonly elementKinds = new Set<ElementKind>()
  shortest = Number.POSITIVE_INFINITY
  longest = 0

  /** @throws DomainError `invalid_request` when there are more places than are looked at */
  constructor(room: Room) {
    this.#room = room
    if (--room.places >= 0) return
    const message = `the samples have more than ${placesMax.toLocaleString('en')} different fields`
    throw new DomainError('invalid_request', message)
  }

  add(value: unknown): void {
    this.times++
    if (value === null || value === undefined) this.nulls++
    else if (Array.isArray(value)) this.#addArray(value)
    else if (isObject(value)) this.#addObject(value)
    else this.scalars.push(value as Scalar)
  }

  #addArray(list: readonly unknown[]): void {
    this.arrays++
    this.shortest = Math.min(this.shortest, list.length)
    this.longest = Math.max(this.longest, list.length)
    for (const [place, element] of list.entries()) {
      this.elementKinds.add(kindOf(element))
      if (place >= placesOfLists || !isObject(element)) continue
      // A place before it may have had something else each time.
      for (let at = this.elements.length; at <= place; at++) this.elements.push(this.#place())
      this.elements[place]?.add(element)
    }
  }

  #addObject(value: Readonly<Record<string, unknown>>): void {
    this.objects++
    for (const [name, member] of Object.entries(value)) {
      let seen = this.members.get(name)
      if (!seen) {
        seen = this.#place()
        this.members.set(name, seen)
      }
      seen.add(member)
    }
  }

  #place(): Seen {
    return new Seen(this.#room)
  }
}

function kindOf(value: unknown): ElementKind {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number' || typeof value === 'boolean') {
    return typeof value as 'number' | 'boolean'
  }
  return typeof value === 'string' ? 'string' : 'object'
}

/** All values in one tree. */
export function seenIn(values: Iterable<unknown>, room: Room = newRoom()): Seen {
  const all = new Seen(room)
  for (const value of values) all.add(value)
  return all
}

/** A place that holds values, and the way to it. */
export interface Leaf {
  readonly steps: readonly Step[]
  readonly seen: Seen
}

/** Levels of a message that are looked at. */
const depthMax = 8

/** A place that is left out, and why. */
export interface LeftOut {
  readonly steps: readonly Step[]
  readonly why: string
}

/** The places of a tree that hold values, in the order of the samples; those of lists of objects by their indexes. */
export function leavesOf(root: Seen): { leaves: readonly Leaf[]; leftOut: readonly LeftOut[] } {
  const leaves: Leaf[] = []
  const leftOut: LeftOut[] = []
  const visit = (seen: Seen, steps: readonly Step[]): void => {
    if (seen.objects > 0 && (seen.scalars.length > 0 || seen.arrays > 0)) {
      leftOut.push({ steps, why: 'it is an object and something else in turn' })
    } else if (seen.objects > 0) visitMembers(seen, steps)
    else if (isListOfObjects(seen)) {
      for (const [index, element] of placesLookedAt(seen)) visit(element, [...steps, index])
    } else leaves.push({ steps, seen })
  }
  const visitMembers = (seen: Seen, steps: readonly Step[]): void => {
    for (const [name, member] of seen.members) {
      const inner = [...steps, name]
      if (inner.length <= depthMax) visit(member, inner)
      else leftOut.push({ steps: inner, why: `it is nested deeper than ${depthMax} levels` })
    }
  }
  visitMembers(root, [])
  return { leaves, leftOut }
}

function isListOfObjects({ arrays, scalars, elementKinds }: Seen): boolean {
  return arrays > 0 && scalars.length === 0 && elementKinds.size === 1 && elementKinds.has('object')
}

function placesLookedAt({
  shortest,
  longest,
  elements,
}: Seen): readonly (readonly [number, Seen])[] {
  const isFixed = shortest === longest && longest <= placesOfLists
  return [...elements.entries()].slice(0, isFixed ? longest : 1)
}

/** An object without what stands at a path. */
export function without(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (!isObject(value) || typeof step !== 'string') return value
  const { [step]: inner, ...others } = value
  return rest.length === 0 ? others : { ...others, [step]: without(inner, rest) }
}
