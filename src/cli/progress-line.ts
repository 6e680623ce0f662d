import { monotonicMs } from '../core/clock.ts'

/** Shortest time between two states of a line that people watch. */
const intervalMs = 200

/** A line on standard error that says how far something has come; nothing where no one watches. */
export class ProgressLine {
  readonly #isShown: boolean
  #shownMs = 0
  #width = 0

  constructor(isJson: boolean) {
    this.#isShown = process.stderr.isTTY && !isJson
  }

  show(what: string, done: number, total: number): void {
    const nowMs = monotonicMs()
    if (!this.#isShown || nowMs - this.#shownMs < intervalMs) return
    this.#shownMs = nowMs
    const share = total === 0 ? '' : ` ${Math.floor((100 * done) / total)} %`
    const text = `${what}:${share} ${formatBytes(done)} of ${formatBytes(total)}`
    process.stderr.write(`\r${text.padEnd(this.#width)}`)
    this.#width = text.length
  }

  /** Takes the line away. */
  end(): void {
    if (this.#width > 0) process.stderr.write(`\r${' '.repeat(this.#width)}\r`)
  }
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value >= 1_024 && unit < units.length - 1; unit++) value /= 1_024
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
