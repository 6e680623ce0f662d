import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readOwner } from '../../src/config/folder-owner.ts'
import { launchServiceProcess, newDataDir } from '../../test/support/service-process.ts'
import { medianOf } from '../fleet.ts'
import { cpuSecondsOf } from '../process-cpu.ts'
import type { Figure } from '../report.ts'

const rounds = 5
const warmupAsks = 300

const buildSecondsMax = 5
const bytesMax = 3_000_000

/** How much more one start may take than another without anything being the cause. */
const startFactorMax = 1.05

/** What the page costs those who install and run the service. */
export async function serviceCost(): Promise<readonly Figure[]> {
  const project = copiedProject()
  try {
    const build = buildTimes(project)
    const built = join(project, 'node_modules/.cache/console')
    const aside = join(project, 'console-of-before')
    const withPage: Started[] = []
    const without: Started[] = []
    for (let round = 0; round < rounds; round++) {
      withPage.push(await started(project, pathsOf(built)))
      renameSync(built, aside)
      without.push(await started(project, pathsOf(aside)))
      renameSync(aside, built)
    }
    return [
      {
        name: 'npm ci: the build of the page, nothing kept from before',
        measured: `${build.cpuSeconds.toFixed(1)} s of a processor (${build.seconds.toFixed(1)} s beside others)`,
        target: 'at most 5 s',
        isMet: build.cpuSeconds <= buildSecondsMax,
      },
      ...figuresOf(withPage, without),
    ]
  } finally {
    rmSync(project, { recursive: true })
  }
}

function figuresOf(withPage: readonly Started[], without: readonly Started[]): readonly Figure[] {
  const median = (of: readonly Started[], figure: keyof Started) =>
    medianOf(of.map((one) => one[figure]))
  const [cpu, cpuWithout] = [median(withPage, 'cpuSeconds'), median(without, 'cpuSeconds')]
  const [ms, msWithout] = [median(withPage, 'listeningMs'), median(without, 'listeningMs')]
  const bytes = median(withPage, 'grownBytes') - median(without, 'grownBytes')
  return [
    {
      name: 'until it listens, with a page and without',
      measured: `${cpu.toFixed(2)} and ${cpuWithout.toFixed(2)} s of a processor (${ms.toFixed(0)} and ${msWithout.toFixed(0)} ms beside others)`,
      target: 'not later',
      isMet: cpu <= cpuWithout * startFactorMax,
    },
    {
      name: 'memory for all files of the page, asked for by two browsers',
      measured: `${(bytes / 1e6).toFixed(1)} MB`,
      target: 'under 3 MB',
      isMet: bytes < bytesMax,
    },
  ]
}

/** The project as somebody has cloned it, with the packages that are here. */
function copiedProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')
  for (const file of files.filter((name) => name !== '')) {
    mkdirSync(join(project, dirname(file)), { recursive: true })
    cpSync(file, join(project, file))
  }
  mkdirSync(join(project, 'node_modules'))
  for (const name of readdirSync('node_modules')) {
    if (name === '.cache') continue
    symlinkSync(resolve('node_modules', name), join(project, 'node_modules', name))
  }
  return project
}

/** How long it takes here, and how much of that it has had a processor: others use the machine, too. */
function buildTimes(project: string): { readonly seconds: number; readonly cpuSeconds: number } {
  const beganMs = performance.now()
  const command = `"${process.execPath}" scripts/build-console.js --strict >&2 && times`
  const options = {
    cwd: project,
    stdio: ['ignore', 'pipe', 'ignore'],
  } satisfies ExecFileSyncOptions
  const printed = execFileSync('sh', ['-c', command], options).toString()
  const seconds = (performance.now() - beganMs) / 1000
  // The shell's own times stand in the first line, those of what it has run in the second.
  const [, ofCommand = ''] = printed.trim().split('\n')
  const cpuSeconds = [...ofCommand.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
    0,
  )
  return { seconds, cpuSeconds }
}

/** What the service answers at, for each file of a page. */
function pathsOf(built: string): readonly string[] {
  const assets = readdirSync(join(built, 'assets')).filter((name) => !/\.(?:br|gz)$/.test(name))
  return ['/', ...assets.map((name) => `/console/assets/${name}`)]
}

interface Started {
  readonly listeningMs: number
  readonly cpuSeconds: number
  /** By which the process has grown when all was asked for. */
  readonly grownBytes: number
}

async function started(project: string, paths: readonly string[]): Promise<Started> {
  const dataDir = newDataDir()
  const beganMs = performance.now()
  const settings = { STREAMVAULT_CHECK_ANSWERS: 'off' }
  const service = await (await launchServiceProcess(dataDir, settings, project)).listening()
  const listeningMs = performance.now() - beganMs
  const pid = readOwner(dataDir)?.pid ?? 0
  const cpuSeconds = cpuSecondsOf(pid)
  // What answering itself takes is there already.
  for (let time = 0; time < warmupAsks; time++) await ask(service.http, ['/health/live'])
  const before = residentBytes(pid)
  await ask(service.http, paths)
  const grownBytes = residentBytes(pid) - before
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  return { listeningMs, cpuSeconds, grownBytes }
}

/** Asks for each path in the forms that browsers take. */
async function ask(http: string, paths: readonly string[]): Promise<void> {
  for (const coding of ['gzip', 'br']) {
    for (const path of paths) {
      const answer = await fetch(`${http}${path}`, { headers: { 'accept-encoding': coding } })
      await answer.arrayBuffer()
    }
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] =
    /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
