import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isFolderLocked } from '../../src/config/data-folder.ts'
import { CommandedService } from '../support/commanded-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { isLeftOut } from '../support/test-server.ts'

const commands: CommandedService[] = []
const folders: TemporaryFolder[] = []

afterEach(async () => {
  for (const command of commands.splice(0)) await command.kill()
  for (const folder of folders.splice(0)) folder[Symbol.dispose]()
})

async function start(line: string): Promise<CommandedService> {
  const folder = new TemporaryFolder()
  folders.push(folder)
  const command = await CommandedService.start(line, folder.file('data'))
  commands.push(command)
  return command
}

/** Whether a process is there. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Takes a port for a moment. @throws Error when somebody has it */
async function take(port: string): Promise<void> {
  const server = createServer().listen(Number(port), '127.0.0.1')
  await once(server, 'listening')
  server.close()
}

/** The service has ended in order, and a next one can begin where it was. */
async function expectEnd(command: CommandedService, pid: number): Promise<void> {
  expect(command.output.match(/"msg":"stopping"/g)).toHaveLength(1)
  expect(command.output).not.toMatch(/stopping (at once|failed|takes too long)/)
  await expectNothingLeft(command, pid)
}

async function expectNothingLeft(command: CommandedService, pid: number): Promise<void> {
  expect(isAlive(pid)).toBe(false)
  const left = readdirSync(command.dataDir)
  expect(left.filter((name) => /-(wal|shm)$|\.wal$|^owner/.test(name))).toEqual([])
  expect(isFolderLocked(command.dataDir)).toBe(false)
  await take(command.settings['STREAMVAULT_HTTP_PORT'] ?? '')
  await take(command.settings['STREAMVAULT_MQTT_PORT'] ?? '')
}

/** In a terminal of its own; what comes on standard input is typed there. */
const inTerminal =
  "python3 -c 'import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'"

beforeAll(async () => {
  await promisify(execFile)('npm', ['run', 'build'])
})

describe.each<[string, readonly NodeJS.Signals[]]>([
  ['npm start', ['SIGTERM', 'SIGINT']],
  ['npm run start:release', ['SIGTERM']],
  // The shell between npx and us keeps a SIGINT to itself, unless a terminal sends it to all of them.
  ['npx streamvault serve', ['SIGTERM']],
])('%s', (line, signals) => {
  test.each(signals)('ends in order by a %s to npm, and starts again', async (signal) => {
    const command = await start(`exec ${line}`)
    const { pid } = await command.listening()
    expect(command.pid).not.toBe(pid)

    command.signal(signal)

    await command.exited
    await expect.poll(() => isAlive(pid)).toBe(false)
    await expectEnd(command, pid)
    const next = await CommandedService.start(line, command.dataDir, command.settings)
    commands.push(next)
    expect((await next.listening(pid)).http).toContain(command.settings['STREAMVAULT_HTTP_PORT'])
  })

  test('ends in order, once, by Ctrl-C at a terminal', async () => {
    const command = await start(`${inTerminal} ${line}`)
    const { pid } = await command.listening()

    command.type('\x03')

    await command.exited
    await expect.poll(() => isAlive(pid)).toBe(false)
    await expectEnd(command, pid)
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
