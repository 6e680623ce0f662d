import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import {
  expectEnd,
  expectEndBySignal,
  expectEndByTerminal,
  expectNothingLeft,
  inTerminal,
  isAlive,
  startedCommands,
} from '../support/ended-commands.ts'
import { isLeftOut } from '../support/test-server.ts'

const commands = startedCommands()
const { start } = commands

describe('npm start', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends in order by a %s to npm, and starts again',
    async (signal) => {
      await expectEndBySignal(commands, 'npm start', signal)
    },
  )

  test('ends in order, once, by Ctrl-C at a terminal', async () => {
    await expectEndByTerminal(commands, 'npm start')
  })
})

test.each(['npm start', 'npm run demo -- --devices 2'])(
  '%s ends in order when its terminal is closed',
  async (line) => {
    const command = await start(`exec ${inTerminal} ${line}`)
    const { pid } = await command.listening()

    command.signal('SIGKILL')

    await command.exited
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
    await expectNothingLeft(command, pid)
  },
)

describe('npm run demo', () => {
  const line = 'npm run demo -- --devices 2'

  test('ends by a SIGTERM to npm, with all that it has started', async () => {
    const command = await start(`exec ${line}`)
    const { pid } = await command.listening()
    await expect.poll(() => command.output).toContain('Ctrl-C ends the demo.')

    command.signal('SIGTERM')

    expect(await command.exited).toBe(0)
    await expectNothingLeft(command, pid)
  })

  test('ends by Ctrl-C at a terminal, also while it starts', async () => {
    const command = await start(`${inTerminal} ${line}`)
    const { pid } = await command.listening()

    command.type('\x03')

    expect(await command.exited).toBe(0)
    await expectNothingLeft(command, pid)
  })
})

test('npm start in the background ends by a signal to what the shell knows of it', async () => {
  const command = await start(
    'npm start & sleep 1; read -r; kill -TERM $!; wait $!; echo "with $?"',
  )
  const { pid } = await command.listening()

  command.type('now\n')

  await command.exited
  expect(command.output).toContain('with 0')
  await expectEnd(command, pid)
})

test('a whole process group that is told to stop, as by systemd, ends in order', async () => {
  const command = await start('exec npm start')
  const { pid } = await command.listening()

  process.kill(-command.pid, 'SIGTERM')

  expect(await command.exited).toBe(0)
  await expectEnd(command, pid)
})

const isTiniMissing = spawnSync('tini', ['--version']).error !== undefined

describe.skipIf(isLeftOut('tini', !isTiniMissing, 'scripts/install-test-tools'))('tini', () => {
  test.each(['tini -s --', 'tini -s -g --'])('ends npm start in order: %s', async (tini) => {
    const command = await start(`exec ${tini} npm start`)
    const { pid } = await command.listening()

    command.signal('SIGTERM')

    expect(await command.exited).toBe(0)
    await expectEnd(command, pid)
  })
})
