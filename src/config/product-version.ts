import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly scripts: { readonly start: string }
}

export function productVersion(): string {
  return manifest().version
}

/** The lowest version of Node that runs us, as package.json writes it: `>=24.9.0`. */
export function nodeVersionMin(): string {
  return manifest().engines.node
}

/** What `npm start` gives to Node: variables of its environment, `NAME=value`, and flags, `--name=value`. */
export function startOptions(): readonly string[] {
  return manifest()
    .scripts.start.split(' ')
    .filter((word) => word.includes('=') || word.startsWith('--'))
}

/** The folder of our package.json, which sources and compiled files have at different distances. */
export function productFolder(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(productFolder(), 'package.json'), 'utf8')) as Manifest
}
