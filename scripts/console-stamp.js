// What the files of the console were built from. Plain JavaScript that an older Node runs, too: it is asked for by
// npm, whatever Node that has, and by the doctor.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders whose files get into the page. */
const sourceFolders = ['console', 'clients/typescript']

/** Lists of packages: their versions get into the page as well. */
const packageLists = ['dependencies', 'devDependencies']

const stampName = 'stamp.json'

/** Where the built files are: beside the packages, for those are there wherever the service runs. */
export function builtFolder(root) {
  return join(root, 'node_modules', '.cache', 'console')
}

/** Whether there is anything to build. */
export function hasSources(root) {
  return existsSync(join(root, 'console'))
}

/** A digest of all that the page is made from. */
export function digestOf(root) {
  const digest = createHash('sha256')
  const paths = sourceFolders.flatMap((folder) => filesBelow(root, folder))
  for (const path of paths.sort((one, other) => (one < other ? -1 : 1))) {
    const bytes = readFileSync(join(root, path))
    // With its length before it no file can pass for two.
    digest.update(`${path}\n${bytes.length}\n`).update(bytes)
  }
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  digest.update(JSON.stringify(packageLists.map((list) => manifest[list])))
  return digest.digest('hex')
}

/** The digest that a folder was built with; undefined where there is none. */
export function builtDigest(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, stampName), 'utf8')).sources
  } catch {
    return undefined
  }
}

/** The file that says what a folder was built from: its name and its content. */
export function stampOf(sources) {
  return { name: stampName, content: `${JSON.stringify({ sources })}\n` }
}

/** Paths below a folder, with slashes on every system; none where there is no such folder. */
function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(root, path)
    return entry.isFile() ? [path] : []
  })
}
