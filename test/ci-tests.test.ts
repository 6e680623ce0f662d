import { describe, expect, test } from 'vitest'
import { testInCi } from '../scripts/ci-tests.ts'
import type { CommandRun } from '../scripts/shown-command.ts'

const good = (output: string): CommandRun => ({ isGood: true, isCutOff: false, output })
const bad = (output: string): CommandRun => ({ isGood: false, isCutOff: false, output })

/** Answers commands from a list; each has to be the one that is expected. */
async function inCi(...runs: readonly (readonly [string, CommandRun])[]) {
  const left = [...runs]
  const said: string[] = []
  const result = await testInCi(
    async (...words) => {
      const [expected, run] = left.shift() ?? []
      if (run === undefined || words.join(' ') !== expected) {
        throw new Error(`not expected: ${words.join(' ')}`)
      }
      return run
    },
    (line) => said.push(line),
  )
  expect(left).toEqual([])
  return { ...result, said }
}

const whole = '> streamvault@0.1.0 test:integration\n'
const failure = ' FAIL  |integration| test/http/flow.test.ts > a title > test/other.test.ts\n'

describe('what CI makes of a run', () => {
  test('one that is good counts as it is', async () => {
    const run = good(`      Tests  40 passed (40)\n${whole}      Tests  2 passed (2)\n`)
    expect(await inCi(['npm test', run])).toEqual({
      isGood: true,
      passed: 42,
      failed: 0,
      said: [],
    })
  })

  test('a file that passes alone is named as flaky, and fails nothing', async () => {
    const first = bad(`${whole}${failure}${failure}      Tests  2 failed | 40 passed (42)\n`)
    const again = good('      Tests  5 passed (5)\n')
    expect(
      await inCi(['npm test', first], ['npx vitest run test/http/flow.test.ts', again]),
    ).toEqual({ isGood: true, passed: 42, failed: 0, said: ['flaky: test/http/flow.test.ts'] })
  })

  test('a file that fails alone as well is a failure', async () => {
    const first = bad(`${whole}${failure}      Tests  1 failed | 40 passed (41)\n`)
    const again = bad(failure)
    expect(
      await inCi(['npm test', first], ['npx vitest run test/http/flow.test.ts', again]),
    ).toEqual({
      isGood: false,
      passed: 40,
      failed: 1,
      said: ['failed twice: test/http/flow.test.ts'],
    })
  })

  test('after a flaky unit test the tests go on with the others', async () => {
    const unit = bad(
      ' FAIL  |unit| test/core/ids.test.ts > x\n   Tests  1 failed | 9 passed (10)\n',
    )
    const others = good('      Tests  5 passed (5)\n')
    expect(
      await inCi(
        ['npm test', unit],
        ['npx vitest run test/core/ids.test.ts', good('   Tests  10 passed (10)\n')],
        ['npm run test:integration', others],
      ),
    ).toMatchObject({ isGood: true, passed: 15, failed: 0, said: ['flaky: test/core/ids.test.ts'] })
  })

  test('an error that nobody has caught counts for the file that it comes from', async () => {
    const error = 'This error originated in "test/live/tail.test.ts" test file.\n'
    const first = bad(`${whole}${error}      Tests  40 passed (40)\n`)
    const again = good('      Tests  5 passed (5)\n')
    expect(
      await inCi(['npm test', first], ['npx vitest run test/live/tail.test.ts', again]),
    ).toEqual({ isGood: true, passed: 40, failed: 0, said: ['flaky: test/live/tail.test.ts'] })
  })

  test('a check that is no test is not forgiven', async () => {
    expect(await inCi(['npm test', bad('error TS2322')])).toMatchObject({
      isGood: false,
      passed: 0,
      failed: 1,
    })
  })

  test('nor are failures in very many files', async () => {
    const files = Array.from({ length: 11 }, (_, at) => ` FAIL  |unit| test/a${at}.test.ts > x\n`)
    const first = bad(`${whole}${files.join('')}      Tests  11 failed (11)\n`)
    expect(await inCi(['npm test', first])).toMatchObject({ isGood: false, failed: 11 })
  })
})
