import { isRoundedInteger } from '../src/core/json-safety.ts'
import { sourceOf } from '../src/core/number-sources.ts'
import { secondsSumUs } from './times/epochs.ts'

/** Records of SenML (RFC 8428), one by one brought into their resolved form. */

/** What a record says when all that it takes from those before it is added. */
export interface ResolvedRecord {
  readonly baseName: string
  /** The part of the name behind the base name. */
  readonly ownName: string
  /** Microseconds since the epoch, or, from -2^28 s on, before or after the receipt (4.5.3). */
  readonly timeUs: number
  readonly isRelative: boolean
  readonly value: number | string | boolean | undefined
  /** The label that the value stands under. */
  readonly label: ValueLabel | undefined
  readonly sum: number | undefined
}

type ValueLabel = 'v' | 'vs' | 'vb' | 'vd'

/** What is wrong with a pack: with what a record says for all that follow, or with the format of all. */
export class SenmlProblem extends Error {
  override readonly name = 'SenmlProblem'
}

/** What is wrong with a record alone. */
export class SenmlRecordProblem extends Error {
  override readonly name = 'SenmlRecordProblem'
}

/** Whether a record with these labels may say something for those that follow it (RFC 8428, section 4.1 and 4.4). */
export function concernsOthers(labels: readonly unknown[]): boolean {
  return labels.some((label) => {
    return typeof label !== 'string' || Object.hasOwn(baseTypes, label) || label.endsWith('_')
  })
}

/** The version of the format that we know (RFC 8428, section 4.4). */
const versionMax = 10

/** Smaller times count from now (RFC 8428, section 4.5.3). */
const relativeUsMax = 2 ** 28 * 1_000_000

/** Names that a record may have in full (RFC 8428, section 4.5.1). */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9\-:./_]*$/
const nameLengthMax = 1_000

type LabelTypes = Readonly<Record<string, 'string' | 'number' | 'boolean'>>

/** Labels that hold for the records that follow, too. */
const baseTypes: LabelTypes = {
  bn: 'string',
  bt: 'number',
  bu: 'string',
  bv: 'number',
  bs: 'number',
  bver: 'number',
}

const ownTypes: LabelTypes = {
  n: 'string',
  u: 'string',
  v: 'number',
  vs: 'string',
  vb: 'boolean',
  vd: 'string',
  s: 'number',
  t: 'number',
  ut: 'number',
}

const valueLabels = ['v', 'vs', 'vb', 'vd'] as const

/** What holds for the records that follow, under labels as JSON has them. */
export interface BaseValues {
  readonly bn?: string
  readonly bt?: number
  readonly bv?: number
  readonly bs?: number
  readonly bver?: number
}

/** A record whose values have the types of their labels. */
interface CheckedRecord extends BaseValues {
  readonly n?: string
  readonly v?: number
  readonly vs?: string
  readonly vb?: boolean
  readonly vd?: string
  readonly s?: number
  readonly t?: number
}

/** Goes over the records of a pack in their order, and keeps the base values that hold. */
export class SenmlResolver {
  #name = ''
  /** By its digits: a sum of doubles would be beside that of the numbers that were sent. */
  #time = '0'
  #value = 0
  #sum: number | undefined
  #version: number | undefined

