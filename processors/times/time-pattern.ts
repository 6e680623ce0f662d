import type { TimeProblem } from '../../src/core/time.ts'
import { type Fragment, fragmentOf, type Meaning } from './pattern-letters.ts'
import { offsetOf, type WallTime } from './wall-time.ts'

/** How a time is written, in the letters of Unicode Technical Standard 35 that are known here. */
export interface TimePattern {
  /** What a text says, or why it is no such time. */
  read(text: string): WallTime | TimeProblem
}

/** Characters of a pattern. */
export const patternLengthMax = 100

/** Parts that may be left out: what tries all of them is not to take long. */
const optionalMax = 8

/** Longer texts are no times. */
const textLengthMax = 200

/** Compiles a pattern such as `dd.MM.yyyy HH:mm[:ss]`; a problem where it has no meaning. */
export function parseTimePattern(text: string): TimePattern | TimeProblem {
  if (text.length > patternLengthMax) {
    return { problem: `has more than ${patternLengthMax} characters` }
  }
  const pieces = piecesOf(text)
  if ('problem' in pieces) return pieces
  const problem = problemOf(pieces)
  if (problem !== undefined) return { problem }
  const whole = new RegExp(`^${pieces.map(({ source }) => source).join('')}$`)
  const meanings = pieces.flatMap(({ meaning }) => meaning ?? [])
  return { read: (time) => readBy(whole, meanings, time) }
}

interface Piece extends Partial<Fragment> {
  readonly source: string
  readonly letters?: string
}

function piecesOf(text: string): readonly Piece[] | TimeProblem {
  const pieces: Piece[] = []
  const depths: number[] = []
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at)
    if (char === "'") {
      const literal = quotedAt(text, at)
      if (literal === undefined) return { problem: `has a quote at place ${at} that does not end` }
      pieces.push({ source: escaped(literal.text) })
      at = literal.next
    } else if (char === '[' || char === ']') {
      if (char === ']' && depths.pop() === undefined) return { problem: 'has a ] too many' }
      if (char === '[') depths.push(at)
      pieces.push({ source: char === '[' ? '(?:' : ')?' })
      at++
    } else if (/[A-Za-z]/.test(char)) {
      const letters = /^(.)\1*/.exec(text.slice(at))?.[0] ?? char
      const fragment = fragmentOf(letters)
      if ('problem' in fragment) return fragment
      pieces.push({ ...fragment, letters })
      at += letters.length
    } else if ('{}#'.includes(char)) return { problem: `has a ${char}: it must be in quotes` }
    else {
      pieces.push({ source: escaped(char) })
      at++
    }
  }
  return depths.length > 0 ? { problem: 'has a ] too few' } : pieces
}

/** A text in quotes; two of them are a quote. */
function quotedAt(text: string, start: number): { text: string; next: number } | undefined {
  if (text[start + 1] === "'") return { text: "'", next: start + 2 }
  let found = ''
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== "'") found += text[at]
    else if (text[at + 1] === "'") found += text[at++]
    else return { text: found, next: at + 1 }
  }
  return undefined
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}

/** What each part of a time needs besides it. */
const needs: readonly (readonly [Meaning, Meaning, string])[] = [
  ['minute', 'hour', 'has minutes (m) and no hours (H, or h and a)'],
  ['second', 'minute', 'has seconds (s) and no minutes (m)'],
  ['fraction', 'second', 'has decimals (S) and no seconds (s)'],
  ['halfHour', 'half', 'has hours from 1 to 12 (h) without a, which is AM or PM'],
  ['half', 'halfHour', 'has AM or PM (a) without hours from 1 to 12 (h)'],
]

const always: readonly (readonly [Meaning, string])[] = [
  ['year', 'has no year (yyyy)'],
  ['month', 'has no month (MM)'],
  ['day', 'has no day of the month (dd)'],
]

function problemOf(pieces: readonly Piece[]): string | undefined {
  const meanings = new Set(pieces.map(({ meaning }) => meaning))
  const missing = always.find(([meaning]) => !meanings.has(meaning))
  if (missing !== undefined) return missing[1]
  const hasHour = meanings.has('hour') || meanings.has('halfHour')
  const lacks = (meaning: Meaning) => (meaning === 'hour' ? !hasHour : !meanings.has(meaning))
  const alone = needs.find(([meaning, other]) => meanings.has(meaning) && lacks(other))
  if (alone !== undefined) return alone[2]
  if (pieces.filter(({ source }) => source === ')?').length > optionalMax) {
    return `has more than ${optionalMax} parts that may be left out`
  }
  return adjacencyProblem(pieces)
}

/** Where digits follow on digits, only their number tells where one ends. */
function adjacencyProblem(pieces: readonly Piece[]): string | undefined {
  let before: Piece | undefined
  for (const piece of pieces) {
    if (piece.source === '(?:' || piece.source === ')?') continue
    if (before?.digits === 'some' && piece.digits !== undefined) {
      const { letters = '' } = before
      return `must have ${letters}${letters} for ${letters}: digits follow right behind`
    }
    before = piece
  }
  return undefined
}

function readBy(whole: RegExp, meanings: readonly Meaning[], text: string): WallTime | TimeProblem {
  const found = text.length > textLengthMax ? null : whole.exec(text)
  if (found === null) return { problem: 'is not written as the timestampFormat says' }
  const parts: Partial<Record<Meaning, string>> = {}
  for (const [index, meaning] of meanings.entries()) {
    const part = found[index + 1]
    if (part === undefined) continue
    const other = parts[meaning]
    if (other !== undefined && other !== part) return { problem: `says twice which ${meaning}` }
    parts[meaning] = part
  }
  return wallTime(parts)
}

function wallTime(parts: Readonly<Partial<Record<Meaning, string>>>): WallTime | TimeProblem {
  const { year, month, day, halfHour, weekday, fraction = '', offset: zone } = parts
  if (year === undefined || month === undefined || day === undefined) {
    return { problem: 'has no year, month and day' }
  }
  if (halfHour !== undefined && (Number(halfHour) < 1 || Number(halfHour) > 12)) {
    return { problem: `must have an hour from 1 to 12 before or after noon, not ${halfHour}` }
  }
  const offset = zone === undefined ? undefined : offsetOf(zone)
  if (typeof offset === 'object') return offset
  const wall = {
    year: year.length === 2 ? 2_000 + Number(year) : Number(year),
    month: /\d/.test(month) ? Number(month) : placeOf(monthNames, month),
    day: Number(day),
    hour: hourOf(parts),
    minute: Number(parts.minute ?? 0),
    second: Number(parts.second ?? 0),
    fraction,
    offset,
  }
  return weekday === undefined ? wall : ofWeekday(wall, weekday)
}

function hourOf({ hour = '0', halfHour, half = 'am' }: Partial<Record<Meaning, string>>): number {
  if (halfHour === undefined) return Number(hour)
  return (Number(halfHour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'
const dayNames = 'sun mon tue wed thu fri sat'

/** The place of a name among others, of which three letters tell them apart: from 1 on. */
function placeOf(names: string, name: string): number {
  return names.indexOf(name.slice(0, 3).toLowerCase()) / 4 + 1
}

function ofWeekday(wall: WallTime, name: string): WallTime | TimeProblem {
  const date = new Date(0)
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day)
  if (date.getUTCDay() + 1 === placeOf(dayNames, name)) return wall
  return { problem: `is no ${name}` }
}
