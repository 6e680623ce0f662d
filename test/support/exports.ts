import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Answer } from './api-client.ts'
import type { RunningService } from './running-service.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** An export or import as the service tells of it. */
export interface JobBody {
  readonly exportId: string
  readonly importId: string
  readonly state: string
  readonly rows: number
  readonly bytes: number
  readonly progress: number
  readonly failure: { readonly error: string; readonly message: string } | null
  readonly files: readonly ExportedFile[]
  readonly [member: string]: unknown
}

export interface ExportedFile {
  readonly name: string
  readonly streamId: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

/** Somebody who can ask the service. */
export interface Asker {
  withToken<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>>
}

/** Asks until a job is in one of these states. */
export async function jobIn(
  asker: Asker,
  path: string,
  states: readonly string[] = ['completed', 'failed', 'cancelled'],
): Promise<JobBody> {
  for (let attempt = 0; attempt < 3_000; attempt++) {
    const { body } = await asker.withToken<JobBody>('GET', path)
    if (states.includes(body.state)) return body
    await sleep(20)
  }
  throw new Error(`${path} does not come to ${states.join(' or ')}`)
}

/** Makes an export and waits for its end. */
export async function exported(asker: Asker, body: object): Promise<JobBody> {
  const made = await asker.withToken<JobBody>('POST', '/exports', body)
  if (made.status !== 202) throw new Error(JSON.stringify(made.body))
  return await jobIn(asker, `/exports/${made.body.exportId}`)
}

/** Asks for a file of an export, as the bootstrap user. */
export async function download(
  service: Pick<RunningService, 'api' | 'process'>,
  job: JobBody,
  file: ExportedFile | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const path = `/exports/${job.exportId}/files/${file?.name}`
  const authorization = `Bearer ${await service.api.token()}`
  return await fetch(service.process.http + path, { headers: { authorization, ...headers } })
}

/** The rows of a Parquet file, as a fresh reader finds them, and the types of its columns. */
export async function parquetRows(bytes: ArrayBuffer) {
  using folder = new TemporaryFolder()
  const path = folder.file('readings.parquet')
  writeFileSync(path, new Uint8Array(bytes))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  const found = await connection.runAndReadAll(`SELECT * FROM '${path}'`)
  const types = await connection.runAndReadAll(`DESCRIBE SELECT * FROM '${path}'`)
  connection.closeSync()
  instance.closeSync()
  const typed = types.getRowObjectsJson().map((row) => [row['column_name'], row['column_type']])
  return {
    rows: found.getRowObjectsJson(),
    types: Object.fromEntries(typed) as Readonly<Record<string, string>>,
  }
}
