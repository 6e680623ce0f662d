import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { ContentTurns } from '../../src/files/contents/content-turns.ts'
import { UnusedContents } from '../../src/files/contents/unused-contents.ts'
import type { FileStore } from '../../src/files/store/file-store.ts'
import { folderStore, keptContent, knownContent } from '../support/folder-store.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

let state: TestState
let store: FileStore
/** What a removal from the store waits for. */
let beforeRemoval: Promise<void>
let removals: number

beforeEach(async () => {
  const folder = new TemporaryFolder()
  const opened = await TestState.open()
  state = opened
  store = await folderStore(folder.file('files'))
  beforeRemoval = Promise.resolve()
  removals = 0
  onTestFinished(async () => {
    await opened[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
})

function unusedContents(): UnusedContents {
  return new UnusedContents({
    store: {
      contents: () => store.contents(),
      async remove(cid) {
        removals++
        await beforeRemoval
        await store.remove(cid)
      },
    },
    state: state.state,
    writer: state,
    turns: new ContentTurns(),
    onFailure(error) {
      throw error
    },
  })
}

async function released(bytes: string): Promise<string> {
  const cid = await keptContent(store, bytes)
  await knownContent(state.state, state, { cid, size: bytes.length })
  await state.commit(state.state.insertInto('released_contents').values({ cid }))
  return cid
}

async function there(): Promise<readonly string[]> {
  const found = await Array.fromAsync(store.contents())
  return found.map(({ cid }) => cid)
}

test('removes nothing that the state knows while it is held, and what it does not know', async () => {
  const unused = unusedContents()
  const cid = await released('unused')
  await keptContent(store, 'unknown')

  await unused.hold()
  expect(await unused.removeReleased()).toBe(false)
  await unused.removeUnnamed(AbortSignal.timeout(60_000))
  expect(await there()).toEqual([cid])

  unused.release()
  await unused.removeReleased()
  expect(await there()).toEqual([])
})

test('is held once what is being removed is gone', async () => {
  const unused = unusedContents()
  for (const bytes of ['one', 'two', 'three']) await released(bytes)
  const going = Promise.withResolvers<void>()
  beforeRemoval = going.promise
  const removing = unused.removeReleased()
  await expect.poll(() => removals).toBe(1)

  const holding = unused.hold()
  const nextTurn = new Promise((resolve) => setImmediate(resolve, 'waits'))
  expect(await Promise.race([holding.then(() => 'held'), nextTurn])).toBe('waits')
  going.resolve()
  await holding

  const rows = await state.state.selectFrom('contents').select('cid').execute()
  expect((await there()).toSorted()).toEqual(rows.map(({ cid }) => cid).toSorted())
  const later = await released('later')
  await removing
  await unused.removeReleased()
  expect(await there()).toContain(later)
  unused.release()
  await unused.removeReleased()
  expect(await there()).toEqual([])
})
