import { cutText } from '../src/core/cut-text.ts'
import { endOfString } from '../src/core/json-safety.ts'
import { isWritableInstant } from '../src/core/time.ts'
import { labelMembers, labelsMax, nameLabel, tooManyLabels } from './prometheus-labels.ts'
import type { SampleRecord } from './records.ts'
import { decimalUs, isNumberText } from './times/epochs.ts'

/** A line of the text format: `name{label="value"} 21.5 1769853598000`. */

/** What is wrong with a line. */
export class LineProblem extends Error {
  override readonly name = 'LineProblem'
}

const metricPattern = /[a-zA-Z_:][a-zA-Z0-9_:]*/y
const labelPattern = /[a-zA-Z_][a-zA-Z0-9_]*/y
const wordPattern = /[^ \t]+/y

const numberPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const infinityPattern = /^[+-]?inf(?:inity)?$/i
const wholePattern = /^-?\d+$/

const space = 32
const tab = 9

/**
 * The sample of a line.
 *
 * @param isOpen by OpenMetrics 1.0: times are seconds, and an exemplar may follow, which is passed over. By the format
 *   0.0.4 times are milliseconds
 * @throws LineProblem
 */
export function sampleOf(text: string, isOpen: boolean): SampleRecord {
  return new SampleLine(text, isOpen).sample()
}

class SampleLine {
  readonly #text: string
  readonly #isOpen: boolean
  readonly #labels: string[] = []
  #at = 0

  constructor(text: string, isOpen: boolean) {
    this.#text = text
    this.#isOpen = isOpen
  }

  sample(): SampleRecord {
    this.#skipBlanks()
    const metric = this.#isAt('{') ? undefined : this.#name(metricPattern, 'the metric has no name')
    this.#skipBlanks()
    if (this.#isAt('{')) this.#readLabels()
    const found = labelMembers(metric, this.#labels)
    if (typeof found === 'string') throw new LineProblem(found)
    const value = this.#value()
    const timeUs = this.#time()
    this.#refuseRest()
    return { members: { ...found, value }, timeUs }
  }

  #readLabels(): void {
    this.#at++
    for (;;) {
      this.#skipBlanks()
      if (this.#takes('}')) return
      this.#readLabel()
      this.#skipBlanks()
      if (this.#takes('}')) return
      if (!this.#takes(',')) throw new LineProblem('a label is not followed by , or }')
    }
  }

  /** A label, or the name of the metric in quotes: Prometheus 3 has names with any characters. */
  #readLabel(): void {
    const isQuoted = this.#isAt('"')
    const name = isQuoted ? this.#quoted() : this.#name(labelPattern, 'a label has no name')
    this.#skipBlanks()
    if (this.#labels.length >= labelsMax * 2) throw new LineProblem(tooManyLabels)
    if (!this.#takes('=')) {
      if (!isQuoted) throw new LineProblem(`the label ${cutText(name, 100)} is not followed by =`)
      this.#labels.push(nameLabel, name)
      return
    }
    if (name === nameLabel) throw new LineProblem('the metric has its name as a label')
    this.#skipBlanks()
    if (!this.#isAt('"')) {
      throw new LineProblem(`the value of the label ${cutText(name, 100)} has no quotes around it`)
    }
    this.#labels.push(name, this.#quoted())
  }

  #value(): number {
    const word = this.#word()
    if (word === undefined) throw new LineProblem('there is no value')
    const value = numberOf(word)
    if (value === undefined)
      throw new LineProblem(`the value ${cutText(word, 100)} is not a number`)
    return value
  }

  /** Microseconds since the epoch. */
  #time(): number | undefined {
    const word = this.#word()
    if (word === undefined) return undefined
    const isTime = this.#isOpen ? isNumberText(word) : wholePattern.test(word) && isNumberText(word)
    if (!isTime) {
      const unit = this.#isOpen ? 'seconds' : 'milliseconds, without decimals'
      throw new LineProblem(`the time ${cutText(word, 100)} is not a number of ${unit}`)
    }
    const timeUs = decimalUs(word, this.#isOpen ? 0 : 3)
    if (!isWritableInstant(timeUs)) {
      throw new LineProblem('the time is not in the years 0001 to 9999')
    }
    return Number(timeUs)
  }

  /** The next word before an exemplar or the end of the line. */
  #word(): string | undefined {
    this.#skipBlanks()
    if (this.#isAt('#')) return undefined
    wordPattern.lastIndex = this.#at
    const [word] = wordPattern.exec(this.#text) ?? []
    this.#at += word?.length ?? 0
    return word
  }

  #refuseRest(): void {
    this.#skipBlanks()
    if (this.#at === this.#text.length || (this.#isOpen && this.#isAt('#'))) return
    throw new LineProblem('something follows the value and the time')
  }

  #name(pattern: RegExp, problem: string): string {
    pattern.lastIndex = this.#at
    const [name] = pattern.exec(this.#text) ?? []
    if (name === undefined) throw new LineProblem(problem)
    this.#at += name.length
    return name
  }

  #quoted(): string {
    const end = endOfString(this.#text, this.#at)
    if (end < 0) throw new LineProblem('a quote is not closed')
    const content = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    return content.includes('\\') ? unescaped(content) : content
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== space && code !== tab) return
      this.#at++
    }
  }

  #isAt(character: string): boolean {
    return this.#text[this.#at] === character
  }

  #takes(character: string): boolean {
    if (!this.#isAt(character)) return false
    this.#at++
    return true
  }
}

/** By the rules of Go, whose parser Prometheus uses: in any case, and with a sign. */
function numberOf(word: string): number | undefined {
  if (numberPattern.test(word)) return Number(word)
  if (infinityPattern.test(word)) return word.startsWith('-') ? -Infinity : Infinity
  return word.toLowerCase() === 'nan' ? Number.NaN : undefined
}

const escapes: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' }

function unescaped(content: string): string {
  return content.replaceAll(/\\./gs, (escape) => {
    const character = escapes[escape]
    if (character === undefined)
      throw new LineProblem(`${escape} is not an escape: they are \\\\, \\" and \\n`)
    return character
  })
}
