import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openRestorer } from '../../src/processes/offline/restoring.ts'
import { backUp } from '../support/backups.ts'
import { DistinctLoad } from '../support/distinct-load.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()
const original = new TemporaryFolder()

beforeAll(async () => {
  const { api } = service
  await new DistinctLoad(api, await api.createStream()).send()
  await backUp(api, original.file('backup'))
  return () => original[Symbol.dispose]()
})

/** A copy of the backup, to be damaged. */
function copyOfBackup(): { readonly backup: string; readonly target: string } {
  const folder = new TemporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  cpSync(original.file('backup'), folder.file('backup'), { recursive: true })
  return { backup: folder.file('backup'), target: folder.file('restored') }
}

function ignore(): void {}

async function restore(backup: string, target: string): Promise<unknown> {
  const restorer = await openRestorer(backup, new AbortController().signal)
  const settings = {
    dataDir: target,
    timeSeries: { kind: 'duckdb' },
    filesAddress: { kind: 'folder' },
  } as const
  return await restorer.restore(settings, ignore)
}

async function verify(backup: string): Promise<unknown> {
  const restorer = await openRestorer(backup, new AbortController().signal)
  return await restorer.verify(ignore)
}

function changeByte(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  writeFileSync(path, bytes)
}

test('one changed byte of any file is found, and the file is named', async () => {
  const names = readdirSync(original.file('backup')).filter((name) => name !== 'manifest.json')
  expect(names).toContain('journal.zst')
  for (const name of names) {
    const { backup, target } = copyOfBackup()
    const { length } = readFileSync(join(backup, name))
    for (const at of [0, length >> 1, length - 1]) {
      cpSync(original.file(`backup/${name}`), join(backup, name))
      changeByte(join(backup, name), at)
      await expect(verify(backup)).rejects.toThrow(name)
      await expect(restore(backup, target)).rejects.toThrow(name)
    }
    // Neither the folder, nor what it was built as.
    expect(readdirSync(join(target, '..'))).toEqual(['backup'])
  }
})

test('a file that is missing, or cut off, is named', async () => {
  const { backup, target } = copyOfBackup()
  const state = join(backup, 'state.db.zst')
  const bytes = readFileSync(state)
  writeFileSync(state, bytes.subarray(0, bytes.length - 1))
  await expect(restore(backup, target)).rejects.toThrow('state.db.zst is damaged')
  rmSync(state)
  await expect(restore(backup, target)).rejects.toThrow('state.db.zst is missing')
})

test('without a manifest there is no backup', async () => {
  const { backup, target } = copyOfBackup()
  rmSync(join(backup, 'manifest.json'))
  await expect(restore(backup, target)).rejects.toThrow('none that was completed')
})

test.each([
  ['{', 'cannot be read'],
  ['null', 'is not a manifest'],
  ['{"format": 99}', 'newer version'],
  ['{"format": 1, "files": []}', 'does not list'],
])('a manifest of %s is refused', async (text, reason) => {
  const { backup, target } = copyOfBackup()
  writeFileSync(join(backup, 'manifest.json'), text)
  await expect(restore(backup, target)).rejects.toThrow(reason)
})

test('a manifest leads to no file outside', async () => {
  const { backup, target } = copyOfBackup()
  const path = join(backup, 'manifest.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"state.db.zst"', '"../state.db.zst"'))
  await expect(restore(backup, target)).rejects.toThrow('does not list')
})

test('a folder with something in it is not restored into', async () => {
  const { backup } = copyOfBackup()
  const { dataDir } = service.process
  await expect(restore(backup, dataDir)).rejects.toThrow('not empty')
  expect(existsSync(join(dataDir, 'state.db'))).toBe(true)
})
