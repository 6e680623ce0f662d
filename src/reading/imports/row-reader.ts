import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DomainError } from '../../core/errors.ts'
import type { FileToRead, Portion } from './reading-process.ts'
import type { Row } from './row.ts'

/** Time for one portion of rows: a file that takes longer was made to. */
const portionTimeoutMs = 120_000

const memoryMegabytes = 192

/** Reads the rows of a file through a process that lives as long as it is read. */
export class RowReader {
  readonly #process: ChildProcess
  readonly #signal: AbortSignal
  #next: Promise<Portion>

  /** @param signal ends whatever is waited for */
  constructor(file: FileToRead, signal: AbortSignal) {
    this.#signal = signal
    const module = `./reading-process${extname(new URL(import.meta.url).pathname)}`
    this.#process = fork(fileURLToPath(new URL(module, import.meta.url)), [], {
      execArgv: [`--max-old-space-size=${memoryMegabytes}`],
      // Nothing of ours is there for whoever takes it over: no settings, no secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // What has become of it is found when it is asked.
    this.#process.on('error', () => undefined)
    this.#process.send(file)
    this.#next = this.#ask()
  }

  /**
   * The next rows; the last ones are told to be that, and so is nothing once it is told to end.
   *
   * @throws DomainError `malformed_body` for what is no such file
   */
  async next(): Promise<{ readonly rows: readonly Row[]; readonly isLast: boolean }> {
    const portion = await this.#next
    if ('problem' in portion) {
      if (portion.isFault) throw new Error(`a file could not be read: ${portion.problem}`)
      throw new DomainError('malformed_body', portion.problem)
    }
    // It reads on while these rows are judged.
    if (!portion.isLast) this.#next = this.#ask()
    return portion
  }

  async close(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
  }

  #ask(): Promise<Portion> {
    const { promise, resolve } = Promise.withResolvers<Portion>()
    const process = this.#process
    const finish = (portion: Portion) => {
      clearTimeout(timer)
      this.#signal.removeEventListener('abort', onAbort)
      process.off('message', finish as never)
      process.off('exit', onExit)
      resolve(portion)
    }
    const onAbort = () => finish({ rows: [], isLast: true })
    const onExit = () => finish({ problem: 'the file cannot be read', isFault: false })
    const timer = setTimeout(() => {
      finish({ problem: 'the file takes too long to read', isFault: false })
    }, portionTimeoutMs)
    process.once('message', finish as never)
    process.once('exit', onExit)
    this.#signal.addEventListener('abort', onAbort)
    if (this.#signal.aborted) onAbort()
    else if (process.connected) process.send('next')
    else onExit()
    return promise
  }
}
