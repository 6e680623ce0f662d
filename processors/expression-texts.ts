import type { CelFunc, CelList } from '@bufbuild/cel'
import { charactersPerStep, type Meter } from './expression-meter.ts'

type Cel = typeof import('@bufbuild/cel')

/** Characters that a search compares in one step, where most of them are alike. */
const comparisonsPerStep = 400

const ofOneText: Readonly<Record<string, (text: string) => string>> = {
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  lowerAscii: (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  upperAscii: (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  trim: withoutBlanks,
}

/** Functions of texts, each of which is called on one (`join` on a list of some). */
export const textNames: readonly string[] = [
  ...Object.keys(ofOneText),
  'split',
  'replace',
  'substring',
  'charAt',
  'indexOf',
  'lastIndexOf',
  'join',
]

/**
 * What the strings extension of the language has for texts (cel-go, ext/strings), without its formats. That of the library
 * counts in UTF-16, which cuts characters in two, takes the square of a text for `replace`, and measures nothing.
 */
export function texts(cel: Cel, meter: Meter): CelFunc[] {
  const { celMethod, celList, listType } = cel
  const { DYN, INT, STRING } = cel.CelScalar
  const list = listType(DYN)
  const search = searching(meter)
  return [
    ...Object.entries(ofOneText).map(([name, apply]) =>
      celMethod(name, STRING, [], STRING, function () {
        return apply(this)
      }),
    ),
    celMethod('split', STRING, [STRING], list, function (separator) {
      return celList(split(this, separator, { search, meter }))
    }),
    celMethod('split', STRING, [STRING, INT], list, function (separator, most) {
      return celList(split(this, separator, { search, meter, most: countOf(most) }))
    }),
    celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
      return replaced(this, [from, to], { search, meter })
    }),
    celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (from, to, most) {
      return replaced(this, [from, to], { search, meter, most: countOf(most) })
    }),
    celMethod('substring', STRING, [INT], STRING, function (start) {
      return part(this, start, undefined)
    }),
    celMethod('substring', STRING, [INT, INT], STRING, function (start, end) {
      return part(this, start, end)
    }),
    celMethod('charAt', STRING, [INT], STRING, function (index) {
      const points = pointsOf(this)
      return points[placeIn(points, index, 'charAt')] ?? ''
    }),
    celMethod('indexOf', STRING, [STRING], INT, function (wanted) {
      return placeOf(this, search(this, wanted, 0))
    }),
    celMethod('lastIndexOf', STRING, [STRING], INT, function (wanted) {
      meter.take((this.length * wanted.length) / comparisonsPerStep)
      return placeOf(this, this.lastIndexOf(wanted))
    }),
    celMethod('join', list, [], STRING, function () {
      return joined(this, '', meter)
    }),
    celMethod('join', list, [STRING], STRING, function (separator) {
      return joined(this, separator, meter)
    }),
  ]
}

/** White space of Unicode, as the extension has it: U+FEFF is none. */
function withoutBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d)
  return code === 0x85 || (code !== 0xfeff && code >= 0xa0 && /\s/.test(String.fromCharCode(code)))
}

type Search = (text: string, wanted: string, from: number) => number

/** Where a text stands in another one. The engine may compare every character of it at every place. */
function searching(meter: Meter): Search {
  return (text, wanted, from) => {
    const found = text.indexOf(wanted, from)
    const seen = (found < 0 ? text.length : found) - from
    meter.take(1 + (seen * wanted.length) / comparisonsPerStep)
    return found
  }
}

interface Work {
  readonly search: Search
  readonly meter: Meter
  /** Parts of a list, or places that are replaced. */
  readonly most?: number
}

/** A negative count is none. */
function countOf(most: bigint): number {
  return most < 0n ? Number.POSITIVE_INFINITY : Number(most)
}

function split(
  text: string,
  separator: string,
  { search, meter, most = Number.POSITIVE_INFINITY }: Work,
): readonly string[] {
  if (most === 0) return []
  if (separator === '') return characters(text, most, meter)
  const parts: string[] = []
  let from = 0
  while (parts.length < most - 1) {
    const found = search(text, separator, from)
    if (found < 0) break
    parts.push(text.slice(from, found))
    from = found + separator.length
  }
  return [...parts, text.slice(from)]
}

function characters(text: string, most: number, meter: Meter): readonly string[] {
  meter.take(text.length)
  const all = Array.from(text)
  return all.length <= most ? all : [...all.slice(0, most - 1), all.slice(most - 1).join('')]
}

function replaced(
  text: string,
  [from, to]: readonly [string, string],
  { search, meter, most = Number.POSITIVE_INFINITY }: Work,
): string {
  if (from === '') throw new Error('replace: the text to look for is empty')
  const parts: string[] = []
  let start = 0
  while (parts.length < most) {
    const found = search(text, from, start)
    if (found < 0) break
    parts.push(text.slice(start, found))
    meter.take(to.length / charactersPerStep)
    start = found + from.length
  }
  return [...parts, text.slice(start)].join(to)
}

/** A text by its characters: by itself where each of them is one unit of UTF-16. */
function pointsOf(text: string): string | readonly string[] {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text
}

function placeIn(points: string | readonly string[], index: bigint, name: string): number {
  if (index >= 0n && index <= BigInt(points.length)) return Number(index)
  throw new Error(`${name}: there is no character ${index}, the text has ${points.length}`)
}

function part(text: string, start: bigint, end: bigint | undefined): string {
  const points = pointsOf(text)
  const first = placeIn(points, start, 'substring')
  const last = end === undefined ? points.length : placeIn(points, end, 'substring')
  if (first > last) throw new Error(`substring: it begins at ${start}, behind its end at ${end}`)
  const found = points.slice(first, last)
  return typeof found === 'string' ? found : found.join('')
}

/** How many characters stand before a place in UTF-16. */
function placeOf(text: string, unit: number): bigint {
  return BigInt(unit < 0 ? unit : pointsOf(text.slice(0, unit)).length)
}

function joined(list: CelList, separator: string, meter: Meter): string {
  const parts: string[] = []
  for (const one of list) {
    if (typeof one !== 'string') throw new Error('join: the list has something that is not a text')
    meter.take((one.length + separator.length) / charactersPerStep)
    parts.push(one)
  }
  return parts.join(separator)
}
