import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chainOf, textsIn, wrongAnchors } from '../support/anchor-facts.ts'
import { type AnchoredPath, atStatus, makers, pathOf } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { newEarlierIds, writeEarlierTwins } from '../support/earlier-twins.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const paths = Object.keys(makers) as AnchoredPath[]

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
  await Promise.all(paths.map(async (path) => pathOf(path, await makers[path](api))))

const untilCompleted = async (api: ApiClient, made: readonly string[]) => {
  for (const path of made) await atStatus(api, path, 'COMPLETED')
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
        made.map(async (path) => {
          const { body } = await api.withKey<{ proof?: object }>('GET', `${path}/proof`)
          // That of a signature has the proof within, beside what was signed.
          return body.proof ?? body
        }),
      )
    })
    expect(wrongAnchors(dataDir())).toEqual([])
    expect(proofs).toMatchObject(made.map(() => ({ final: true })))
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
