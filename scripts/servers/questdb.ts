import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DevelopmentServer, hasProgram, runningAt } from './development-server.ts'
import { fetchQuestDbJar, questDbJar } from './questdb-jar.ts'
import { runServer } from './run-server.ts'

/** Time for the first answer: it takes 2 s, and much longer on a machine that is busy. */
const startMs = 60_000

export interface QuestDbOptions {
  readonly folder: string
  readonly port: number
  /** Lines of server.conf. */
  readonly settings?: readonly string[]
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
  /** Whether it is there sooner, with half the work, and is slower afterwards. */
  readonly startsQuickly?: boolean
}

/** Nothing but HTTP on this machine, and little memory for each column of each table. */
const modestSettings = [
  'pg.enabled=false',
  'line.tcp.enabled=false',
  'http.min.enabled=false',
  'telemetry.enabled=false',
  'shared.worker.count=2',
  'cairo.wal.writer.data.append.page.size=131072',
  'cairo.writer.data.append.page.size=262144',
  'cairo.o3.column.memory.size=262144',
]

/**
 * Starts QuestDB from the jar, and resolves when it answers.
 *
 * @throws Error when it ends before, or takes too long
 */
export async function startQuestDb(options: QuestDbOptions): Promise<ChildProcess> {
  const { folder, port, settings = [], outlives = false, startsQuickly = false } = options
  mkdirSync(join(folder, 'conf'), { recursive: true })
  const lines = [`http.bind.to=127.0.0.1:${port}`, ...modestSettings, ...settings]
  writeFileSync(join(folder, 'conf', 'server.conf'), `${lines.join('\n')}\n`)
  const memory = ['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC']
  const compiling = startsQuickly ? ['-XX:TieredStopAtLevel=1'] : []
  // It unpacks its library of machine code there, and a kill would leave it behind for ever.
  const temporary = `-Djava.io.tmpdir=${folder}`
  const program = ['-p', questDbJar, '-m', 'io.questdb/io.questdb.ServerMain', '-d', folder]
  return await runServer({
    name: 'QuestDB',
    command: ['java', ...memory, ...compiling, temporary, ...program],
    folder,
    outlives,
    isReady: async () => await answers(port),
  })
}

/** @throws Error when it takes too long */
async function untilItAnswers(port: number): Promise<void> {
  const deadlineMs = performance.now() + startMs
  while (!(await answers(port))) {
    if (performance.now() > deadlineMs) throw new Error(`QuestDB does not answer at port ${port}`)
    await sleep(50)
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    const url = `http://127.0.0.1:${port}/exec?query=select%201`
    const { ok } = await fetch(url, { signal: AbortSignal.timeout(1_000) })
    return ok
  } catch {
    return false
  }
}

/** Where there is no Java, it runs in the container of docker-compose.yml, at its usual port. */
export const questdb: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_QUESTDB_URL',
  missing: () => {
    if (hasProgram('java')) return undefined
    const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0
    return hasDocker ? undefined : 'QuestDB needs java (17 or later) and mvn, or docker'
  },
  start: async (folder, port) => {
    if (hasProgram('java')) {
      await fetchQuestDbJar()
      const child = await startQuestDb({ folder, port, outlives: true })
      return runningAt(`questdb://127.0.0.1:${port}`, child)
    }
    composeQuestDb('up', '--detach')
    await untilItAnswers(containerPort)
    return { url: `questdb://127.0.0.1:${containerPort}` }
  },
  fetch: async () => {
    if (hasProgram('java')) await fetchQuestDbJar()
  },
}

const containerPort = 9_000

/** Tells docker compose what to do with the container. */
export function composeQuestDb(command: 'up' | 'down', ...options: readonly string[]): void {
  const args = ['compose', '--profile', 'questdb', command, ...options, 'questdb']
  execFileSync('docker', args, { stdio: 'inherit' })
}
