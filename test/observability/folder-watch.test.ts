import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FilePlaces } from '../../src/core/file-places.ts'
import { FolderWatch } from '../../src/operating/observability/folder-watch.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** A folder `data` with a file `state.db`. */
function folderWithFile(folder: TemporaryFolder) {
  const data = folder.file('data')
  mkdirSync(data)
  writeFileSync(`${data}/state.db`, 'kept')
  return { data, file: `${data}/state.db` }
}

const losses = [
  { what: 'the file is deleted', lose: (_: string, file: string) => rmSync(file) },
  { what: 'the folder is deleted', lose: (data: string) => rmSync(data, { recursive: true }) },
  { what: 'the folder is moved', lose: (data: string) => renameSync(data, `${data}-elsewhere`) },
  {
    what: 'a file becomes the folder',
    lose(data: string) {
      renameSync(data, `${data}-elsewhere`)
      writeFileSync(data, '')
    },
  },
  {
    what: 'another file takes its place',
    lose(_: string, file: string) {
      writeFileSync(`${file}.other`, 'kept')
      renameSync(`${file}.other`, file)
    },
  },
]

describe('a file at its path', () => {
  test.each(losses)('when $what, that is a problem', async ({ lose }) => {
    using folder = new TemporaryFolder()
    const { data, file } = folderWithFile(folder)
    const watch = new FolderWatch(new FilePlaces([file]), 1)
    expect(() => watch.assertInPlace()).not.toThrow()

    lose(data, file)

    await expect.poll(() => watch.problem).toBe('state.db was deleted, moved or replaced')
    expect(() => watch.assertInPlace()).toThrow('state.db was deleted')
    watch.stop()
  })
})

test('what is moved and comes back is no problem any more', () => {
  using folder = new TemporaryFolder()
  const { data, file } = folderWithFile(folder)
  const places = new FilePlaces([file])
  renameSync(data, folder.file('elsewhere'))
  expect(places.problem()).toContain('state.db')

  renameSync(folder.file('elsewhere'), data)

  expect(places.problem()).toBeUndefined()
})

test('a file that was not there cannot be lost', () => {
  using folder = new TemporaryFolder()
  const { file } = folderWithFile(folder)
  const places = new FilePlaces([file, `${file}-wal`])

  writeFileSync(`${file}-wal`, '')

  expect(places.problem()).toBeUndefined()
})
