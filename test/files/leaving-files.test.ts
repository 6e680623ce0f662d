import { existsSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LeavingFiles } from '../../src/files/store/leaving-files.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const mib = 1024 * 1024

function setUp() {
  const folder = new TemporaryFolder()
  const path = folder.file('large')
  writeFileSync(path, Buffer.alloc(32 * mib, 1))
  return { folder, path, leaving: new LeavingFiles(folder.path, '.gone') }
}

/** Files that have lost their names, and are not removed yet. */
function left(folder: TemporaryFolder): readonly string[] {
  return readdirSync(folder.path).filter((name) => name.endsWith('.gone'))
}

test('a large file has lost its name at once, and its bytes little by little', async () => {
  const { folder, path, leaving } = setUp()
  using _ = folder

  await leaving.remove(path)

  expect(existsSync(path)).toBe(false)
  const [name = ''] = left(folder)
  expect(statSync(join(folder.path, name)).size).toBeGreaterThan(mib)
  await expect.poll(() => left(folder)).toEqual([])
  await leaving.close()
})

test('a file with another name keeps its bytes', async () => {
  const { folder, path, leaving } = setUp()
  using _ = folder
  const other = folder.file('other')
  linkSync(path, other)

  await leaving.remove(path)

  expect([existsSync(path), left(folder)]).toEqual([false, []])
  expect(readFileSync(other).every((byte) => byte === 1)).toBe(true)
  await leaving.close()
})

test('what is not removed yet at the end is left to the next start', async () => {
  const { folder, path, leaving } = setUp()
  using _ = folder
  await leaving.remove(path)

  await leaving.close()

  expect(left(folder)).toHaveLength(1)
})

test('small files, and those that are not there, are gone at once', async () => {
  const { folder, path, leaving } = setUp()
  using _ = folder
  writeFileSync(path, 'small')

  await leaving.remove(path)
  await leaving.remove(path)

  expect([existsSync(path), left(folder)]).toEqual([false, []])
  await leaving.close()
})
