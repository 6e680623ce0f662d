import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processStart } from '../core/clock.ts'
import { productVersion, startOptions } from './product-version.ts'

/**
 * What the process that has a data folder tells others about itself. It counts only while the
 * folder is locked: a process that was killed leaves it behind.
 */
export interface FolderOwner {
  readonly pid: number
  /** What it was started for, such as `serve`. */
  readonly command: string
  readonly version: string
  readonly nodeVersion: string
  /** Its flags, and those variables that `npm start` gives, as `NAME=value`. */
  readonly nodeOptions: readonly string[]
  /** RFC 3339. */
  readonly startedAt: string
  /** Where it listens; none while it starts, and for commands that do not listen. */
  readonly addresses: readonly string[]
}

const pathIn = (folder: string) => join(folder, 'owner.json')

/** Says who has the folder. To be called by nobody but its owner. */
export function writeOwner(
  folder: string,
  { command, addresses }: Pick<FolderOwner, 'command' | 'addresses'>,
): void {
  const owner: FolderOwner = {
    pid: process.pid,
    command,
    version: productVersion(),
    nodeVersion: process.version,
    nodeOptions: [...givenVariables(), ...process.execArgv],
    startedAt: processStart().toISOString(),
    addresses,
  }
  try {
    writeFileSync(pathIn(folder), `${JSON.stringify(owner, null, 2)}\n`, { mode: 0o600 })
  } catch {
    // It only informs: a disk that takes nothing more is reported by those who need it.
  }
}

export function removeOwner(folder: string): void {
  rmSync(pathIn(folder), { force: true })
}

/** What the owner says, or nothing when it says nothing that can be read. */
export function readOwner(folder: string): FolderOwner | undefined {
  try {
    const owner = JSON.parse(readFileSync(pathIn(folder), 'utf8')) as Partial<FolderOwner> | null
    if (typeof owner?.pid !== 'number') return undefined
    const { pid, command = '', version = '', nodeVersion = '', startedAt = '' } = owner
    const { nodeOptions = [], addresses = [] } = owner
    return { pid, command, version, nodeVersion, nodeOptions, startedAt, addresses }
  } catch {
    return undefined
  }
}

function givenVariables(): string[] {
  const names = startOptions().map((option) => option.split('=')[0] ?? '')
  return names.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [`${name}=${value}`]
  })
}
