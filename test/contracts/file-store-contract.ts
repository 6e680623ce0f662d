import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { newId, type VaultId } from '../../src/core/ids.ts'
import type { FileStore } from '../../src/files/store/file-store.ts'
import { type UploadId, uploadIdOf } from '../../src/files/store/upload-id.ts'
import { cidLike } from '../support/cid-like.ts'

/** A store that is empty, and of one test alone. */
export interface TestedFileStore extends AsyncDisposable {
  readonly store: FileStore
  /** Opens it again, beside the one that is open. */
  reopen(clearsLeftovers: boolean): Promise<FileStore>
}

const mebibyte = 1024 * 1024

function newUpload(): UploadId {
  return uploadIdOf({ purpose: 'vault-image', resourceId: newId<VaultId>(), turn: 1 })
}

async function* inPieces(bytes: Uint8Array, length = 64 * 1024) {
  for (let at = 0; at < bytes.byteLength; at += length) yield bytes.subarray(at, at + length)
}

const cutOff = new Error('the connection was cut')

async function* cutOffAfter(bytes: Uint8Array) {
  yield* inPieces(bytes)
  throw cutOff
}

async function listOf<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  return await Array.fromAsync(values)
}

async function contentOf(store: FileStore, cid: string, start?: number, length = 0) {
  return await buffer(store.read(cid, start === undefined ? undefined : { start, length }))
}

/** A file in the scratch folder, as who unpacks archives makes it. */
function localFile(store: FileStore, bytes: Uint8Array, cid = cidLike(bytes)) {
  const path = join(store.scratch, createHash('sha256').update(randomBytes(16)).digest('hex'))
  writeFileSync(path, bytes)
  return { cid, path }
}

const { signal } = new AbortController()

