import { compareText } from '../src/core/canonical-json.ts'
import type { Member } from './plain-values.ts'

/** Names that are remembered of the lines of a schema: when there are more, all are forgotten and learned again. */
const namesMax = 1_000

/** Longer names, and lines of more of them, are for the parser. */
const nameLengthMax = 200
const depthMax = 500

/** One name of lines that have begun in the same way: a device sends the same names again and again. */
export interface Step {
  /** The name as it stands in a line, with the character behind it. */
  readonly key: string
  /** The member that it is. */
  readonly name: string
  readonly before: Step | undefined
  readonly depth: number
  readonly member: Member | undefined
  /** Whether its value is a part of the reading. */
  readonly isKept: boolean
  readonly tags: Steps
  readonly fields: Steps
  /** How a reading is written that has come to its end here; undefined: it lacks a field. */
  layout: Layout | 'unknown' | undefined
}

/** What has followed on some beginning, and which of it was the last. */
export interface Steps {
  last: Step | undefined
  byKey: Map<string, Step> | undefined
}

/** Texts, and behind each the depth of the step whose value stands there. */
export interface Layout {
  readonly values: readonly Part[]
  readonly extra: readonly Part[]
  readonly all: readonly Part[]
}

export interface Part {
  readonly text: string
  readonly depth: number
}

export interface LineNamesNeeds {
  /** By the names that they have in a line, in the order of their fields in the canonical text. */
  readonly members: ReadonlyMap<string, Member>
  readonly timeMember: string
  /** What becomes of members that no field reads; `unknown`: that is not for a scan to say. */
  readonly others: 'kept' | 'dropped' | 'unknown'
}

/** The names that lines have had so far, one after the other. No name stands twice on the way to a step. */
export class LineNames {
  readonly #needs: LineNamesNeeds
  readonly #required: readonly string[]
  #known = 0
  measurements = newSteps()

  constructor(needs: LineNamesNeeds) {
    this.#needs = needs
    const required = [...needs.members].filter(([, { isRequired }]) => isRequired)
    this.#required = required.map(([name]) => name)
  }

  /**
   * The step that a name leads to; undefined where it may not stand, or is not to be remembered.
   *
   * @param steps those behind the step before, or the measurements
   */
  following(steps: Steps, key: string, before: Step | undefined): Step | undefined {
    let step = steps.byKey?.get(key)
    if (step === undefined) {
      step = this.#learned(key, before)
      if (step === undefined) return undefined
      steps.byKey ??= new Map()
      steps.byKey.set(key, step)
    }
    steps.last = step
    return step
  }

  /** How readings are written whose lines end with a step; undefined where they lack a field. */
  layoutOf(last: Step): Layout | undefined {
    if (last.layout === 'unknown') last.layout = this.#newLayout(last)
    return last.layout
  }

  #learned(key: string, before: Step | undefined): Step | undefined {
    const { members, timeMember, others } = this.#needs
    const name = before === undefined ? 'measurement' : key.slice(0, -1)
    const depth = before === undefined ? 0 : before.depth + 1
    if (key.length > nameLengthMax || depth === depthMax) return undefined
    if (name === timeMember || name === '__proto__') return undefined
    for (let one = before; one !== undefined; one = one.before) {
      if (one.name === name) return undefined
    }
    const member = members.get(name)
    if (member === undefined && others === 'unknown') return undefined
    if (this.#known === namesMax) {
      this.#known = 0
      this.measurements = newSteps()
      return undefined
    }
    this.#known++
    const isKept = member !== undefined || others === 'kept'
    const next = { tags: newSteps(), fields: newSteps(), layout: 'unknown' as const }
    return { key, name, before, depth, member, isKept, ...next }
  }

  #newLayout(last: Step): Layout | undefined {
    const steps: Step[] = []
    for (let step: Step | undefined = last; step !== undefined; step = step.before) {
      if (step.isKept) steps.push(step)
    }
    const names = new Set(steps.map(({ name }) => name))
    if (!this.#required.every((name) => names.has(name))) return undefined
    const known = steps.filter(({ member }) => member !== undefined)
    const others = steps.filter(({ member }) => member === undefined)
    return { values: partsOf(known), extra: partsOf(others), all: partsOf(steps) }
  }
}

function newSteps(): Steps {
  return { last: undefined, byKey: undefined }
}

/** Members in the order of canonical JSON. */
function partsOf(steps: readonly Step[]): readonly Part[] {
  return steps
    .map(({ member, name, depth }) => ({
      key: member?.key ?? `${JSON.stringify(name)}:`,
      name: member?.name ?? name,
      depth,
    }))
    .toSorted((left, right) => compareText(left.name, right.name))
    .map(({ key, depth }, index) => ({ text: `${index === 0 ? '{' : ','}${key}`, depth }))
}
