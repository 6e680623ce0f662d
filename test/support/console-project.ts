import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { TemporaryFolder } from './temporary-folder.ts'

export interface BuildEnd {
  readonly code: number | null
  readonly output: string
}

/** A project of a page and nothing else, with the scripts that build it. */
export class ConsoleProject implements Disposable {
  readonly #folder = new TemporaryFolder()

  constructor() {
    this.write('package.json', JSON.stringify({ type: 'module', devDependencies: { vite: '1' } }))
    this.write(
      'console/index.html',
      '<!doctype html><script type="module" src="/main.js"></script>',
    )
    this.write('console/main.js', `document.title = '${'boiler '.repeat(100)}'`)
    for (const name of ['build-console.js', 'console-stamp.js']) {
      mkdirSync(this.path('scripts'), { recursive: true })
      copyFileSync(`scripts/${name}`, this.path(`scripts/${name}`))
    }
    mkdirSync(this.path('node_modules'))
    symlinkSync(resolve('node_modules/vite'), this.path('node_modules/vite'))
  }

  get root(): string {
    return this.#folder.path
  }

  get built(): string {
    return this.path('node_modules/.cache/console')
  }

  path(name: string): string {
    return this.#folder.file(name)
  }

  write(name: string, content: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), content)
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true })
  }

  /** Runs the build as npm does. */
  async build(...words: readonly string[]): Promise<BuildEnd> {
    const script = this.path('scripts/build-console.js')
    const child = spawn(process.execPath, [script, ...words], { cwd: this.root })
    const closed = once(child, 'close')
    const output = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await closed) as [number | null]
    return { code, output: output.join('') }
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
