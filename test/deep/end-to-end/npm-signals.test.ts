import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, test } from 'vitest'
import {
  expectEndBySignal,
  expectEndByTerminal,
  startedCommands,
} from '../../support/ended-commands.ts'

const commands = startedCommands()

beforeAll(async () => {
  await promisify(execFile)('npm', ['run', 'build'])
})

/** Commands that need a build, or a shell in between; the others are in test/end-to-end/npm-signals.test.ts. */
describe.each([
  'npm run start:release',
  // The shell between npx and us keeps a SIGINT to itself, unless a terminal sends it to all of them.
  'npx streamvault serve',
])('%s', (line) => {
  test('ends in order by a SIGTERM to npm, and starts again', async () => {
    await expectEndBySignal(commands, line, 'SIGTERM')
  })

  test('ends in order, once, by Ctrl-C at a terminal', async () => {
    await expectEndByTerminal(commands, line)
  })
})
