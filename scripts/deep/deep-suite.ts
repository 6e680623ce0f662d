import { runShown } from '../shown-command.ts'
import { testCounts } from '../vitest-output.ts'
import type { SuiteResult } from './deep-run.ts'

/** Runs one deep suite by vitest, and ends it after `msLeft` milliseconds. */
export async function runDeepSuite(file: string, msLeft: number): Promise<SuiteResult> {
  const words = ['npx', 'vitest', 'run', '--project', 'deep', file] as const
  // A timer of Node waits for less than 25 days.
  const { isGood, isCutOff, output } = await runShown(words, Math.min(msLeft, 2 ** 31 - 1))
  return { isGood, isCutOff, ...testCounts(output) }
}
