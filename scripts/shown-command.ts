import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** What a command has printed, and how it ended. */
export interface CommandRun {
  readonly isGood: boolean
  /** Whether it was ended because it took too long, or because we were to end. */
  readonly isCutOff: boolean
  readonly output: string
}

/** How long a command may take to end in order. */
const endsWithinMs = 15_000

/**
 * Runs a command and shows what it prints as it comes. After `msMax` milliseconds it is asked to end, with all that it
 * has started; what does not is killed. Ctrl-C and SIGTERM end it in the same way, and then this process.
 */
export async function runShown(
  [command, ...words]: readonly [string, ...string[]],
  msMax?: number,
): Promise<CommandRun> {
  // A group of its own, because a test has processes that outlive the one that runs it.
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      process.stdout.write(text)
    })
  }
  const ending = new Ending(child.pid, msMax)
  const [code] = await once(child, 'close')
  ending.isOver()
  // Nobody listens to it any more, so it ends this process as it would have without a child.
  if (ending.signal !== undefined) process.kill(process.pid, ending.signal)
  return { isGood: code === 0 && !ending.isBegun, isCutOff: ending.isBegun, output }
}

/** Ends a group of processes, when its time is over or when we are told to end. */
class Ending {
  readonly #pid: number | undefined
  readonly #timers: NodeJS.Timeout[] = []
  isBegun = false
  /** What we were told to end by. */
  signal: NodeJS.Signals | undefined

  constructor(pid: number | undefined, msMax: number | undefined) {
    this.#pid = pid
    if (msMax !== undefined) this.#timers.push(setTimeout(this.#begin, msMax))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, this.#signalled)
  }

  isOver(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#signalled)
  }

  readonly #signalled = (signal: NodeJS.Signals) => {
    this.signal = signal
    this.#begin()
  }

  readonly #begin = () => {
    if (this.isBegun) return
    this.isBegun = true
    this.#signal('SIGTERM')
    this.#timers.push(setTimeout(() => this.#signal('SIGKILL'), endsWithinMs))
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (this.#pid !== undefined) process.kill(-this.#pid, signal)
    } catch (error) {
      // All of them have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
