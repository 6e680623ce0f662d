import { monotonicMs } from '../core/clock.ts'

/** How far a job is. */
export interface JobProgress {
  readonly state: string
  /** From 0 to 1. */
  readonly progress: number
  readonly rows: number
  readonly bytes: number
}

const barWidth = 30

/** Where no one looks at a bar: how often progress is printed. */
const printEveryMs = 2_000

/** Shows on standard error how far a job is: as a bar on a terminal, else a line now and then. */
export class ProgressBar {
  readonly #isJson: boolean
  #last = ''
  #printedMs = Number.NEGATIVE_INFINITY

  constructor(isJson: boolean) {
    this.#isJson = isJson
  }

  show({ state, progress, rows, bytes }: JobProgress): void {
    const { stderr } = process
    if (this.#isJson) {
      this.#line(JSON.stringify({ state, progress, rows, bytes }))
      return
    }
    const text = `${Math.floor(progress * 100)} %, ${rows.toLocaleString('en')} readings, ${state}`
    if (!stderr.isTTY) {
      if (monotonicMs() - this.#printedMs < printEveryMs) return
      this.#printedMs = monotonicMs()
      this.#line(text)
      return
    }
    const full = Math.round(progress * barWidth)
    stderr.write(`\r\u001B[K[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${text}`)
  }

  /** Leaves the line of the bar. */
  end(): void {
    if (process.stderr.isTTY && !this.#isJson) process.stderr.write('\n')
  }

  #line(text: string): void {
    if (text === this.#last) return
    this.#last = text
    process.stderr.write(`${text}\n`)
  }
}
