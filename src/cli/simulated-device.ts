/** What a simulated device does wrong with a reading. */
type Fault = 'none' | 'wrong_type' | 'late' | 'clock_ahead' | 'twice'

const faults: readonly Fault[] = ['wrong_type', 'late', 'clock_ahead', 'twice']

const dayMs = 86_400_000

/** How late a late reading is, and how far ahead a wrong clock: the service takes 5 minutes. */
const skewMs: Readonly<Partial<Record<Fault, number>>> = {
  late: -60 * 60_000,
  clock_ahead: 30 * 60_000,
}

/** Fields that every simulated device measures. */
export const deviceSchema = {
  temperature: { type: 'number', unit: 'C', range: [-40, 125] },
  humidity: { type: 'number', unit: '%', range: [0, 100] },
  power: { type: 'number', unit: 'W', min: 0 },
  state: { type: 'string', enum: ['idle', 'running'] },
} as const

/** One device with a day curve, noise and a state of its own. */
export class SimulatedDevice {
  readonly #random: () => number
  readonly #phaseMs: number
  #isRunning = false

  constructor(random: () => number) {
    this.#random = random
    // Not all rooms are warmest at the same time.
    this.#phaseMs = random() * dayMs * 0.1
  }

  /** What it sends at a moment: one payload, or the same one twice. */
  payloads(nowMs: number, faultRate: number): readonly string[] {
    const fault = this.#random() < faultRate ? this.#pick(faults) : 'none'
    const reading = this.#measure(nowMs)
    const timeMs = nowMs + (skewMs[fault] ?? 0)
    const payload = JSON.stringify({
      timestamp: new Date(timeMs).toISOString(),
      ...reading,
      ...(fault === 'wrong_type' && { temperature: 'n/a' }),
    })
    return fault === 'twice' ? [payload, payload] : [payload]
  }

  #measure(nowMs: number) {
    const day = Math.sin(((nowMs + this.#phaseMs) / dayMs) * 2 * Math.PI - Math.PI / 2)
    if (this.#random() < 0.02) this.#isRunning = !this.#isRunning
    const temperature = 20 + 5 * day + (this.#isRunning ? 4 : 0) + this.#noise(0.3)
    return {
      temperature: round(temperature),
      humidity: round(Math.min(100, Math.max(0, 60 - 12 * day + this.#noise(1)))),
      power: round(Math.max(0, (this.#isRunning ? 850 : 12) + this.#noise(6))),
      state: this.#isRunning ? 'running' : 'idle',
    }
  }

  /** About normal, by the sum of uniform numbers (Irwin-Hall). */
  #noise(deviation: number): number {
    let sum = -6
    for (let count = 0; count < 12; count++) sum += this.#random()
    return sum * deviation
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
