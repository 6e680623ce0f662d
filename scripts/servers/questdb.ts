import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { questDbJar } from './questdb-jar.ts'

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
  const log = openSync(join(folder, 'log'), 'a')
  const memory = ['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC']
  const program = ['-p', questDbJar, '-m', 'io.questdb/io.questdb.ServerMain', '-d', folder]
  const compiling = startsQuickly ? ['-XX:TieredStopAtLevel=1'] : []
  const child = spawn('java', [...memory, ...compiling, ...program], {
    stdio: ['ignore', log, log],
    detached: outlives,
  })
  if (outlives) child.unref()
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const ended = new Promise<never>((_, reject) =>
    child.once('exit', (code) =>
      reject(new Error(`QuestDB ended with ${code}: see ${folder}/log`)),
    ),
  )
  ended.catch(() => undefined)
  await Promise.race([failed, ended, untilItAnswers(port)])
  return child
}

/** @throws Error when it takes too long */
export async function untilItAnswers(port: number): Promise<void> {
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
