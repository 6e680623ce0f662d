/**
 * The example reading whose digits are overwritten in place. Every number keeps its width, so
 * that a pre-encoded packet never changes its length.
 */
export const READING_TEMPLATE =
  '{"timestamp":"2026-11-21T10:00:00.000000Z","temperature":21.53,"humidity":41.2,' +
  '"pressure":1013.25,"status":"ok","sequence":1234567}'

const SECOND_AT = READING_TEMPLATE.indexOf('2026')
const SECOND_LENGTH = '2026-11-21T10:00:00'.length
const MICROS_AT = SECOND_AT + SECOND_LENGTH + 1
const TEMPERATURE_AT = READING_TEMPLATE.indexOf('21.53')
const SEQUENCE_AT = READING_TEMPLATE.indexOf('1234567')
const ZERO = 48

/** Some readings come late: every so many-th, up to so long, spread evenly over that time. */
export interface Lateness {
  readonly every: number
  readonly upToUs: number
}

/**
 * The readings of one connection: unique, rising timestamps. Connections that share a stream each
 * take the microseconds with their own residue, so that no two of them ever meet.
 */
export class ReadingSeries {
  readonly #residue: number
  readonly #sharers: number
  readonly #late: Lateness | undefined
  readonly #secondText = Buffer.alloc(SECOND_LENGTH)
  #second = -1
  #lastUs = 0
  #sequence = 0

  /** `residue` is this connection's number among the `sharers` of its stream, from 0. */
  constructor(residue: number, sharers: number, late?: Lateness) {
    this.#residue = residue
    this.#sharers = sharers
    this.#late = late
  }

  /** Makes the template copied to `at` the next reading; `nowUs` is in microseconds since 1970. */
  write(bytes: Buffer, at: number, nowUs: number): void {
    const micros = this.#nextUs(nowUs) - this.#lateUs()
    const second = Math.floor(micros / 1_000_000)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText.write(new Date(second * 1000).toISOString(), 'latin1')
    }
    const text = this.#secondText
    for (let i = 0; i < SECOND_LENGTH; i++) bytes[at + SECOND_AT + i] = text[i] ?? ZERO
    writeDigits(bytes, at + MICROS_AT, micros - second * 1_000_000, 6)
    // 10.00 to 39.99, scattered by a step that is coprime to 3000.
    const temperature = 1000 + ((this.#sequence * 1237) % 3000)
    writeDigits(bytes, at + TEMPERATURE_AT, Math.floor(temperature / 100), 2)
    writeDigits(bytes, at + TEMPERATURE_AT + 3, temperature % 100, 2)
    // It starts at a million because a JSON number may not begin with a zero.
    writeDigits(bytes, at + SEQUENCE_AT, 1_000_000 + (this.#sequence % 9_000_000), 7)
    this.#sequence += 1
  }

  #lateUs(): number {
    if (!this.#late || this.#sequence % this.#late.every !== 0) return 0
    const turn = this.#sequence / this.#late.every
    // Steps of the golden ratio fill a range evenly, however many there are.
    return Math.floor(((turn * 0.618_033_988_749_894_9) % 1) * this.#late.upToUs)
  }

  #nextUs(nowUs: number): number {
    const earliest = Math.max(Math.floor(nowUs), this.#lastUs + 1)
    const ahead = (this.#residue - (earliest % this.#sharers) + this.#sharers) % this.#sharers
    this.#lastUs = earliest + ahead
    return this.#lastUs
  }
}

/** One series per connection, where connection i writes to stream i % `streamCount`. */
export function seriesFor(
  connections: number,
  streamCount: number,
  late?: Lateness,
): ReadingSeries[] {
  return Array.from({ length: connections }, (_, index) => {
    const sharers = Math.ceil((connections - (index % streamCount)) / streamCount)
    return new ReadingSeries(Math.floor(index / streamCount), sharers, late)
  })
}

function writeDigits(bytes: Buffer, at: number, value: number, width: number): void {
  let rest = value
  for (let i = at + width - 1; i >= at; i--) {
    const tenth = Math.floor(rest / 10)
    bytes[i] = ZERO + rest - tenth * 10
    rest = tenth
  }
}
