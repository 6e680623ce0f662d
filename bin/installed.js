// Says what is missing before anything fails on it. Plain JavaScript of the older kind, because the Node that runs it may be
// one from 18 on: npm ci brings the one that is needed.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Whether this process is a Node of at least the version that package.json asks for. */
export function isRecentEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [majorMin, minorMin] = manifest.engines.node.replace('>=', '').split('.').map(Number)
  return major > majorMin || (major === majorMin && minor >= minorMin)
}

/** Ends the process with one line where packages are missing. */
export function refuseUnlessInstalled() {
  const [name] = Object.keys(manifest.dependencies)
  try {
    createRequire(import.meta.url).resolve(name)
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') refuse(`packages are missing: run npm ci in ${root}`)
  }
}

/** Ends the process with one line where Node is too old. */
export function refuseOldNode() {
  if (isRecentEnough()) return
  refuse(`it needs Node ${manifest.engines.node}, not ${process.versions.node}: npm start brings one`)
}

function refuse(why) {
  process.stderr.write(`streamvault cannot start: ${why}\n`)
  process.exit(1)
}
