import { afterEach, expect, test } from 'vitest'
import { DiskSpace } from '../../src/operating/observability/disk-space.ts'

/** A disk that has as much free space as a test says, or says nothing. */
class Disk {
  free: number | undefined = 1_000
  readonly asked: string[] = []

  readonly ask = async (path: string) => {
    this.asked.push(path)
    if (this.free === undefined) throw new Error('stale file handle')
    return { bavail: this.free / 10, bsize: 10 }
  }
}

let space: DiskSpace | undefined

afterEach(() => space?.stop())

async function watch(disk: Disk, everyMs = 1_000_000): Promise<DiskSpace> {
  space = await DiskSpace.watch({ path: '/data', bytesMin: 800, askDisk: disk.ask, everyMs })
  return space
}

test('a disk with room is no reason to refuse anything', async () => {
  const disk = new Disk()
  const watched = await watch(disk)

  expect(disk.asked).toEqual(['/data'])
  expect([watched.available, watched.problem]).toEqual([1_000, undefined])
  expect(() => watched.assertRoom()).not.toThrow()
})

test('from the limit on readings are refused, until there is clearly more room again', async () => {
  const disk = new Disk()
  const watched = await watch(disk)
  const isRefused: boolean[] = []
  for (const free of [800, 790, 800, 890, 900, 800, 790]) {
    disk.free = free
    await watched.ask()
    isRefused.push(watched.problem !== undefined)
  }

  expect(isRefused).toEqual([false, true, true, true, false, false, true])
  expect(() => watched.assertRoom()).toThrow(
    expect.objectContaining({ code: 'disk_low', retryAfter: 5 }),
  )
})

test('a disk that is low at the start is known to be before anything is taken', async () => {
  const disk = new Disk()
  disk.free = 10
  expect((await watch(disk)).problem).toContain('800 bytes')
})

test('a disk that does not answer is believed to be as it was', async () => {
  const disk = new Disk()
  const watched = await watch(disk)
  disk.free = undefined
  await watched.ask()
  expect([watched.available, watched.problem]).toEqual([undefined, undefined])
  disk.free = 10
  await watched.ask()
  disk.free = undefined
  await watched.ask()
  expect(watched.problem).toBeDefined()
})

test('it is asked again and again without being told to', async () => {
  const disk = new Disk()
  const watched = await watch(disk, 1)
  disk.free = 10
  await expect.poll(() => watched.problem).toBeDefined()
  disk.free = 1_000
  await expect.poll(() => watched.problem).toBeUndefined()
})
