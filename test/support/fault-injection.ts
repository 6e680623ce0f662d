import { execFileSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { TemporaryFolder } from './temporary-folder.ts'

/** What may happen to the writes of a file; fault-injection.c says what each means. */
export type Fault = 'eio' | 'enospc' | 'hold' | 'hold-sync'

/** A disk that can be made to fail, or to stand still, under a process that runs on it. */
export class FaultInjection implements Disposable {
  readonly #folder = new TemporaryFolder()

  /** What the process has to be started with. */
  readonly environment: Readonly<Record<string, string>>

  /** Compiles the library that does it; needs a C compiler: `cc`, or what `CC` names. */
  constructor() {
    const source = new URL('fault-injection.c', import.meta.url).pathname
    const library = this.#folder.file('fault-injection.so')
    const compiler = process.env['CC'] ?? 'cc'
    execFileSync(compiler, ['-shared', '-fPIC', '-O1', '-Wall', '-o', library, source, '-ldl'])
    const control = this.#folder.file('control')
    writeFileSync(control, '')
    this.environment = { LD_PRELOAD: library, STREAMVAULT_FAULT_CONTROL: control }
  }

  /**
   * From now on the files whose path contains `pathPart`, and no others, have this fault.
   *
   * @param letThrough so many of the calls that it concerns are as ever before that
   */
  begin(fault: Fault, pathPart: string, letThrough = 0): void {
    rmSync(this.#folder.file('control.met'), { force: true })
    this.#control(`${fault} ${pathPart} ${letThrough}`)
  }

  /** Whether a write or a sync has failed, or has begun to wait, since the fault began. */
  get isMet(): boolean {
    return existsSync(this.#folder.file('control.met'))
  }

  /** All is well again. */
  end(): void {
    this.#control('')
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }

  /** At once: a process never reads half of it. */
  #control(text: string): void {
    const draft = this.#folder.file('control.draft')
    writeFileSync(draft, text)
    renameSync(draft, this.#folder.file('control'))
  }
}
