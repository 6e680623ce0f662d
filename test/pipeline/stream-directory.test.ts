import { expect, test } from 'vitest'
import type { StreamVersion } from '../../src/contracts/reading.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { StreamDirectory } from '../../src/ingest/pipeline/stream-directory.ts'

const receipt = { receivedAtUs: 1_000_000, judgedAtUs: undefined, futureToleranceUs: 0 }

function schemaOf(max: number): StreamSchema {
  return {
    fields: { temperature: { type: 'number', max } },
    validation: 'strict',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  }
}

function directoryOf(versions: Readonly<Record<StreamId, Partial<StreamVersion>>>) {
  return new StreamDirectory(async (streamId) => ({
    streamId,
    ownerId: newId<UserId>(),
    version: 1,
    schema: schemaOf(10),
    ...versions[streamId],
  }))
}

async function isTaken(directory: StreamDirectory, id: StreamId, temperature: number) {
  const stream = await directory.find(id)
  return stream?.judge({ temperature }, receipt).accepted
}

test('streams of one definition share what it is compiled to, and no others', async () => {
  const [first, same, other, paused] = Array.from({ length: 4 }, () => newId<StreamId>()) as [
    StreamId,
    StreamId,
    StreamId,
    StreamId,
  ]
  const directory = directoryOf({
    // An equal object, and not the same one: each stream is read for itself.
    [same]: { schema: schemaOf(10) },
    [other]: { schema: schemaOf(20) },
    [paused]: { isPaused: true },
  })

  const [one, two] = [await directory.find(first), await directory.find(same)]
  expect(two?.schema).toBe(one?.schema)
  expect(two?.judge).toBe(one?.judge)
  expect([one?.streamId, two?.streamId]).toEqual([first, same])
  expect(await isTaken(directory, first, 15)).toBe(false)
  expect(await isTaken(directory, other, 15)).toBe(true)
  expect(await isTaken(directory, paused, 5)).toBe(false)
  expect(await isTaken(directory, same, 5)).toBe(true)
})

test('a definition with a transform is not that without', async () => {
  const [plain, changed] = [newId<StreamId>(), newId<StreamId>()]
  const transform = [{ scale: { field: 'temperature', factor: 2, offset: 0 } }]
  const directory = directoryOf({ [changed]: { transform } })

  const values = async (id: StreamId) => {
    const verdict = (await directory.find(id))?.judge({ temperature: 4 }, receipt)
    return verdict?.accepted && !verdict.isFiltered && verdict.values
  }
  expect(await values(plain)).toBe('{"temperature":4}')
  expect(await values(changed)).toBe('{"temperature":8}')
})

test('a slot is empty once its stream was changed, and that of the next version is another', async () => {
  const id = newId<StreamId>()
  let version = 1
  const directory = new StreamDirectory(async (streamId) => {
    return { streamId, ownerId: newId<UserId>(), version, schema: schemaOf(10) }
  })
  expect(directory.slot(id)).toBeUndefined()
  await directory.find(id)
  const slot = directory.slot(id)
  expect(slot?.stream?.version).toBe(1)

  version = 2
  directory.forget(id)
  expect(slot?.stream).toBeUndefined()
  expect(directory.slot(id)).toBeUndefined()
  await directory.find(id)
  expect(slot?.stream).toBeUndefined()
  expect(directory.slot(id)?.stream?.version).toBe(2)
})
