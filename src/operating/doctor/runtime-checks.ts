import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nodeVersionMin, startOptions } from '../../config/product-version.ts'
import { wallDate } from '../../core/clock.ts'
import { type Check, fail, ok, type Surroundings, warn } from './check.ts'

export function checkNode({ owner }: Surroundings): Check {
  const needed = nodeVersionMin()
  const version = owner === undefined ? process.version : owner.nodeVersion
  const where = owner === undefined ? '' : ' runs the service'
  if (isAtLeast(version, needed)) return ok('node', `${version}${where}, ${needed} is needed`)
  const message = `${version}${where}, but ${needed} is needed`
  return fail('node', message, 'use npm start or npx streamvault, which bring their own Node')
}

function isAtLeast(version: string, minimum: string): boolean {
  const wanted = numbersIn(minimum)
  const given = numbersIn(version)
  const at = wanted.findIndex((number, index) => number !== given[index])
  return at === -1 || (given[at] ?? 0) > (wanted[at] ?? 0)
}

function numbersIn(version: string): number[] {
  return version.replace(/^\D+/, '').split('.').map(Number)
}

export function checkFlags({ owner }: Surroundings): Check {
  if (owner?.command !== 'serve') {
    return ok('flags', 'the service does not run, so its flags are not known')
  }
  const given = new Set(owner.nodeOptions.map(nameOf))
  const missing = startOptions().filter((flag) => !given.has(nameOf(flag)))
  if (missing.length === 0) return ok('flags', 'the service has the flags of npm start')
  const message = `the service runs without ${missing.join(' ')}`
  const advice = 'it needs more memory than it has to: use npm start or npx streamvault serve'
  return warn('flags', message, advice)
}

const nameOf = (flag: string) => flag.split('=')[0]

export function checkSettings({ problems, idleSettings, unknownSettings }: Surroundings): Check {
  if (problems.length > 0) {
    const advice =
      'correct them in the environment or in .env; docs/operations.md lists all settings'
    return fail('settings', problems.join('; '), advice)
  }
  const unread =
    unknownSettings.length > 0 ? [`the service does not read ${unknownSettings.join(', ')}`] : []
  const found = [...unread, ...idleSettings]
  if (found.length === 0) return ok('settings', 'all settings are good')
  const advice = 'correct the spelling, or remove them; docs/operations.md lists all settings'
  return warn('settings', found.join('; '), advice)
}

/** No clock that is right shows less. */
const earliestMs = Date.UTC(2026, 0, 1)

/** A file may be this much ahead of the clock: file systems round, networks drift. */
const aheadMsMax = 60_000

/** The clock dates readings without a time of their own, and decides when keys and tokens end. */
export function checkClock({ config }: Surroundings): Check {
  const nowMs = wallDate().getTime()
  const now = new Date(nowMs).toISOString()
  const advice = 'set the clock of this machine, for example by NTP'
  if (nowMs < earliestMs) return fail('clock', `it shows ${now}, which is long past`, advice)
  const newest = newestFile(config.dataDir)
  if (newest && newest.changedMs > nowMs + aheadMsMax) {
    const changed = new Date(newest.changedMs).toISOString()
    const message = `it shows ${now}, but ${newest.name} was changed at ${changed}: it was set back`
    return fail('clock', message, advice)
  }
  return ok('clock', `it shows ${now}`)
}

function newestFile(
  folder: string,
): { readonly name: string; readonly changedMs: number } | undefined {
  try {
    const files = readdirSync(folder).map((name) => {
      const { mtimeMs = 0 } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {}
      return { name, changedMs: mtimeMs }
    })
    return files.toSorted((one, other) => other.changedMs - one.changedMs)[0]
  } catch {
    // What is wrong with the folder is another check's finding.
    return undefined
  }
}
