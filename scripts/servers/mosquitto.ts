import { spawn } from 'node:child_process'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** Starts mosquitto, which goes on when this process ends, and returns its process id. */
export function startMosquitto(folder: string, port: number): number {
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
  if (child.pid === undefined) throw new Error('mosquitto was not started')
  return child.pid
}
