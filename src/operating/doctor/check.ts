import type { Config } from '../../config/config.ts'
import type { FolderOwner } from '../../config/folder-owner.ts'

export type CheckStatus = 'ok' | 'warn' | 'fail'

/** What was looked at, what was found, and what to do about it. Never a secret. */
export interface Check {
  readonly name: string
  readonly status: CheckStatus
  readonly message: string
  /** Empty when there is nothing to do. */
  readonly advice: string
}

/** What all checks are made with. */
export interface Surroundings {
  /** Has defaults wherever a setting is wrong. */
  readonly config: Config
  /** A line for every setting that is wrong. */
  readonly problems: readonly string[]
  /** A sentence for each setting that has no effect beside the others. */
  readonly idleSettings: readonly string[]
  /** Names that look like settings, and that nobody reads; with what may have been meant. */
  readonly unknownSettings: readonly string[]
  /** Whether a process has the data folder now. */
  readonly isLocked: boolean
  /** Who that is; undefined when nobody has it, or when it does not say. */
  readonly owner: FolderOwner | undefined
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, advice: '' }
}

export function warn(name: string, message: string, advice: string): Check {
  return { name, status: 'warn', message, advice }
}

export function fail(name: string, message: string, advice: string): Check {
  return { name, status: 'fail', message, advice }
}
