import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import { uploadIdOf } from '../../src/files/uploads/upload-id.ts'
import { fileStoreContract } from '../contracts/file-store-contract.ts'
import { cidLike } from '../support/cid-like.ts'
import { memoryOfLargeFile } from '../support/file-store-memory.ts'
import { FileStoreProcess } from '../support/file-store-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

describe('files in a folder', () => {
  fileStoreContract(async () => {
    const folder = new TemporaryFolder()
    const reopen = async (clearsLeftovers: boolean) =>
      await openFileStore({
        address: { kind: 'folder' },
        folder: folder.file('files'),
        clock: systemClock,
        spareBytes: 0,
        clearsLeftovers,
      })
    const store = await reopen(true)
    return {
      store,
      reopen,
      async [Symbol.asyncDispose]() {
        await store.close()
        folder[Symbol.dispose]()
      },
    }
  })
  test('are for nobody else to read, and what was cut off or is strange is none', async () => {
    using folder = new TemporaryFolder()
    const needs = { address: { kind: 'folder' }, folder: folder.file('files') } as const
    const others = { clock: systemClock, spareBytes: 0, clearsLeftovers: true }
    const store = await openFileStore({ ...needs, ...others })
    const upload = uploadIdOf({ purpose: 'attachment', resourceId: newId(), turn: 2 })
    await store.stage(upload, Readable.from([Buffer.from('bytes')]))
    const cid = cidLike(Buffer.from('bytes'))
    const path = folder.file('unpacked')
    writeFileSync(path, 'bytes', { mode: 0o644 })
    await store.keep([{ cid, path }])
    for (const name of ['staged/0.part', 'staged/notes', `content/${cid.at(-2)}/notes`]) {
      writeFileSync(folder.file(`files/${name}`), 'bytes')
    }
    mkdirSync(folder.file('files/content/lost+found'))
    writeFileSync(folder.file('files/content/notes'), 'bytes')

    const again = await openFileStore({ ...needs, ...others })

    expect(readdirSync(folder.file('files/staged')).toSorted()).toEqual([upload, 'notes'])
    expect(await Array.fromAsync(again.staged())).toEqual([{ upload, bytes: 5 }])
    expect(await Array.fromAsync(again.contents())).toEqual([{ cid, bytes: 5 }])
    const modes = ['', 'staged', `staged/${upload}`, 'content', `content/${cid.at(-2)}/${cid}`]
    expect(modes.map((name) => statSync(folder.file(`files/${name}`)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o600, 0o700, 0o600,
    ])
  })

  test('leave no parts of what was cut off', async () => {
    using folder = new TemporaryFolder()
    const store = await openFileStore({
      address: { kind: 'folder' },
      folder: folder.file('files'),
      clock: systemClock,
      spareBytes: 0,
      clearsLeftovers: true,
    })
    const upload = uploadIdOf({ purpose: 'attachment', resourceId: newId(), turn: 1 })
    await expect(store.stage(upload, broken())).rejects.toThrow('cut off')
    expect(readdirSync(folder.file('files/staged'))).toEqual([])
  })

  test('are refused before the disk has less than is left to others', async () => {
    using folder = new TemporaryFolder()
    const store = await openFileStore({
      address: { kind: 'folder' },
      folder: folder.file('files'),
      clock: systemClock,
      spareBytes: Number.MAX_SAFE_INTEGER,
      clearsLeftovers: true,
    })
    const upload = uploadIdOf({ purpose: 'attachment', resourceId: newId(), turn: 1 })
    const staging = store.stage(upload, Readable.from([Buffer.from('bytes')]))
    await expect(staging).rejects.toMatchObject({ code: 'disk_full' })
    expect(readdirSync(folder.file('files/staged'))).toEqual([])
  })

  test('take no more memory when they are large', async () => {
    using folder = new TemporaryFolder()
    await using store = await FileStoreProcess.start(folder.file('files'))
    expect(await memoryOfLargeFile(store)).toBeLessThan(80)
  })
})

async function* broken() {
  yield Buffer.from('bytes')
  throw new Error('cut off')
}