/** What every store of files promises. Each one's test calls this once. */
export function fileStoreContract(open: () => Promise<TestedFileStore>): void {
  describe('what arrives', () => {
    test.each([0, 1, 65_536, 65_537, 17 * mebibyte + 1])(
      'is there as a whole: %i bytes',
      async (length) => {
        await using tested = await open()
        const { store } = tested
        const [upload, bytes] = [newUpload(), randomBytes(length)]
        await store.stage(upload, inPieces(bytes))
        expect(await listOf(store.staged())).toEqual([{ upload, bytes: length }])
        const path = await store.fetch(upload, signal)
        expect(readFileSync(path).equals(bytes)).toBe(true)
      },
    )

    test('is not there before its end, and not at all when it has none', async () => {
      await using tested = await open()
      const { store } = tested
      const upload = newUpload()
      const listed: unknown[] = []
      async function* broken() {
        yield Buffer.from('the first piece')
        yield randomBytes(9 * mebibyte)
        listed.push(...(await listOf(store.staged())))
        throw cutOff
      }
      await expect(store.stage(upload, broken())).rejects.toBe(cutOff)
      listed.push(...(await listOf(store.staged())))
      expect(listed).toEqual([])
      await expect(store.fetch(upload, signal)).rejects.toThrow('nothing has arrived')
      await store.stage(upload, inPieces(Buffer.from('whole')))
      expect(readFileSync(await store.fetch(upload, signal), 'utf8')).toBe('whole')
    })

    test('stays when what comes after it for the same upload is cut off', async () => {
      await using tested = await open()
      const { store } = tested
      const upload = newUpload()
      await store.stage(upload, inPieces(Buffer.from('first')))
      await expect(store.stage(upload, cutOffAfter(Buffer.from('second')))).rejects.toBe(cutOff)
      expect(readFileSync(await store.fetch(upload, signal), 'utf8')).toBe('first')
    })

    test('is the last of several, and copies that are looked at stay as they were', async () => {
      await using tested = await open()
      const { store } = tested
      const upload = newUpload()
      await store.stage(upload, inPieces(Buffer.from('first')))
      const before = await store.fetch(upload, signal)
      await store.stage(upload, inPieces(Buffer.from('second')))
      const after = await store.fetch(upload, signal)
      expect([before, after].map((path) => readFileSync(path, 'utf8'))).toEqual(['first', 'second'])
      expect(await listOf(store.staged())).toEqual([{ upload, bytes: 6 }])
    })

    test('is one of several that arrive at once, as a whole', async () => {
      await using tested = await open()
      const { store } = tested
      const upload = newUpload()
      const bodies = ['a', 'b', 'c'].map((letter) => Buffer.alloc(mebibyte, letter))
      await Promise.all(bodies.map((bytes) => store.stage(upload, inPieces(bytes))))
      const taken = readFileSync(await store.fetch(upload, signal))
      expect(bodies.some((bytes) => bytes.equals(taken))).toBe(true)
    })

    test('goes with its copies when it is discarded, and with nothing else', async () => {
      await using tested = await open()
      const { store } = tested
      const [upload, other] = [newUpload(), newUpload()]
      for (const one of [upload, other]) await store.stage(one, inPieces(Buffer.from('bytes')))
      const copies = [await store.fetch(upload, signal), await store.fetch(upload, signal)]
      const kept = await store.fetch(other, signal)
      await store.discard(upload)
      await store.discard(upload)
      expect(copies.filter((path) => existsSync(path))).toEqual([])
      expect(existsSync(kept)).toBe(true)
      expect(await listOf(store.staged())).toEqual([{ upload: other, bytes: 5 }])
    })

    test('is not fetched for somebody who has given up', async () => {
      await using tested = await open()
      const { store } = tested
      const upload = newUpload()
      await store.stage(upload, inPieces(Buffer.from('bytes')))
      const reason = new Error('given up')
      await expect(store.fetch(upload, AbortSignal.abort(reason))).rejects.toBe(reason)
      await store.discard(upload)
      expect(readdirSync(store.scratch)).toEqual([])
    })
  })

  describe('contents', () => {
    test('are what staged bytes become, and the copy is gone then', async () => {
      await using tested = await open()
      const { store } = tested
      const [upload, bytes] = [newUpload(), randomBytes(3 * mebibyte)]
      await store.stage(upload, inPieces(bytes))
      const path = await store.fetch(upload, signal)
      const cid = cidLike(bytes)
      await store.keep([{ cid, path }])
      expect(existsSync(path)).toBe(false)
      // What comes later for the same upload changes nothing of it.
      await store.stage(upload, inPieces(Buffer.from('later')))
      await store.discard(upload)
      expect((await contentOf(store, cid)).equals(bytes)).toBe(true)
      expect(await listOf(store.contents())).toEqual([{ cid, bytes: bytes.length }])
      expect(readdirSync(store.scratch)).toEqual([])
    })

    test('are read in parts', async () => {
      await using tested = await open()
      const { store } = tested
      const bytes = randomBytes(mebibyte)
      const file = localFile(store, bytes)
      await store.keep([file])
      for (const [start, length] of [
        [0, 1],
        [0, 0],
        [1, mebibyte - 2],
        [mebibyte - 1, 1],
        [500_000, 300_000],
        [mebibyte - 1, 100],
        [mebibyte, 1],
      ] as const) {
        const part = await contentOf(store, file.cid, start, length)
        expect(part.equals(bytes.subarray(start, start + length)), `${start}+${length}`).toBe(true)
      }
    })

    test('may be empty', async () => {
      await using tested = await open()
      const { store } = tested
      const file = localFile(store, Buffer.alloc(0))
      await store.keep([file])
      expect(await contentOf(store, file.cid)).toHaveLength(0)
      expect(await contentOf(store, file.cid, 0, 1)).toHaveLength(0)
      expect(await listOf(store.contents())).toEqual([{ cid: file.cid, bytes: 0 }])
    })

    test('stay as they are when they come again', async () => {
      await using tested = await open()
      const { store } = tested
      const file = localFile(store, Buffer.from('first'))
      await store.keep([file])
      const again = localFile(store, Buffer.from('other'), file.cid)
      await store.keep([again])
      expect(existsSync(again.path)).toBe(false)
      expect((await contentOf(store, file.cid)).toString()).toBe('first')
    })

    test('are many at once, and the same one several times', async () => {
      await using tested = await open()
      const { store } = tested
      const files = Array.from({ length: 300 }, (_, at) => {
        return localFile(store, Buffer.from(`content ${at % 200}`))
      })
      await store.keep(files)
      const cids = (await listOf(store.contents())).map(({ cid }) => cid)
      expect(cids.toSorted()).toEqual([...new Set(files.map(({ cid }) => cid))].toSorted())
      expect(readdirSync(store.scratch)).toEqual([])
      const [first] = files
      expect((await contentOf(store, first?.cid ?? '')).toString()).toBe('content 0')
    })

    test('come from where a keep that failed has left them', async () => {
      await using tested = await open()
      const { store } = tested
      const files = [localFile(store, Buffer.from('one')), localFile(store, Buffer.from('two'))]
      const missing = { cid: cidLike(Buffer.from('three')), path: join(store.scratch, 'missing') }
      await expect(store.keep([...files, missing])).rejects.toThrow('ENOENT')
      await store.keep(files)
      const kept = await Promise.all(files.map(({ cid }) => contentOf(store, cid)))
      expect(kept.map(String)).toEqual(['one', 'two'])
    })

    test('that are not there are an error before the first byte', async () => {
      await using tested = await open()
      const { store } = tested
      const cid = cidLike(Buffer.from('nothing'))
      for (const part of [undefined, { start: 0, length: 0 }, { start: 5, length: 1 }]) {
        await expect(buffer(store.read(cid, part))).rejects.toThrow(`there is no content ${cid}`)
      }
    })

    test('are removed, once and again', async () => {
      await using tested = await open()
      const { store } = tested
      const [file, other] = [localFile(store, Buffer.from('a')), localFile(store, Buffer.from('b'))]
      await store.keep([file, other])
      await store.remove(file.cid)
      await store.remove(file.cid)
      expect(await listOf(store.contents())).toEqual([{ cid: other.cid, bytes: 1 }])
      await expect(contentOf(store, file.cid)).rejects.toThrow('there is no content')
    })

    test('may be left in the middle', async () => {
      await using tested = await open()
      const { store } = tested
      const bytes = randomBytes(8 * mebibyte)
      const file = localFile(store, bytes)
      await store.keep([file])
      const openBefore = readdirSync('/proc/self/fd').length
      for (let count = 0; count < 20; count++) {
        for await (const piece of store.read(file.cid)) if (piece.length > 0) break
      }
      await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThan(openBefore + 10)
    })

    test.each(['', '..', '../staged', 'a/b', 'bafkrei', `b${'a'.repeat(40)}/../x`])(
      'are not named %j',
      async (cid) => {
        await using tested = await open()
        const { store } = tested
        const file = localFile(store, Buffer.from('bytes'), cid)
        await expect(store.keep([file])).rejects.toThrow('named by its CID')
        await expect(contentOf(store, cid)).rejects.toThrow('named by its CID')
        await expect(store.remove(cid)).rejects.toThrow('named by its CID')
      },
    )
  })

  describe('a store that is opened again', () => {
    test('has what arrived and all contents, and nothing that was being looked at', async () => {
      await using tested = await open()
      const { store } = tested
      const [upload, file] = [newUpload(), localFile(store, Buffer.from('content'))]
      await store.keep([file])
      await store.stage(upload, inPieces(Buffer.from('staged')))
      await store.fetch(upload, signal)
      localFile(store, Buffer.from('unpacked'))
      const again = await tested.reopen(true)
      expect(readdirSync(again.scratch)).toEqual([])
      expect(await listOf(again.staged())).toEqual([{ upload, bytes: 6 }])
      expect((await contentOf(again, file.cid)).toString()).toBe('content')
      await again.close()
    })

    test('beside another takes nothing away from it', async () => {
      await using tested = await open()
      const { store } = tested
      const upload = newUpload()
      await store.stage(upload, inPieces(Buffer.from('staged')))
      const path = await store.fetch(upload, signal)
      const beside = await tested.reopen(false)
      expect(readFileSync(path, 'utf8')).toBe('staged')
      await beside.close()
    })
  })

  test('a check finds it well, and leaves nothing', async () => {
    await using tested = await open()
    const { store } = tested
    await store.check()
    expect(readdirSync(store.scratch)).toEqual([])
    expect(await listOf(store.staged())).toEqual([])
    expect(await listOf(store.contents())).toEqual([])
  })
}
