import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  commandIn,
  FolderBuild,
  type FolderImage,
  sizeOf,
} from '../../../scripts/image/folder-image.ts'
import { freePort } from '../../../scripts/servers/free-port.ts'
import { ApiClient } from '../../support/api-client.ts'
import { ImageProcess } from '../../support/image-process.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

/** What the image may add to its base. */
const sizeMbMax = 200

/** A root of its own is for root, on Linux. */
const isSkipped = process.getuid?.() !== 0 || process.platform !== 'linux'
if (isSkipped) process.stderr.write('images are not built: that needs root, on Linux\n')

const folder = new TemporaryFolder()
let image: FolderImage

/** Packages that the release loads by their names, in whatever way. */
function importsOf({ root, workdir }: FolderImage): readonly string[] {
  const dist = join(root, workdir, 'dist')
  const specifier = /(?:\bfrom|\bimport|\bimport\(|\bload\() ?'((?!\.|node:)[@\w][^']*)'/g
  const names = globSync('**/*.js', { cwd: dist }).flatMap((file) =>
    [...readFileSync(join(dist, file), 'utf8').matchAll(specifier)].map(([, name = '']) => name),
  )
  return [...new Set(names)].toSorted()
}

/** Which of them cannot be loaded in the image. */
function unloadable(of: FolderImage, names: readonly string[]): string {
  const script = `
    for (const name of ${JSON.stringify(names)}) {
      try { await import(name) } catch (error) { console.log(name + ': ' + error.message.split('\\n')[0]) }
    }
    process.exit(0)`
  const run = commandIn({ ...of, volumes: {} }, ['node', '--input-type=module', '-e', script])
  const { stdout, stderr } = spawnSync(run[0] ?? '', run.slice(1), { encoding: 'utf8' })
  return stdout + stderr
}

const say = () => undefined

describe.skipIf(isSkipped)('the image', () => {
  beforeAll(() => {
    const target = folder.file('image')
    image = new FolderBuild({
      project: '.',
      target,
      buildArgs: { LEAVE_OUT: 'kafka,mssql' },
      say,
    }).run()
  }, 900_000)

  afterAll(() => folder[Symbol.dispose]())

  test(`adds ${sizeMbMax} MB or less to its base`, () => {
    expect(sizeOf(image.root).onDiskMb).toBeLessThanOrEqual(sizeMbMax)
  })

  test('has no sources, no tests, no keys, and the license of each package that has one', () => {
    const files = globSync('app/**', { cwd: image.root })
    expect(files.filter((file) => /\.(ts|map|test\.js)$|\.git\/|\.env$/.test(file))).toEqual([])
    const licensed = globSync('node_modules/fastify/LICENSE*')
    expect(licensed.length).toBeGreaterThan(0)
    for (const path of licensed) expect(files).toContain(join('app', path))
  })

  test('can load all that the service loads, but for what was left out', () => {
    const names = importsOf(image)
    expect(names).toEqual(
      expect.arrayContaining(['fastify', 'mqtt', 'node-opcua-client', 'pino-pretty']),
    )
    const lines = unloadable(image, names).trim().split('\n')
    expect(lines.map((line) => line.split(':')[0])).toEqual(['@platformatic/kafka', 'tedious'])
  })

  test('takes a reading, as another user, in a tree that nobody can write to', async () => {
    const data = folder.file('data')
    await using service = await ImageProcess.start(image, data)
    const api = new ApiClient(service.http)
    const streamId = await api.createStream()
    await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 21.5 })
    expect(await api.settled(streamId, 1)).toMatchObject({ stored: 1 })
    const page = await fetch(`${service.http}/console/`)
    expect(page.status).toBe(200)
    expect(service.user).toBe(1000)
    expect(service.health()).toBe(0)
    expect(service.said('streamvault', '--version')).toMatch(/^\d+\.\d+\.\d+$/)
    expect(service.said('sh', '-c', 'touch /app/x; echo $?')).toMatch(/Read-only file system\n1$/)
    expect(await service.stop()).toBe(0)
    expect(service.health()).toBe(1)
  })

  test('says of a driver that was left out how to get it, and goes on', async () => {
    const data = folder.file('data-without')
    const port = await freePort()
    await using service = await ImageProcess.start(image, data, {
      STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}`,
    })
    const api = new ApiClient(service.http)
    const address = `127.0.0.1:${port}`
    const tried = {
      kafka: {
        type: 'event_stream',
        source: { protocol: 'kafka', endpoint: `kafka://${address}`, topic: 'readings' },
      },
      mssql: {
        type: 'database',
        source: {
          protocol: 'mssql',
          endpoint: `${address}/plant`,
          query: 'SELECT at, temperature FROM readings',
          schedule: '* * * * *',
          incrementalColumn: 'at',
        },
      },
    }
    for (const [name, body] of Object.entries(tried)) {
      const answer = await api.withToken<{ problem: string }>('POST', '/sources/check', body)
      expect(answer.body.problem).toContain(
        `the driver for ${name} is not in this image: build it without ${name} in the build argument LEAVE_OUT`,
      )
    }
    expect(await service.stop()).toBe(0)
  })
})
