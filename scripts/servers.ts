import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { DevelopmentServer, Running } from './servers/development-server.ts'
import { freePort } from './servers/free-port.ts'
import { kafka } from './servers/kafka.ts'
import { mariadb } from './servers/mariadb.ts'
import { modbus } from './servers/modbus.ts'
import { mosquitto } from './servers/mosquitto.ts'
import { nats } from './servers/nats.ts'
import { opcua } from './servers/opcua.ts'
import { postgres } from './servers/postgres.ts'
import { composeQuestDb, questdb } from './servers/questdb.ts'
import { toolsFolder } from './servers/questdb-jar.ts'
import { rabbitmq } from './servers/rabbitmq.ts'
import { redis } from './servers/redis.ts'

/**
 * Brings up the real servers that tests and development need, on free ports of 127.0.0.1:
 * `npm run servers -- up questdb mosquitto | down | status | env | fetch questdb`.
 */

const servers: Readonly<Record<string, DevelopmentServer>> = {
  questdb,
  mosquitto,
  postgres,
  mariadb,
  modbus,
  nats,
  opcua,
  rabbitmq,
  redis,
  kafka,
}

const fetched = Object.keys(servers).filter((name) => servers[name]?.fetch !== undefined)

const usage = `npm run servers -- COMMAND [SERVER ...] [--dir FOLDER]

  up SERVER ...     starts servers: ${Object.keys(servers).join(', ')}
  down [SERVER ...] stops them, all when none is named
  status            tells what runs
  env               prints where they are, as variables of a shell; tests start servers of their own
  fetch SERVER ...  only downloads what a server needs: ${fetched.join(', ')}

What they store is in FOLDER, which is ${join(toolsFolder, 'servers')} when none is given.`

const stopMs = 20_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string', default: join(toolsFolder, 'servers') } },
})
const [command = '', ...names] = positionals
const folder = resolve(values.dir)
mkdirSync(folder, { recursive: true })

const unknown = names.filter((name) => !Object.hasOwn(servers, name))
if (unknown.length > 0) fail(`there is no server ${unknown.join(', ')}\n\n${usage}`)

switch (command) {
  case 'up':
    if (names.length === 0) fail(usage)
    for (const name of names) await up(name)
    break
  case 'down':
    for (const name of names.length > 0 ? names : started()) await down(name)
    break
  case 'status':
    for (const name of started()) console.log(`${name} ${isUp(name) ? read(name).url : 'stopped'}`)
    break
  case 'env':
    for (const name of started().filter(isUp)) {
      console.log(`export ${servers[name]?.variable}=${read(name).url}`)
    }
    break
  case 'fetch':
    for (const name of names) await servers[name]?.fetch?.()
    break
  default:
    fail(usage)
}

async function up(name: string): Promise<void> {
  const server = servers[name]
  if (server === undefined) return
  if (isUp(name)) {
    console.log(`${name} is up already: ${read(name).url}`)
    return
  }
  const missing = server.missing()
  if (missing !== undefined) fail(missing)
  const running = await server.start(join(folder, name), await freePort())
  writeFileSync(fileOf(name), JSON.stringify(running))
  console.log(`${name} ${running.url}`)
}

async function down(name: string): Promise<void> {
  if (!existsSync(fileOf(name))) return
  const { pid } = read(name)
  if (pid === undefined) composeQuestDb('down')
  else if (isUp(name)) await stop(pid, servers[name]?.stopSignal ?? 'SIGTERM')
  rmSync(fileOf(name))
  console.log(`${name} is stopped; what it stored is in ${join(folder, name)}`)
}

async function stop(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal)
  const deadlineMs = performance.now() + stopMs
  while (isAlive(pid)) {
    if (performance.now() > deadlineMs) process.kill(pid, 'SIGKILL')
    await sleep(50)
  }
}

function started(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
}

function isUp(name: string): boolean {
  if (!existsSync(fileOf(name))) return false
  const { pid } = read(name)
  return pid === undefined || isAlive(pid)
}

/** Process ids are given anew, after a restart of the machine say: only one of ours counts. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.includes(folder)
}

function read(name: string): Running {
  return JSON.parse(readFileSync(fileOf(name), 'utf8')) as Running
}

function fileOf(name: string): string {
  return join(folder, `${name}.json`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
