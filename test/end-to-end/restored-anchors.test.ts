import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chainOf, textsIn, wrongAnchors } from '../support/anchor-facts.ts'
import {
  type Anchored,
  assetOf,
  atStatus,
  completedStream,
  independentPaths,
  makers,
  pathOf,
} from '../support/anchored.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { ApiClient } from '../support/api-client.ts'
import { newEarlierIds, writeEarlierTwins } from '../support/earlier-twins.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { Signer } from '../support/signers.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { attachmentAsItIs, attachmentOf, upload } from '../support/uploads.ts'

let folder: TemporaryFolder
let process: ServiceProcess | undefined

beforeEach(() => (folder = new TemporaryFolder()))

afterEach(async () => {
  await process?.end('SIGKILL')
  folder[Symbol.dispose]()
})

const dataDir = () => folder.file('data')

/** What is done with a service that is stopped again. */
async function withService<Result>(
  anchoring: 'on' | 'off',
  work: (api: ApiClient) => Promise<Result>,
): Promise<Result> {
  process = await startServiceProcess(dataDir(), { STREAMVAULT_ANCHORING: anchoring })
  const result = await work(new ApiClient(process.http))
  await process.end('SIGTERM')
  process = undefined
  return result
}

const makeAll = async (api: ApiClient) =>
  await Promise.all(independentPaths.map(async (path) => pathOf(path, await makers[path](api))))

const untilCompleted = async (api: ApiClient, made: readonly string[]) => {
  for (const path of made) await atStatus(api, path, 'COMPLETED')
}

interface ShownProof {
  readonly final?: boolean
  /** A signature shows itself, too. */
  readonly proof?: ShownProof
}

function isFinal({ final, proof }: ShownProof): boolean | undefined {
  return proof ? isFinal(proof) : final
}

/** Copies files of the data folder into another one, or back. */
function copy(names: readonly string[], from: string, to: string): void {
  for (const name of names) {
    rmSync(join(to, name), { recursive: true, force: true })
    cpSync(join(from, name), join(to, name), { recursive: true, force: true })
  }
}

describe('a state that is older than its ledger', () => {
  test('finds what is on the ledger, and puts nothing on it twice', async () => {
    const made = await withService('off', makeAll)
    copy(['state.db'], dataDir(), folder.file('yesterday'))
    await withService('on', async (api) => {
      await untilCompleted(api, made)
      // Yesterday knows nothing of these.
      await untilCompleted(api, await makeAll(api))
    })
    const today = chainOf(dataDir())
    copy(['state.db'], folder.file('yesterday'), dataDir())
    const proofs = await withService('on', async (api) => {
      await untilCompleted(api, made)
      expect(chainOf(dataDir())).toEqual(today)
      await untilCompleted(api, await makeAll(api))
      return await Promise.all(
        made.map(async (path) =>
          isFinal((await api.withKey<ShownProof>('GET', `${path}/proof`)).body),
        ),
      )
    })
    expect(wrongAnchors(dataDir())).toEqual([])
    expect(proofs).toEqual(made.map(() => true))
  })
})

describe('a state from before there was the content', () => {
  test('puts neither that nor its signatures on the ledger twice, when it comes again', async () => {
    const signer = new Signer('ES256')
    const { id, made } = await withService('off', async (api) => {
      const attachment = (await attachmentOf(api)).id
      const path = `/attachments/${attachment}/signatures`
      const bodies = [{}, signer.bodyFor(cidOf('hello'))]
      const ids = await Promise.all(
        bodies.map(async (body) => (await api.withKey<{ id: string }>('POST', path, body)).body.id),
      )
      const signatures = ids.map((one) => `${path}/${one}`)
      return { id: attachment, made: [`/attachments/${attachment}`, ...signatures] }
    })
    copy(['state.db'], dataDir(), folder.file('yesterday'))
    const completed = async () =>
      await withService('on', async (api) => {
        const { presigned_url: url } = await attachmentAsItIs(api, id)
        expect((await upload(api, url, 'hello')).status).toBe(200)
        await untilCompleted(api, made)
        return await Promise.all(made.map(async (path) => (await api.withKey('GET', path)).body))
      })
    const before = await completed()
    const today = chainOf(dataDir())
    copy(['state.db'], folder.file('yesterday'), dataDir())

    const after = await completed()

    expect(chainOf(dataDir())).toEqual(today)
    const words = ['signature', 'tx_hash', 'cid']
    const of = (bodies: readonly unknown[]) =>
      bodies.map((body) => words.map((word) => (body as Record<string, unknown>)[word]))
    expect(of(after)).toEqual(of(before))
    expect(wrongAnchors(dataDir())).toEqual([])
  })
})