  /** What holds now, as a record would say it. */
  get base(): BaseValues {
    return {
      ...(this.#version !== undefined && { bver: this.#version }),
      ...(this.#name !== '' && { bn: this.#name }),
      ...(this.#time !== '0' && { bt: cutSeconds(this.#time) }),
      ...(this.#value !== 0 && { bv: this.#value }),
      ...(this.#sum !== undefined && { bs: this.#sum }),
    }
  }

  /**
   * What a record measures; nothing when it only says what holds for those behind it.
   *
   * @throws SenmlProblem
   * @throws SenmlRecordProblem when what it says for those behind it holds all the same
   */
  resolve(record: unknown): ResolvedRecord | undefined {
    this.#takeBase(record)
    const checked = checkOwn(record)
    const { n = '', t, s } = checked
    const labels = valueLabels.filter((label) => checked[label] !== undefined)
    if (labels.length > 1) throw new SenmlRecordProblem(`a record has both ${labels.join(' and ')}`)
    const [label] = labels
    if (label === undefined && s === undefined) return undefined
    const value = label === 'v' ? added(checked.v ?? 0, this.#value) : label && checked[label]
    const sum = s === undefined ? undefined : added(s, this.#sum ?? 0)
    return {
      ...this.#named(n),
      ...this.#timed(t === undefined ? '0' : digitsOf(checked, 't', t)),
      value,
      label,
      sum,
    }
  }

  /** @throws SenmlProblem */
  #takeBase(record: unknown): void {
    if (!isObject(record)) return
    for (const [label, value] of Object.entries(record)) {
      // Section 4.4: whoever does not know such a label must not use the pack.
      if (label.endsWith('_')) {
        throw new SenmlProblem(`the label '${label.slice(0, 100)}' must be understood, and is not`)
      }
      const problem = problemOf(label, value, baseTypes)
      if (problem !== undefined) throw new SenmlProblem(problem)
    }
    const { bn, bt, bv, bs, bver } = record as BaseValues
    this.#checkVersion(bver)
    this.#name = bn ?? this.#name
    if (bt !== undefined) this.#time = digitsOf(record, 'bt', bt)
    this.#value = bv ?? this.#value
    this.#sum = bs ?? this.#sum
  }

  #checkVersion(version: number | undefined): void {
    if (version === undefined) return
    const isKnown = Number.isInteger(version) && version > 0 && version <= versionMax
    if (!isKnown) throw new SenmlProblem(`version ${version} is not supported`)
    if (this.#version !== undefined && this.#version !== version) {
      throw new SenmlProblem('the records have different versions')
    }
    this.#version = version
  }

  #named(ownName: string) {
    const name = this.#name + ownName
    if (name.length > nameLengthMax || !namePattern.test(name)) {
      throw new SenmlRecordProblem(
        `${JSON.stringify(name.slice(0, 100))} is not a name of a record`,
      )
    }
    return { baseName: this.#name, ownName }
  }

  #timed(seconds: string) {
    const timeUs = secondsSumUs([this.#time, seconds])
    return { timeUs, isRelative: timeUs < relativeUsMax }
  }
}

/** A number that is spelled with the digits of the seconds, cut off behind the microseconds. */
function cutSeconds(seconds: string): number {
  const timeUs = secondsSumUs([seconds])
  return Number.isSafeInteger(timeUs) ? timeUs / 1_000_000 : Number(seconds)
}

function isObject(record: unknown): record is object {
  return typeof record === 'object' && record !== null && !Array.isArray(record)
}

/** @throws SenmlRecordProblem */
function checkOwn(record: unknown): CheckedRecord {
  if (!isObject(record)) throw new SenmlRecordProblem('a record must be an object')
  for (const [label, value] of Object.entries(record)) {
    const problem = problemOf(label, value, ownTypes)
    if (problem !== undefined) throw new SenmlRecordProblem(problem)
  }
  return record
}

/** What is wrong with the value of a label; nothing for one that is none of these. */
function problemOf(label: string, value: unknown, types: LabelTypes): string | undefined {
  const type = Object.hasOwn(types, label) ? types[label] : undefined
  if (type === undefined) return undefined
  const fits = typeof value === type && (type !== 'number' || mayBe(label, value as number))
  return fits ? undefined : `'${label}' must be a ${type}`
}

/** One broken sensor is refused alone, later; a time or a base that is no number breaks the rest. */
function mayBe(label: string, value: number): boolean {
  return Number.isFinite(value) || label === 'v' || label === 's'
}

/**
 * What is beyond 2^53 by itself is a double with everything that doubles do.
 *
 * @throws SenmlRecordProblem for a sum of integers that a double would round
 */
function added(value: number, base: number): number {
  const sum = value + base
  const areIntegers = base !== 0 && isCounted(value) && isCounted(base)
  const exact = areIntegers ? String(BigInt(value) + BigInt(base)) : undefined
  if (exact !== undefined && isRoundedInteger(exact)) {
    throw new SenmlRecordProblem(`the integer ${exact} is beyond 2^53 and would be rounded`)
  }
  return sum
}

function isCounted(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 53
}

function digitsOf(record: CheckedRecord, label: 't' | 'bt', seconds: number): string {
  return sourceOf(record, label) ?? String(seconds)
}
