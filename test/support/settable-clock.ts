import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { TemporaryFolder } from './temporary-folder.ts'

/** How often a thread looks how the clock is set. */
const lookMs = 20

/** Is loaded before everything else, in each thread: the wall clock is as far off as a file says. */
function preloadOf(offsetFile: string): string {
  return `import { readFileSync } from 'node:fs'
const RealDate = Date
let [offsetMs, lookedMs] = [0, -Infinity]
function now() {
  const atMs = performance.now()
  if (atMs - lookedMs > ${lookMs}) {
    lookedMs = atMs
    offsetMs = Number(readFileSync(${JSON.stringify(offsetFile)}, 'utf8'))
  }
  return RealDate.now() + offsetMs
}
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given) => given.length === 0 ? new target(now()) : new target(...given),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => name === 'now' ? now : target[name],
})
`
}

/** The wall clock of processes that are started with `environment`; time passes for them as ever. */
export class SettableClock implements Disposable {
  readonly #folder = new TemporaryFolder()
  #offsetMs = 0

  constructor() {
    this.#write()
    writeFileSync(this.#folder.file('clock.mjs'), preloadOf(this.#offsetFile))
  }

  get environment(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import ${pathToFileURL(this.#folder.file('clock.mjs')).href}` }
  }

  /** What it shows. */
  nowMs(): number {
    return Date.now() + this.#offsetMs
  }

  /** Sets it forward, or back. */
  step(ms: number): void {
    this.#offsetMs += ms
    this.#write()
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }

  get #offsetFile(): string {
    return this.#folder.file('offset')
  }

  #write(): void {
    writeFileSync(this.#offsetFile, String(this.#offsetMs))
  }
}
