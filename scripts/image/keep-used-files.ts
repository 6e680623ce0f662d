// Makes a release of the project around it smaller: `node scripts/image/keep-used-files.ts [--without kafka,mssql,opcua]`. Of
// `node_modules` it keeps what `dist` loads, licenses, and the console; of `dist` all but the maps. It deletes the rest, so
// it is for a build of an image, and refuses to run where there is a repository.
import { existsSync, globSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { nodeFileTrace } from '@vercel/nft'
import { optionalDrivers } from '../../connectors/optional-drivers.ts'

const root = join(import.meta.dirname, '..', '..')
const packages = join(root, 'node_modules')

/** Licenses have to go wherever the code goes. */
const license = /^(licen[cs]e|notice|copying|copyright)/i

/**
 * Files that no tracing finds: they are loaded by names that are put together at run time, or their package says of a
 * condition that comes first in tracing (`module-sync`) a path that it does not have.
 */
const untraced = [
  'amqplib/lib/connection.js',
  'amqplib/lib/channel_model.js',
  'interface-store/dist/src/index.js',
  'interface-store/package.json',
]

/** Names of drivers, in any way that a person may list them. */
function leftOut(text: string): readonly string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  const unknown = names.filter((name) => !Object.hasOwn(optionalDrivers, name))
  if (unknown.length > 0) {
    const known = Object.keys(optionalDrivers).join(', ')
    throw new Error(`${unknown.join(', ')} cannot be left out: what can is ${known}`)
  }
  return names.map((name) => optionalDrivers[name as keyof typeof optionalDrivers])
}

/** Paths below the root of all that is loaded. */
async function tracedFiles(without: readonly string[]): Promise<ReadonlySet<string>> {
  const entries = [
    ...globSync('dist/**/*.js', { cwd: root }).map((path) => join(root, path)),
    ...untraced.map((path) => join(packages, path)),
  ]
  const ignore = without.map((name) => `node_modules/${name}/**`)
  const { fileList } = await nodeFileTrace(entries, {
    base: root,
    processCwd: root,
    ts: false,
    ignore,
  })
  return fileList
}

/** The folder of the package that a file is in: the last `node_modules/NAME` of its path. */
function packageOf(path: string): string {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? ''
}

function isKept(path: string, traced: ReadonlySet<string>, used: ReadonlySet<string>): boolean {
  if (path.startsWith('node_modules/.cache/console/') || traced.has(path)) return true
  return license.test(basename(path)) && used.has(packageOf(path))
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { without: { type: 'string', default: '' } } })
  if (existsSync(join(root, '.git'))) {
    throw new Error('this deletes packages: it is for the build of an image, not for a repository')
  }
  const traced = await tracedFiles(leftOut(values.without))
  const used = new Set([...traced].map(packageOf))
  let keptBytes = 0
  for (const path of filesBelow(packages)) {
    if (isKept(path, traced, used)) keptBytes += statSync(join(root, path)).size
    else rmSync(join(root, path))
  }
  for (const path of globSync('dist/**/*.map', { cwd: root })) rmSync(join(root, path))
  removeEmptyFolders(packages)
  process.stdout.write(
    `${traced.size} files are loaded: ${Math.ceil(keptBytes / 2 ** 20)} MiB of packages\n`,
  )
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
