import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DeepSuite, RecordedPass } from '../scripts/deep/deep-record.ts'
import { runDeepSuites, type SuiteResult } from '../scripts/deep/deep-run.ts'
import { suiteDigest, suiteSources } from '../scripts/deep/suite-sources.ts'

describe('what a deep suite goes by', () => {
  const suite = 'test/deep/kills.test.ts'
  const files: Readonly<Record<string, string>> = {
    [suite]: "import { load } from '../support/load.ts'\n",
    'test/support/load.ts': "spawn(python, ['test/support/peer.py', `--port=${port}`])\n",
    'test/support/peer.py': '# a peer\n',
    'package.json': '{ "scripts": { "start": "exec env node bin/start.js serve" } }',
    'bin/start.js': "import(new URL('../src/main.ts', import.meta.url))\n",
    'src/main.ts': "startThread('./second')\nfork(`./copy${ending}`)\nread('docs/page.md')\n",
    'src/copy.ts': 'export {}\n',
    'src/second.ts': 'export {}\n',
    'docs/page.md': '# A page\n',
    'src/unused.ts': 'export {}\n',
  }
  let root = ''
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'streamvault-deep-'))
    for (const [file, text] of Object.entries(files)) write(file, text)
  })

  afterEach(() => rmSync(root, { recursive: true }))

  test('is what it imports, starts and reads, and what these do', () => {
    const unused = ['src/unused.ts']
    const all = Object.keys(files).filter((file) => !unused.includes(file))
    expect(suiteSources(suite, root)).toEqual(all.sort())
  })

  test.each(Object.keys(files))(
    'has another digest when %s changes, if it is part of it',
    (file) => {
      const before = suiteDigest(suite, root)
      expect(suiteDigest(suite, root)).toBe(before)
      write(file, `${files[file]} `)
      expect(suiteDigest(suite, root) === before).toBe(file === 'src/unused.ts')
    },
  )
})

const suiteOf = (file: string, seconds?: number): DeepSuite => ({
  file,
  digest: `digest of ${file}`,
  seconds,
  isChanged: true,
})

describe('a run of deep suites', () => {
  const good: SuiteResult = { isGood: true, isCutOff: false, passed: 3, failed: 0 }
  const bad: SuiteResult = { isGood: false, isCutOff: false, passed: 2, failed: 1 }

  /** Runs suites that take the seconds given; each name has its results in turn. */
  async function run(
    suites: readonly DeepSuite[],
    results: Record<string, readonly SuiteResult[]>,
    took = 10,
  ) {
    const said: string[] = []
    const begun: string[] = []
    const passes: [string, RecordedPass][] = []
    let nowMs = 0
    const result = await runDeepSuites(suites, {
      runSuite: async (file, msLeft) => {
        const ended = results[file]?.[begun.filter((one) => one === file).length] ?? good
        begun.push(file)
        nowMs += Math.min(took * 1000, msLeft)
        return took * 1000 > msLeft ? { ...bad, isCutOff: true } : ended
      },
      now: () => nowMs,
      say: (line) => said.push(line),
      onPass: (file, pass) => passes.push([file, pass]),
      endMs: 60_000,
      lanes: 1,
    })
    return { ...result, passes, said, begun }
  }

  test('records those that have passed, with what they went by', async () => {
    expect(await run([suiteOf('a'), suiteOf('b', 5)], {})).toMatchObject({
      passed: 6,
      failed: 0,
      said: [],
      passes: [
        ['a', { digest: 'digest of a', seconds: 10 }],
        ['b', { digest: 'digest of b', seconds: 10 }],
      ],
    })
  })

  test('tries one that has failed again when the others have ended', async () => {
    const { passed, failed, begun, said, passes } = await run([suiteOf('a'), suiteOf('b')], {
      a: [bad, good],
    })
    expect({ passed, failed, begun, said }).toEqual({
      passed: 6,
      failed: 0,
      begun: ['a', 'b', 'a'],
      said: ['flaky: a'],
    })
    expect(passes.map(([file]) => file)).toEqual(['b', 'a'])
  })

  test('does not record one that fails twice', async () => {
    const { passed, failed, said, passes } = await run([suiteOf('a')], { a: [bad, bad] })
    expect({ passed, failed, said, passes }).toEqual({
      passed: 2,
      failed: 1,
      said: ['failed twice: a'],
      passes: [],
    })
  })

  test('says what there was no time for, and counts it as nothing', async () => {
    const suites = [suiteOf('a'), suiteOf('b', 30), suiteOf('c', 50), suiteOf('d')]
    const { passed, failed, begun, said } = await run(suites, {}, 25)
    expect({ passed, failed, begun, said }).toEqual({
      passed: 6,
      failed: 0,
      begun: ['a', 'b', 'd'],
      said: ['not run: c', 'not run: d'],
    })
  })

  test('counts one that failed and could not be tried again as failed', async () => {
    const { failed, said } = await run([suiteOf('a', 40)], { a: [bad] }, 40)
    expect({ failed, said }).toEqual({ failed: 1, said: ['not run: a'] })
  })
})
