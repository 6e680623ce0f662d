import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { heldFiles, keptContents, releasedFiles } from '../../src/files/contents/content-rows.ts'
import { ContentTurns } from '../../src/files/contents/content-turns.ts'
import { UnusedContents } from '../../src/files/contents/unused-contents.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import type { StateWriter } from '../../src/storage/state/database.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

const [one, other] = ['bafkreiaaaaaaaaaaaaaaaaaaaaaaaca', 'bafkreiaaaaaaaaaaaaaaaaaaaaaaada']

test('contents that were kept for nothing go, and those that something names stay', async () => {
  await using service = await opened()
  for (const cid of [one, other]) await service.keep(cid)
  const named = { ...contentOf(one), name: 'a' }
  const { state } = service.state
  await service.state.commit(...keptContents(state, [named], 0), ...heldFiles(state, 'x', [named]))

  await service.unused.note([one, other])
  await service.unused.removeReleased()

  expect(await service.kept()).toEqual([one])
  expect(await service.unused.removeReleased()).toBe(false)
})

test('a content that is released while it is looked at goes with the next look', async () => {
  await using service = await opened()
  await service.keep(one)
  const named = { ...contentOf(one), name: 'a' }
  const { state } = service.state
  await service.state.commit(...keptContents(state, [named], 0), ...heldFiles(state, 'x', [named]))
  await service.unused.note([one])
  service.afterNextWrite(() => service.state.commit(releasedFiles(state, 'x')))

  await service.unused.removeReleased()
  await service.unused.removeReleased()

  expect(await service.kept()).toEqual([])
})

test('a content that could not be removed goes with the next look', async () => {
  await using service = await opened()
  await service.state.commit(...keptContents(service.state.state, [contentOf(one)], 0))
  await service.unused.note([one])
  mkdirSync(service.pathOf(one), { recursive: true })
  await expect(service.unused.removeReleased()).rejects.toThrow(one)
  rmSync(service.pathOf(one), { recursive: true })
  await service.keep(one)

  await service.unused.removeReleased()

  expect(await service.kept()).toEqual([])
})

function contentOf(cid: string) {
  return { cid, size: 1, sha256: '', mediaType: '' }
}

/** A state and a folder of files, and nobody who looks without being asked. */
async function opened() {
  const folder = new TemporaryFolder()
  const state = await TestState.open()
  const store = await openFileStore({
    address: { kind: 'folder' },
    folder: folder.file('files'),
    clock: systemClock,
    spareBytes: 0,
    clearsLeftovers: true,
  })
  const turns = new ContentTurns()
  let next: (() => Promise<void>) | undefined
  const written = async () => {
    const now = next
    next = undefined
    await now?.()
  }
  const writer: StateWriter = {
    commit: (...changes) => state.commit(...changes).then(written),
    async attempt(...changes) {
      const isMade = await state.attempt(...changes)
      await written()
      return isMade
    },
  }
  const needs = { store, state: state.state, writer, turns, onFailure: () => undefined }
  return {
    state,
    unused: new UnusedContents(needs),
    /** What somebody else does in the middle of the next look. */
    afterNextWrite(work: () => Promise<void>): void {
      next = work
    },
    pathOf: (cid: string) => folder.file(`files/content/${cid.slice(-2, -1)}/${cid}`),
    async keep(cid: string): Promise<void> {
      writeFileSync(folder.file(cid), 'x')
      await store.keep([{ cid, path: folder.file(cid) }])
    },
    kept: async () => (await Array.fromAsync(store.contents())).map(({ cid }) => cid),
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close()
      await state[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
