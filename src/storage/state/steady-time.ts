import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Clocks,
  goOnFrom,
  machineUs,
  monotonicMs,
  type SteadyMoment,
  systemClock,
} from '../../core/clock.ts'
import type { StateDatabase } from './database.ts'

/** How often steady time is written down: a machine that is cut off has lost no more of it. */
export const keptEveryMs = 60_000

/** How soon it is written down that the wall clock was set. */
const lookMs = 1_000

/** The row of the newest moment. */
const newestId = 1

/** The row whose wall clock is the latest that was ever seen: it may have been set back since. */
const latestId = 2

/** One moment by all clocks, and whose the machine's is. */
export interface KeptMoment extends SteadyMoment {
  /** A new one with each boot of the machine; empty where it is not known. */
  readonly bootId: string
  readonly wallUs: number
}

/**
 * Steady time after a restart. The machine's monotonic clock says how long the service was away, if the
 * machine has not been started anew. Else the wall clock says it, which may have been set meanwhile: then
 * waits that are stored may end too soon, but none of them lasts longer than it would have without a stop.
 */
export function resumedSteadyUs(
  kept: KeptMoment | undefined,
  now: Omit<KeptMoment, 'steadyUs'>,
): number {
  if (kept === undefined) return now.wallUs
  const isSameBoot = kept.bootId !== '' && kept.bootId === now.bootId
  // A container may have a monotonic clock of its own.
  const isOnward = isSameBoot && now.machineUs >= kept.machineUs
  const awayUs = isOnward ? now.machineUs - kept.machineUs : now.wallUs - kept.wallUs
  return kept.steadyUs + Math.max(0, awayUs)
}

/** What was known of steady time when the service was there last, and what it is now. */
export interface ResumedTime {
  readonly before: KeptMoment | undefined
  readonly now: SteadyMoment
}

/** Goes on with the steady time that is stored, in this thread. */
export async function resumeSteadyTime(state: StateDatabase): Promise<ResumedTime> {
  const before = await keptMoment(state)
  const here = { bootId: bootId(), machineUs: machineUs(), wallUs: systemClock.nowUs() }
  const now = { machineUs: here.machineUs, steadyUs: resumedSteadyUs(before, here) }
  goOnFrom(now)
  // A disk that is full is no reason not to start: what was kept last still says as much, and is kept anew soon.
  await keepSteadyTime(state).catch(() => undefined)
  return { before, now }
}

async function keptMoment(state: StateDatabase): Promise<KeptMoment | undefined> {
  const row = await state
    .selectFrom('steady_time')
    .selectAll()
    .where('id', '=', newestId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { boot_id, machine_at, steady_at, wall_at } = row
  return { bootId: boot_id, machineUs: machine_at, steadyUs: steady_at, wallUs: wall_at }
}

/** The latest instant that the wall clock has shown to the service, as far as that was written down; 0 if it was not. */
export async function latestWallUs(state: StateDatabase): Promise<number> {
  const { latest } = await state
    .selectFrom('steady_time')
    .select((row) => row.fn.max('wall_at').as('latest'))
    .executeTakeFirstOrThrow()
  return latest ?? 0
}

export async function keepSteadyTime(
  state: StateDatabase,
  clock: Clocks = systemClock,
): Promise<void> {
  const moment = {
    boot_id: bootId(),
    machine_at: machineUs(),
    steady_at: clock.steadyUs(),
    wall_at: clock.nowUs(),
  }
  const latestUs = Math.max(moment.wall_at, await latestWallUs(state))
  await state
    .insertInto('steady_time')
    .values([
      { id: newestId, ...moment },
      { id: latestId, ...moment, wall_at: latestUs },
    ])
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        boot_id: row.ref('excluded.boot_id'),
        machine_at: row.ref('excluded.machine_at'),
        steady_at: row.ref('excluded.steady_at'),
        wall_at: row.ref('excluded.wall_at'),
      })),
    )
    .execute()
}

/** Writes steady time down from time to time, and when the wall clock was set. */
export async function keepSteadyTimeUntil(
  state: StateDatabase,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let [keptMs, steps] = [monotonicMs(), systemClock.steps]
  while (!signal.aborted) {
    await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
    systemClock.nowUs()
    const isQuiet = systemClock.steps === steps && monotonicMs() - keptMs < keptEveryMs
    if (isQuiet || signal.aborted) continue
    ;[keptMs, steps] = [monotonicMs(), systemClock.steps]
    await keepSteadyTime(state).catch(onFailure)
  }
}

/** Linux gives each boot a random id. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
