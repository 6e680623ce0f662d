import { cpSync, existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

/** The project as a build sees it: what `.dockerignore` lets through. */
export class BuildContext {
  readonly #root: string
  readonly #rules: readonly { readonly pattern: string; readonly isIgnored: boolean }[]

  constructor(root: string) {
    this.#root = root
    this.#rules = readFileSync(join(root, '.dockerignore'), 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => ({ pattern: line.replace(/^!/, ''), isIgnored: !line.startsWith('!') }))
  }

  /** Copies as COPY does: the content of a folder, or a file. @throws Error where the source is ignored, or is not there */
  copy(source: string, target: string): void {
    const from = join(this.#root, source)
    if (!existsSync(from) || this.isIgnored(source)) {
      throw new Error(`COPY ${source}: there is no such file in the build context`)
    }
    copyInto(from, target, (path) => !this.isIgnored(relative(this.#root, path)))
  }

  /** The last rule that fits counts; one that fits a folder fits all in it. */
  isIgnored(path: string): boolean {
    const above = [path]
    for (let one = dirname(path); one !== '.'; one = dirname(one)) above.push(one)
    const fits = (pattern: string) => above.some((one) => ruleOf(pattern).test(one))
    return this.#rules.findLast(({ pattern }) => fits(pattern))?.isIgnored ?? false
  }
}

/** Patterns of `.dockerignore`: unlike those of a shell, they fit names with a dot before them as well. */
function ruleOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*)/).map((part) => {
    if (part === '**/') return '(?:.*/)?'
    return part === '*' ? '[^/]*' : RegExp.escape(part)
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** @param target the folder that gets the content of a folder; of a file its new path, or with `/` at its end its folder */
export function copyInto(
  from: string,
  target: string,
  filter: (path: string) => boolean = () => true,
): void {
  const isFile = statSync(from).isFile()
  const path = isFile && target.endsWith('/') ? join(target, basename(from)) : target
  cpSync(from, path, { recursive: true, filter, verbatimSymlinks: true })
}
