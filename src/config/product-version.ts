import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The version in package.json, which sources and compiled files have at different distances. */
export function productVersion(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
