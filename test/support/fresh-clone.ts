import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { anyPorts, type Check } from './examination.ts'
import { TemporaryFolder } from './temporary-folder.ts'

export interface CommandEnd {
  readonly code: number | null
  readonly output: string
}

/** Where programs are found by those who have not installed the project: the Node that runs this, and no packages of ours. */
export function pathOfOthers(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [
    dirname(process.execPath),
    ...folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin'))),
  ].join(delimiter)
}

/** A copy of the project as somebody gets it who clones it, with what is not committed yet: nothing is installed. */
export class FreshClone implements Disposable {
  readonly #folder = new TemporaryFolder()

  constructor() {
    const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
    const files = execFileSync('git', listed, { encoding: 'utf8' }).split('\0').filter(Boolean)
    for (const file of files) {
      mkdirSync(dirname(this.path(file)), { recursive: true })
      copyFileSync(file, this.path(file))
    }
  }

  get root(): string {
    return this.#folder.path
  }

  path(name: string): string {
    return this.#folder.file(name)
  }

  /** Puts in what `npm ci` would: the packages as they are here. */
  install(): void {
    symlinkSync(resolve('node_modules'), this.path('node_modules'))
  }

  /** Runs npm there, which finds the Node that runs this, and no packages of ours. */
  async npm(...words: readonly string[]): Promise<CommandEnd> {
    return await this.#run('npm', words)
  }

  /** What `streamvault doctor` says of the console. */
  async doctor(): Promise<Check | undefined> {
    const words = ['bin/streamvault.js', 'doctor', '--json']
    const environment = { ...anyPorts, STREAMVAULT_DATA_DIR: this.path('data') }
    const { output } = await this.#run(process.execPath, words, environment)
    const { checks } = JSON.parse(output) as { readonly checks: readonly Check[] }
    return checks.find(({ name }) => name === 'console')
  }

  async #run(
    program: string,
    words: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<CommandEnd> {
    // The machine's own authorities stay: without them npm waits for minutes until it gives up.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^npm_|^NODE_(?!EXTRA_CA_CERTS$)/i.test(name),
    )
    const child = spawn(program, words, {
      cwd: this.root,
      env: { ...Object.fromEntries(inherited), ...environment, PATH: pathOfOthers() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const closed = once(child, 'close')
    const [out, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await closed) as [number | null]
    return { code, output: program === 'npm' ? out + problems : out }
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