describe('a state from before an asset was on the ledger', () => {
  test('finds it there, and issues nothing twice', async () => {
    const stream = await withService('on', completedStream)
    const path = await withService('off', async (api) => await assetOf(api, stream))
    copy(['state.db'], dataDir(), folder.file('yesterday'))
    const issued = async () =>
      await withService('on', async (api) => {
        const { tx_hash: hash } = await atStatus(api, path, 'COMPLETED')
        const { body } = await api.withKey<Anchored>('GET', stream)
        return { hash, mapping: body['mapping'] }
      })
    const before = await issued()
    const today = chainOf(dataDir())
    copy(['state.db'], folder.file('yesterday'), dataDir())

    expect(await issued()).toEqual(before)

    expect(before.mapping).toMatch(/^[0-9a-f]{64}$/)
    expect(chainOf(dataDir())).toEqual(today)
    expect(wrongAnchors(dataDir())).toEqual([])
  })
})

describe('a ledger that is older than its state', () => {
  test('gets again what it has lost, and nothing changes for users', async () => {
    const before = await withService('on', async (api) => {
      const made = await makeAll(api)
      await untilCompleted(api, made)
      return made
    })
    copy(['ledger'], dataDir(), folder.file('yesterday'))
    const lost = await withService('on', async (api) => {
      const made = await makeAll(api)
      await untilCompleted(api, made)
      return made
    })
    const today = chainOf(dataDir())
    copy(['ledger'], folder.file('yesterday'), dataDir())
    await withService('on', async (api) => {
      await untilCompleted(api, await makeAll(api))
      await untilCompleted(api, [...before, ...lost])
    })
    const { sequences, intents } = chainOf(dataDir())
    for (const intent of today.intents.keys()) expect(intents.get(intent)).toBe(1)
    expect(sequences).toEqual(sequences.map((_, at) => at + 1))
    expect(wrongAnchors(dataDir())).toEqual([])
  })
})

describe('a state from before there were anchors', () => {
  test('is anchored, and anchored only once when it is restored', async () => {
    const old = folder.file('old')
    mkdirSync(dataDir())
    mkdirSync(old)
    const ids = newEarlierIds()
    await writeEarlierTwins(join(old, 'state.db'), ids, false)
    copy(['state.db'], old, dataDir())
    const anchored = async () =>
      await withService('on', async () => {
        await expect.poll(() => openIn(dataDir()), { timeout: 60_000 }).toEqual([])
      })
    await anchored()
    const { intents, sequences } = chainOf(dataDir())
    expect(sequences).toEqual([1, 2, 3])
    expect(textsIn(dataDir(), 'quiet AS text FROM events')).toEqual(['1', '1', '1'])
    expect(textsIn(dataDir(), 'id AS text FROM inbox_entries')).toEqual([])

    // The keys of users are in the state: a service makes another one for who starts it.
    copy(['state.db'], old, dataDir())
    await anchored()
    expect(chainOf(dataDir())).toEqual({ intents, sequences })
  })
})

/** What is not anchored yet. */
function openIn(path: string): readonly string[] {
  return [
    ...textsIn(path, 'resource_id AS text FROM unanchored'),
    ...textsIn(path, "id || ' ' || state AS text FROM anchors WHERE state <> 'completed'"),
  ]
}
