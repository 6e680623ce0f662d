import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { FaultyService } from '../../support/faulty-service.ts'
import { foundIn } from '../../support/left-by-a-kill.ts'
import {
  assetStreamOf,
  attachmentAsItIs,
  attachmentOf,
  type ShownAttachment,
  upload,
} from '../../support/uploads.ts'

/** Where the steps of an upload are made durable, by a part of the paths of their files. */
const places = ['files/staged', 'files/scratch', 'files/content', 'state.db']

/** Steps of one place that are tried: an upload of three files has fewer. */
const stepsMax = 12

let service: FaultyService
let streamId: string

beforeAll(async () => {
  service = await FaultyService.start()
  streamId = await assetStreamOf(service.api)
})

afterAll(async () => await service[Symbol.asyncDispose]())

interface Upload {
  readonly wanted: object
  readonly bytes: (attempt: string) => Promise<Uint8Array<ArrayBuffer>>
  readonly files: number
}

const uploads: Readonly<Record<string, Upload>> = {
  'a file': {
    wanted: {},
    bytes: async (attempt) => Buffer.from(`a file of ${attempt}`.padEnd(300_000, '.')),
    files: 1,
  },
  'an archive': { wanted: { upload_as_zip: true }, bytes: archiveOf, files: 3 },
}

async function archiveOf(attempt: string): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new ZipFile()
  for (const name of ['a', 'b/c', 'b/d']) {
    archive.addBuffer(Buffer.from(`${name} of ${attempt}`), name)
  }
  archive.end()
  return new Uint8Array(await buffer(archive.outputStream))
}

const cases = Object.entries(uploads).flatMap(([what, one]) =>
  places.map((place) => [what, place, one] as const),
)

describe.each(cases)('an upload of %s that is killed where it syncs %s', (what, place, one) => {
  test('is whole or can be made again, and leaves nothing that nobody needs', async () => {
    let kills = 0
    for (let step = 0; step < stepsMax; step++) {
      if (!(await killedAt(place, step, { what, ...one }))) break
      kills++
    }
    // Files of an archive are written in one folder and looked at in another; a file is not copied.
    if (place !== 'files/scratch') expect(kills).toBeGreaterThan(0)
  })
})

/** Resolves with whether the upload came to that step. */
async function killedAt(
  place: string,
  step: number,
  { what, wanted, bytes, files }: Upload & { readonly what: string },
): Promise<boolean> {
  const made = await attachmentOf(service.api, { ...wanted, stream_id: streamId })
  const body = await bytes(`${what}, ${place}, ${step}`)
  service.faults.begin('hold-sync', place, step)
  let isAnswered = false
  const sent = upload(service.api, made.presigned_url, body)
    .catch(() => undefined)
    .finally(() => (isAnswered = true))
  await service.until('the step is met', async () => isAnswered || service.faults.isMet)
  const isMet = !isAnswered
  await service.kill()
  await sent
  await service.restart()

  const { id, presigned_url: url } = await settled(made)
  if (url !== '') expect((await upload(service.api, url, body)).status).toBe(200)
  const after = await attachmentAsItIs(service.api, id)
  expect(after).toMatchObject({ status: 'METADATA_STORED', file_count: files })
  expect(after.progress.map(({ status }) => status)).toEqual([
    'SERVICE_RECEIVED',
    'UPLOAD_PENDING',
    'METADATA_STORED',
  ])
  await service.until('all contents are needed', async () => isTidy())
  return isMet
}

/** The attachment once the service has looked at what was left of its upload. */
async function settled({ id }: ShownAttachment): Promise<ShownAttachment> {
  await service.until('nothing is staged', async () => namesIn('staged').length === 0)
  return await attachmentAsItIs(service.api, id)
}

function isTidy(): boolean {
  const kept = namesIn('content').flatMap((end) => namesIn(join('content', end)))
  const known = foundIn(service.dataDir, 'state.db', '(SELECT count(*) FROM contents)')
  return kept.length === known && namesIn('scratch').length === 0
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(join(service.dataDir, 'files', folder))
}
