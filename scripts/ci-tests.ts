import { availableParallelism } from 'node:os'
import { stripVTControlCharacters } from 'node:util'
import { deepSuites } from './deep/deep-record.ts'
import { runDeepSuites } from './deep/deep-run.ts'
import { runDeepSuite } from './deep/deep-suite.ts'
import { type CommandRun, runShown } from './shown-command.ts'
import { testCounts } from './vitest-output.ts'

/** More files than this do not fail by chance. */
const repeatedMax = 10

/** How long the deep suites may take in all. */
const deepMinutesMax = 15

export type RunCommand = (
  ...words: readonly [string, ...string[]]
) => Promise<Pick<CommandRun, 'isGood' | 'output'>>

export interface CiResult {
  readonly isGood: boolean
  readonly passed: number
  readonly failed: number
}

/**
 * Runs the README's test command. A file with a failure is run once more alone: when it passes then, it is told of
 * as flaky, and the tests go on. It has to be mended next, but it refuses no good change.
 */
export async function testInCi(run: RunCommand, say: (line: string) => void): Promise<CiResult> {
  let last = await run('npm', 'test')
  const total = testCounts(last.output)
  if (last.isGood) return { isGood: true, ...total }
  let isGood = await passesAlone(last, { run, say })
  // What `npm test` does after its checks was not begun when one of these has failed.
  if (isGood && !last.output.includes(afterChecks)) {
    last = await run('npm', 'run', afterChecks)
    const more = testCounts(last.output)
    total.passed += more.passed
    total.failed += more.failed
    isGood = last.isGood || (await passesAlone(last, { run, say }))
  }
  if (isGood) return { isGood, passed: total.passed + total.failed, failed: 0 }
  return { isGood, passed: total.passed, failed: Math.max(1, total.failed) }
}

const afterChecks = 'test:integration'

interface Again {
  readonly run: RunCommand
  readonly say: (line: string) => void
}

async function passesAlone(
  { output }: Pick<CommandRun, 'output'>,
  { run, say }: Again,
): Promise<boolean> {
  const files = failedFiles(output)
  if (files.length === 0 || files.length > repeatedMax) return false
  let isGood = true
  for (const file of files) {
    const again = await run('npx', 'vitest', 'run', file)
    say(`${again.isGood ? 'flaky' : 'failed twice'}: ${file}`)
    isGood &&= again.isGood
  }
  return isGood
}

/** Test files with a failure, or with an error that nobody has caught, in what vitest prints. */
function failedFiles(output: string): string[] {
  const lines = stripVTControlCharacters(output).split('\n')
  const named = lines.flatMap((line) => {
    const [, file] = failed.exec(line) ?? uncaught.exec(line) ?? []
    return file === undefined ? [] : [file]
  })
  return [...new Set(named)]
}

const failed = /^ *FAIL .*?(test\/\S+\.test\.ts)/
const uncaught = /originated in "(test\/\S+\.test\.ts)"/

/** Runs the deep suites that have changed since they passed last, as far as there is time for them. */
async function changedDeepSuites(say: (line: string) => void) {
  return await runDeepSuites(
    deepSuites().filter(({ isChanged }) => isChanged),
    {
      runSuite: runDeepSuite,
      now: () => performance.now(),
      say,
      // A clone is thrown away.
      onPass: () => undefined,
      endMs: performance.now() + deepMinutesMax * 60_000,
      lanes: availableParallelism(),
    },
  )
}

if (import.meta.main) {
  const tests = await testInCi((...words) => runShown(words), console.log)
  // What fails in a minute need not wait for what takes an hour.
  const deep = tests.isGood ? await changedDeepSuites(console.log) : { passed: 0, failed: 0 }
  console.log(`${tests.passed + deep.passed} passed, ${tests.failed + deep.failed} failed`)
  process.exitCode = tests.isGood && deep.failed === 0 ? 0 : 1
}
