import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'

/** More files than this do not fail by chance. */
const repeatedMax = 10

/** What a command has printed, and whether it succeeded. */
export interface CommandRun {
  readonly isGood: boolean
  readonly output: string
}

export type RunCommand = (command: string, ...words: readonly string[]) => Promise<CommandRun>

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
  const total = countsOf(last.output)
  if (last.isGood) return { isGood: true, ...total }
  let isGood = await passesAlone(last, { run, say })
  // What `npm test` does after its checks was not begun when one of these has failed.
  if (isGood && !last.output.includes(afterChecks)) {
    last = await run('npm', 'run', afterChecks)
    const more = countsOf(last.output)
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

async function passesAlone({ output }: CommandRun, { run, say }: Again): Promise<boolean> {
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

/** Sums up the closing lines of the runs of vitest: `Tests  2 failed | 40 passed (42)`. */
function countsOf(output: string): { passed: number; failed: number } {
  const closing = stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => /^ *Tests /.test(line))
  const sum = (word: string) =>
    closing.reduce((so, line) => so + Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0), 0)
  return { passed: sum('passed'), failed: sum('failed') }
}

/** Shows what the command prints as it comes. */
async function shown(command: string, ...words: readonly string[]): Promise<CommandRun> {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      process.stdout.write(text)
    })
  }
  const [code] = await once(child, 'close')
  return { isGood: code === 0, output }
}

if (import.meta.main) {
  const { isGood, passed, failed: broken } = await testInCi(shown, (line) => console.log(line))
  console.log(`${passed} passed, ${broken} failed`)
  process.exitCode = isGood ? 0 : 1
}
