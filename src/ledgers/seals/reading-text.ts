import { canonicalJson, compareText } from '../../core/canonical-json.ts'
import { formatUs } from '../../core/time.ts'

/** A stored reading: its time, and its values after transform. */
export interface SealedReading {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
  /** Fields that the schema of its version does not declare. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * The canonical text of a stored reading, whose leaf hash a seal covers: `canonicalJson` of its stream, time and
 * values. It is equal in every store, and for a field that was undeclared once and is declared now.
 */
export function readingText(streamId: string, reading: SealedReading): string {
  return new ReadingTexts(streamId).of(reading)
}

const usPerSecond = 1_000_000

/** Texts of many readings of one stream, mostly in the order of time: most have the second of the one before. */
export class ReadingTexts {
  readonly #head: string
  #second = Number.NaN
  /** Everything up to the fraction of a second. */
  #upToSecond = ''

  constructor(streamId: string) {
    this.#head = `{"stream":${JSON.stringify(streamId)},"time":"`
  }

  of({ timestampUs, values, extra }: SealedReading): string {
    const second = Math.floor(timestampUs / usPerSecond)
    if (second !== this.#second) {
      this.#second = second
      this.#upToSecond = this.#head + formatUs(second * usPerSecond).slice(0, -'000000Z'.length)
    }
    const fraction = `${timestampUs - second * usPerSecond}`.padStart(6, '0')
    return `${this.#upToSecond}${fraction}Z","values":${membersText(values, extra)}}`
  }
}

/** `canonicalJson` of all fields. A field is declared or extra, and never both. */
function membersText(
  values: Readonly<Record<string, unknown>>,
  extra: Readonly<Record<string, unknown>> | undefined,
): string {
  if (extra !== undefined) return canonicalJson({ ...extra, ...values })
  const names = Object.keys(values)
  if (!isSorted(names)) names.sort(compareText)
  let text = '{'
  for (const name of names) {
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(values[name])}`
  }
  return `${text}}`
}

/** Stores have the fields of a shape in this order already. */
function isSorted(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at++) {
    if ((names[at - 1] as string) > (names[at] as string)) return false
  }
  return true
}
