import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** What every suite runs on: versions of libraries, the runner's settings, and the flags of `npm start`. */
const always = ['package.json', 'package-lock.json', 'vitest.config.ts']

/**
 * All files of the project that a suite goes by: what it imports, what it starts as a process or a thread, what it
 * reads by name, and what these do in their turn. Paths are relative to `root`, sorted.
 *
 * A text literal that names a file of the project counts, be it an import or not: a suite may be run once too often
 * for it, and never once too seldom. What is found by listing a folder is not seen.
 */
export function suiteSources(suite: string, root = '.'): string[] {
  const found = new Set<string>()
  const open = [suite, ...always]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file) || !isFile(join(root, file))) continue
    found.add(file)
    if (isCode.test(file)) open.push(...namedFiles(file, root))
  }
  return [...found].sort()
}

/** SHA-256 over names and contents of {@link suiteSources}, in hexadecimal: it changes when one of them does. */
export function suiteDigest(suite: string, root = '.'): string {
  const digest = createHash('sha256')
  for (const file of suiteSources(suite, root)) {
    const content = readFileSync(join(root, file))
    digest.update(`${file}\0${content.length}\0`).update(content)
  }
  return digest.digest('hex')
}

const isCode = /\.(?:tsx?|js|json|py|c)$|\/[\w-]+$/
/** A text that may name a file; in a template, as far as its first value. */
const literal = /(['"`])([\w@./-]{1,200})(?:\1|\$\{)/g

function namedFiles(file: string, root: string): string[] {
  // Names of packages and their versions are no files of ours.
  if (file.startsWith('package')) return scriptsOf(readFileSync(join(root, file), 'utf8'))
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(literal)].flatMap(([, , name = '']) => {
    if (!name.includes('/') && !name.includes('.')) return []
    // A name is meant from its file, as in imports, or from the root, where processes are started. Threads are named
    // without their ending.
    return [join(dirname(file), name), normalize(name)]
      .flatMap((path) => [path, `${path}.ts`])
      .filter((path) => !/^(?:\.\.|\/)/.test(path) && isFile(join(root, path)))
  })
}

/** What is started by `npm start` and other commands of package.json. */
function scriptsOf(text: string): string[] {
  const { scripts = {} } = JSON.parse(text) as { readonly scripts?: Record<string, string> }
  return [scripts['start'] ?? '', scripts['demo'] ?? ''].flatMap((line) =>
    line.split(' ').filter((word) => word.includes('/')),
  )
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
