import { appendFileSync, existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FreshClone } from '../../support/fresh-clone.ts'
import { launchServiceProcess, type ServiceProcess } from '../../support/service-process.ts'

const install = ['ci', '--prefer-offline', '--no-audit', '--no-fund']
/** Packages are tens of thousands of files: to write and to remove them takes its time. */
const filesTimeoutMs = 600_000

const built = 'node_modules/.cache/console'

/** What `npm start` of a clone has, while something is done with it. */
async function started<Result>(
  clone: FreshClone,
  work: (service: ServiceProcess) => Promise<Result>,
): Promise<Result> {
  const launched = await launchServiceProcess(clone.path('data'), {}, clone.root)
  const service = await launched.listening()
  try {
    return await work(service)
  } finally {
    await service.end('SIGTERM')
  }
}

/** The page of a service, with the scripts and style sheets that it names. */
async function pageOf({ http }: ServiceProcess) {
  const page = await fetch(`${http}/`)
  const text = await page.text()
  const paths = [...text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  )
  const assets = await Promise.all(paths.map(async (path) => await fetch(http + path)))
  return { status: page.status, text, assets: assets.map(({ status }) => status) }
}

describe('a fresh clone', () => {
  let clone: FreshClone

  beforeAll(async () => {
    clone = new FreshClone()
    const { code, output } = await clone.npm(...install)
    expect(output).toMatch(/console: built in/)
    expect(code).toBe(0)
  }, filesTimeoutMs)

  afterAll(() => clone[Symbol.dispose](), filesTimeoutMs)

  test('has its page after npm ci', async () => {
    const { status, text, assets } = await started(clone, pageOf)

    expect(status).toBe(200)
    expect(text).toContain('<title>Streamvault</title>')
    expect(assets.length).toBeGreaterThanOrEqual(2)
    expect(new Set(assets)).toEqual(new Set([200]))
    expect(await clone.doctor()).toMatchObject({ status: 'ok', message: 'it is built' })
  })

  test('has it as a release, too', async () => {
    const { code, output } = await clone.npm('run', 'build')
    expect(output).not.toContain('error')
    expect(code).toBe(0)
    const release = await launchServiceProcess(clone.path('data'), {}, clone.root, 'start:release')
    const service = await release.listening()

    const { status, assets } = await pageOf(service)
    await service.end('SIGTERM')

    expect(status).toBe(200)
    expect(new Set(assets)).toEqual(new Set([200]))
  })

  test('that is changed has the page of before, and the doctor says so, until it is built', async () => {
    appendFileSync(clone.path('console/src/main.tsx'), "\ndocument.title = 'changed'\n")

    expect((await started(clone, pageOf)).status).toBe(200)
    expect(await clone.doctor()).toMatchObject({
      status: 'warn',
      message: 'it was built from other sources than are there now',
    })

    expect(await clone.npm('run', 'build:console')).toMatchObject({ code: 0 })
    expect(await clone.doctor()).toMatchObject({ status: 'ok' })
  })

  test('whose page was taken away says how to build it, and has it then without a restart', async () => {
    rmSync(clone.path(built), { recursive: true })
    expect(await clone.doctor()).toMatchObject({ status: 'warn' })

    await started(clone, async (service) => {
      const missing = await pageOf(service)
      expect(missing.status).toBe(503)
      expect(missing.text).toContain('npm run build:console')

      expect(await clone.npm('run', 'build:console')).toMatchObject({ code: 0 })
      expect((await pageOf(service)).status).toBe(200)
    })
  })
})

test('an installation without packages of development does all but the page', async () => {
  using clone = new FreshClone()

  const { code, output } = await clone.npm(...install, '--omit=dev')

  expect(output).toContain('console: not built: Vite is not installed')
  expect(code).toBe(0)
  expect(existsSync(clone.path(built))).toBe(false)
  await started(clone, async (service) => {
    expect((await pageOf(service)).status).toBe(503)
    expect((await fetch(`${service.http}/health/ready`)).status).toBe(200)
  })
  const check = await clone.doctor()
  expect(check).toMatchObject({ status: 'warn', message: 'it is not built: / answers 503' })
  expect(check?.advice).toContain('npm run build:console')
})
