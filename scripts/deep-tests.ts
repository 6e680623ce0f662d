import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { deepSuites, recordPass } from './deep/deep-record.ts'
import { runDeepSuites } from './deep/deep-run.ts'
import { runDeepSuite } from './deep/deep-suite.ts'

/**
 * `npm run test:deep`: all deep suites, or those whose paths contain one of the words given, or with `--changed` those
 * that have changed since they passed last. What has passed is recorded in test/deep.json.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { changed: { type: 'boolean', default: false }, minutes: { type: 'string' } },
  })
  const isMeant = (file: string) =>
    positionals.length === 0 || positionals.some((word) => file.includes(word))
  const suites = deepSuites().filter(
    ({ file, isChanged }) => isMeant(file) && (isChanged || !values.changed),
  )
  const minutes = Number(values.minutes ?? 24 * 60)
  const { passed, failed } = await runDeepSuites(suites, {
    runSuite: runDeepSuite,
    now: () => performance.now(),
    say: (line) => console.log(line),
    onPass: recordPass,
    endMs: performance.now() + minutes * 60_000,
    lanes: availableParallelism(),
  })
  console.log(`${suites.length} suites: ${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()
