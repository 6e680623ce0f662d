import { execFile } from 'node:child_process'
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ZipFile } from 'yazl'
import { readOwner } from '../src/config/folder-owner.ts'
import { ApiClient } from '../test/support/api-client.ts'
import {
  newDataDir,
  publicAddress,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import { assetStreamOf, attachmentOf } from '../test/support/uploads.ts'
import { writeLargeFile } from './large-file.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { type Figure, measureAll } from './report.ts'
import { flagsOf, mqttFlags, mqttTargetOf, runGenerator } from './servers.ts'

const mib = 1024 * 1024
const uploadBytes = 1024 * mib
const entries = 10_000

/** Readings that are sent meanwhile, as `bench/background-work.ts` sends them. */
const rate = 5_000
const seconds = 15

const run = promisify(execFile)

/** How fast files come in, and what readings feel of it: `npm run bench:files`. */
async function main(): Promise<void> {
  await measureAll({ upload, beside, archive }, process.argv.slice(2))
}

/** A large file, uploaded with curl as a user would. */
async function upload(): Promise<readonly Figure[]> {
  return await withService(async ({ api, service, folder, streamId }) => {
    const path = largeFile(folder)
    const sent = await uploaded(api, { path, streamId })
    const peak = peakMb(service)
    return [
      {
        name: 'an upload of 1 GiB, with SHA-256 and CID',
        measured: `${sent.mibPerSecond.toFixed(0)} MiB/s (${sent.seconds.toFixed(1)} s)`,
        target: 'at least 100 MiB/s',
        isMet: sent.mibPerSecond >= 100,
      },
      {
        name: 'memory of the process during that upload',
        measured: `${peak.toFixed(0)} MB at most`,
        target: 'under 300 MB',
        isMet: peak < 300,
      },
    ]
  })
}

/** Acknowledgements of readings while large files come, one after the other. */
async function beside(): Promise<Figure> {
  return await withService(async ({ api, service, folder, streamId }) => {
    const path = largeFile(folder)
    const target = await api.createStream({ temperature: { type: 'number' } })
    const load = async () => {
      const result = await runGenerator<MqttLoadResult>('mqtt-load', [
        ...mqttFlags(mqttTargetOf(service, [target])),
        ...flagsOf({ rate, seconds, warmup: 3 }),
      ])
      return result.latencyUs.p99 / 1_000
    }
    const alone = await load()
    const state = { isOver: false, done: 0 }
    const uploading = (async () => {
      for (; !state.isOver; state.done++) await uploaded(api, { path, streamId })
    })()
    const meanwhile = await load()
    state.isOver = true
    await uploading
    return {
      name: `p99 of acknowledgements at ${rate}/s beside uploads of 1 GiB`,
      measured: `${meanwhile.toFixed(1)} ms, ${alone.toFixed(1)} ms without: ${(meanwhile / alone).toFixed(2)} times; ${state.done} uploads`,
      target: 'at most 1.5 times',
      isMet: meanwhile <= 1.5 * alone,
    }
  })
}

/** An archive of very many small files. */
async function archive(): Promise<Figure> {
  return await withService(async ({ api, folder, streamId }) => {
    const path = join(folder, 'many.zip')
    await manyEntries(path)
    const { seconds: took } = await uploaded(api, { path, streamId, isArchive: true })
    return {
      name: `an archive of ${entries.toLocaleString('en')} entries, uploaded and unpacked`,
      measured: `${took.toFixed(1)} s`,
      target: 'within 5 s',
      isMet: took <= 5,
    }
  })
}

interface Running {
  readonly api: ApiClient
  readonly service: ServiceProcess
  readonly folder: string
  readonly streamId: string
}

async function withService<Result>(work: (running: Running) => Promise<Result>): Promise<Result> {
  const dataDir = newDataDir()
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const settings = { STREAMVAULT_CHECK_ANSWERS: 'off', ...(await publicAddress()) }
  const service = await startServiceProcess(dataDir, settings)
  const api = new ApiClient(service.http)
  try {
    return await work({ api, service, folder, streamId: await assetStreamOf(api) })
  } finally {
    await service.end('SIGTERM')
    for (const path of [dataDir, folder]) rmSync(path, { recursive: true })
  }
}

interface UploadedFile {
  readonly path: string
  readonly streamId: string
  readonly isArchive?: boolean
}

async function uploaded(api: ApiClient, { path, streamId, isArchive = false }: UploadedFile) {
  const wanted = { stream_id: streamId, upload_as_zip: isArchive }
  const { id, presigned_url: url } = await attachmentOf(api, wanted)
  const format = '%{time_total} %{http_code} %{size_upload}'
  const { stdout } = await run('curl', ['-s', '-o', '/dev/null', '-w', format, '-T', path, url])
  const [took = 0, status, bytes = 0] = stdout.split(' ').map(Number)
  if (status !== 200) throw new Error(`the upload was answered ${status}`)
  await api.withKey('DELETE', `/attachments/${id}`)
  return { seconds: took, mibPerSecond: bytes / mib / took }
}

function largeFile(folder: string): string {
  const path = join(folder, 'large')
  writeLargeFile(path, uploadBytes)
  return path
}

async function manyEntries(path: string): Promise<void> {
  const zip = new ZipFile()
  for (let index = 0; index < entries; index++) {
    const text = `entry ${index} of many, with a few hundred characters\n`.repeat(10)
    zip.addBuffer(Buffer.from(text), `folder ${index % 100}/entry ${index}.txt`)
  }
  zip.end()
  const file = openSync(path, 'w')
  for await (const piece of zip.outputStream) writeSync(file, piece as Buffer)
  fsyncSync(file)
  closeSync(file)
}

/** The most memory that the process has had, in MB. */
function peakMb({ dataDir }: ServiceProcess): number {
  const pid = readOwner(dataDir)?.pid ?? 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024
}

if (import.meta.main) await main()
