import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect } from 'vitest'
import { isFolderLocked } from '../../src/config/data-folder.ts'
import { CommandedService } from './commanded-service.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** In a terminal of its own; what comes on standard input is typed there. */
export const inTerminal =
  "python3 -c 'import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'"

interface Commands {
  /** Starts a service by a command, on a new folder. */
  readonly start: (line: string) => Promise<CommandedService>
  /** Starts one by a command where another one was. */
  readonly startAgain: (line: string, ended: CommandedService) => Promise<CommandedService>
}

/** Lets a test start services by commands: after it, they are ended and their folders removed. */
export function startedCommands(): Commands {
  const commands: CommandedService[] = []
  const folders: TemporaryFolder[] = []

  afterEach(async () => {
    for (const command of commands.splice(0)) await command.kill()
    for (const folder of folders.splice(0)) folder[Symbol.dispose]()
  })

  const begin = async (...needs: Parameters<typeof CommandedService.start>) => {
    const command = await CommandedService.start(...needs)
    commands.push(command)
    return command
  }
  return {
    async start(line) {
      const folder = new TemporaryFolder()
      folders.push(folder)
      return await begin(line, folder.file('data'))
    },
    startAgain: (line, { dataDir, settings }) => begin(line, dataDir, settings),
  }
}

/** Expects that a signal to npm ends what a command has started in order, and that it starts again. */
export async function expectEndBySignal(
  { start, startAgain }: Commands,
  line: string,
  signal: NodeJS.Signals,
): Promise<void> {
  const command = await start(`exec ${line}`)
  const { pid } = await command.listening()
  expect(command.pid).not.toBe(pid)

  command.signal(signal)

  await command.exited
  await expect.poll(() => isAlive(pid)).toBe(false)
  await expectEnd(command, pid)
  const next = await startAgain(line, command)
  expect((await next.listening(pid)).http).toContain(command.settings['STREAMVAULT_HTTP_PORT'])
}

/** Expects that Ctrl-C at a terminal ends what a command has started in order, once. */
export async function expectEndByTerminal({ start }: Commands, line: string): Promise<void> {
  const command = await start(`${inTerminal} ${line}`)
  const { pid } = await command.listening()

  command.type('\x03')

  await command.exited
  await expect.poll(() => isAlive(pid)).toBe(false)
  await expectEnd(command, pid)
}

/** Expects that the service has ended in order, and that a next one can begin where it was. */
export async function expectEnd(command: CommandedService, pid: number): Promise<void> {
  // A terminal gets lines for people.
  const output = stripVTControlCharacters(command.output)
  expect(output.match(/"msg":"stopping"|INFO: stopping\b/g)).toHaveLength(1)
  expect(command.output).not.toMatch(/stopping (at once|failed|takes too long)/)
  await expectNothingLeft(command, pid)
}

export async function expectNothingLeft(command: CommandedService, pid: number): Promise<void> {
  expect(isAlive(pid)).toBe(false)
  const left = readdirSync(command.dataDir)
  expect(left.filter((name) => /-(wal|shm)$|\.wal$|^owner/.test(name))).toEqual([])
  expect(isFolderLocked(command.dataDir)).toBe(false)
  await take(command.settings['STREAMVAULT_HTTP_PORT'] ?? '')
  await take(command.settings['STREAMVAULT_MQTT_PORT'] ?? '')
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
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
