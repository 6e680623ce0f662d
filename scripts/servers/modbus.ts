import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevelopmentServer, runningAt } from './development-server.ts'

/** Starts a device of Modbus, which goes on when this process ends. */
function startModbusDevice(folder: string, port: number): ChildProcess {
  mkdirSync(folder, { recursive: true })
  const log = openSync(join(folder, 'log'), 'a')
  const script = fileURLToPath(new URL('modbus-device.ts', import.meta.url))
  // It stores nothing: by the folder it is known to be the one that was started here.
  const child = spawn(process.execPath, [script, String(port), folder], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  child.unref()
  return child
}

export const modbus: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_MODBUS_URL',
  missing: () => undefined,
  start: async (folder, port) =>
    runningAt(`modbus://127.0.0.1:${port}`, startModbusDevice(folder, port)),
}
