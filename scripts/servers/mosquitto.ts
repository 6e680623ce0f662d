import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type DevelopmentServer, hasProgram, runningAt } from './development-server.ts'

/** Starts mosquitto, which goes on when this process ends. */
function startMosquitto(folder: string, port: number): ChildProcess {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'mosquitto.conf')
  // As root it would become somebody else, who may not write down what it has to keep.
  const lines = [
    `user ${userInfo().username}`,
    'allow_anonymous true',
    'persistence true',
    `persistence_location ${folder}/`,
    `listener ${port} 127.0.0.1`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn('mosquitto', ['-c', file], { stdio: ['ignore', log, log], detached: true })
  child.unref()
  return child
}

export const mosquitto: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_MQTT_URL',
  missing: () =>
    hasProgram('mosquitto')
      ? undefined
      : 'mosquitto is not installed: the Debian package is called mosquitto',
  start: async (folder, port) =>
    runningAt(`mqtt://127.0.0.1:${port}`, startMosquitto(folder, port)),
}
