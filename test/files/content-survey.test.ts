import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { surveyContents } from '../../src/files/contents/content-survey.ts'
import type { FileStore } from '../../src/files/store/file-store.ts'
import { cidLike } from '../support/cid-like.ts'
import { folderStore, keptContent, knownContent } from '../support/folder-store.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

let state: TestState
let store: FileStore

beforeEach(async () => {
  const folder = new TemporaryFolder()
  const opened = await TestState.open()
  state = opened
  store = await folderStore(folder.file('files'))
  onTestFinished(async () => {
    await opened[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
})

async function known(cid: string, size: number, createdAt = 0): Promise<void> {
  await knownContent(state.state, state, { cid, size, createdAt })
}

async function forgotten(cid: string): Promise<void> {
  await state.commit(state.state.deleteFrom('contents').where('cid', '=', cid))
}

/** A store of which something happens once its contents were listed. */
function after(happens: () => Promise<void>): Pick<FileStore, 'contents'> {
  return {
    async *contents() {
      yield* store.contents()
      await happens()
    },
  }
}

test('finds what is missing, what has another size, and what nobody knows', async () => {
  await known(await keptContent(store, 'whole'), 5)
  const longer = await keptContent(store, 'longer')
  await known(longer, 5)
  const missing = cidLike(Buffer.from('missing'))
  await known(missing, 7)
  await keptContent(store, 'unknown')

  expect(await surveyContents(state.path, store)).toEqual({
    known: 3,
    knownBytes: 17,
    lost: expect.arrayContaining([
      { cid: longer, size: 5, found: 6 },
      { cid: missing, size: 7, found: undefined },
    ]),
    lostCount: 2,
    unknown: 1,
    unknownBytes: 7,
  })
})

test('names the first of many, and counts all', async () => {
  for (let at = 0; at < 25; at++) await known(cidLike(Buffer.from([at])), 1)

  const { lost, lostCount } = await surveyContents(state.path, store)

  const cids = lost.map(({ cid }) => cid)
  expect(cids).toHaveLength(20)
  expect(cids).toEqual(cids.toSorted())
  expect(lostCount).toBe(25)
})

test('misses nothing that comes while it looks', async () => {
  const looked = await surveyContents(
    state.path,
    after(async () => await known(await keptContent(store, 'new'), 3, 1)),
  )

  expect(looked).toMatchObject({ known: 1, lostCount: 0, unknown: 0 })
})

test('misses nothing that goes while it looks', async () => {
  const cid = cidLike(Buffer.from('gone'))
  await known(cid, 4)

  const looked = await surveyContents(
    state.path,
    after(() => forgotten(cid)),
  )

  expect(looked).toMatchObject({ known: 0, lostCount: 0 })
})

test('misses nothing that goes and comes again while it looks', async () => {
  const cid = cidLike(Buffer.from('again'))
  await known(cid, 5)

  const looked = await surveyContents(
    state.path,
    after(async () => {
      await forgotten(cid)
      await known(cid, await keptContent(store, 'again').then(() => 5), 1)
    }),
  )

  expect(looked).toMatchObject({ known: 1, lostCount: 0 })
})

test('a state of before there were files knows none', async () => {
  using folder = new TemporaryFolder()
  const old = await openOldState(folder.file('old.db'), [])
  old.close()
  await keptContent(store, 'unknown')

  const looked = await surveyContents(folder.file('old.db'), store)

  expect(looked).toMatchObject({ known: 0, knownBytes: 0, lostCount: 0, unknown: 1 })
})
