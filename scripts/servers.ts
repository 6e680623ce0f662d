import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startMosquitto } from './servers/mosquitto.ts'
import { startQuestDb, untilItAnswers } from './servers/questdb.ts'
import { fetchQuestDbJar, toolsFolder } from './servers/questdb-jar.ts'

/**
 * Brings up the real servers that tests and development need, on free ports of 127.0.0.1:
 * `npm run servers -- up questdb mosquitto | down | status | env | fetch questdb`.
 */

const usage = `npm run servers -- COMMAND [SERVER ...] [--dir FOLDER]

  up SERVER ...     starts servers: questdb, mosquitto
  down [SERVER ...] stops them, all when none is named
  status            tells what runs
  env               prints what to export, so that tests and the service find them
  fetch questdb     only downloads what the server needs

What they store is in FOLDER, which is ${join(toolsFolder, 'servers')} when none is given.`

/** A server that was started, as it stands in FOLDER/NAME.json. */
interface Running {
  readonly url: string
  /** None: it runs in a container. */
  readonly pid?: number
}

/** What the settings are called that say where a server is. */
const variables: Readonly<Record<string, string>> = {
  questdb: 'STREAMVAULT_TEST_QUESTDB_URL',
  mosquitto: 'STREAMVAULT_TEST_MQTT_URL',
}

const stopMs = 20_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string', default: join(toolsFolder, 'servers') } },
})
const [command = '', ...names] = positionals
const folder = resolve(values.dir)
mkdirSync(folder, { recursive: true })

const unknown = names.filter((name) => !Object.hasOwn(variables, name))
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
      console.log(`export ${variables[name]}=${read(name).url}`)
    }
    break
  case 'fetch':
    if (names.includes('questdb') && has('java')) await fetchQuestDbJar()
    break
  default:
    fail(usage)
}

async function up(name: string): Promise<void> {
  if (isUp(name)) {
    console.log(`${name} is up already: ${read(name).url}`)
    return
  }
  const running = name === 'questdb' ? await questDb() : await mosquitto()
  writeFileSync(fileOf(name), JSON.stringify(running))
  console.log(`${name} ${running.url}`)
}

async function questDb(): Promise<Running> {
  if (has('java')) {
    await fetchQuestDbJar()
    const port = await freePort()
    const { pid } = await startQuestDb({ folder: join(folder, 'questdb'), port, outlives: true })
    if (pid === undefined) throw new Error('QuestDB was not started')
    return { url: `questdb://127.0.0.1:${port}`, pid }
  }
  if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status !== 0) {
    fail('QuestDB needs java (17 or later) and mvn, or docker')
  }
  compose('up', '--detach', 'questdb')
  await untilItAnswers(9000)
  return { url: 'questdb://127.0.0.1:9000' }
}

async function mosquitto(): Promise<Running> {
  if (!has('mosquitto')) fail('mosquitto is not installed: the Debian package is called mosquitto')
  const port = await freePort()
  const pid = startMosquitto(join(folder, 'mosquitto'), port)
  return { url: `mqtt://127.0.0.1:${port}`, pid }
}

async function down(name: string): Promise<void> {
  if (!existsSync(fileOf(name))) return
  const { pid } = read(name)
  if (pid === undefined) compose('down', 'questdb')
  else if (isUp(name)) await stop(pid)
  rmSync(fileOf(name))
  console.log(`${name} is stopped; what it stored is in ${join(folder, name)}`)
}

async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const deadlineMs = performance.now() + stopMs
  while (isAlive(pid)) {
    if (performance.now() > deadlineMs) process.kill(pid, 'SIGKILL')
    await sleep(50)
  }
}

function compose(...args: readonly string[]): void {
  execFileSync('docker', ['compose', '--profile', 'questdb', ...args], { stdio: 'inherit' })
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

function has(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
