import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { BuildContext } from '../scripts/image/build-context.ts'
import { stepsOf, wordsOf } from '../scripts/image/dockerfile-steps.ts'
import { TemporaryFolder } from './support/temporary-folder.ts'

const tools = join(homedir(), '.cache', 'streamvault-test-tools')
const hadolint = join(tools, 'hadolint', 'bin', 'hadolint')
const composeSpec = join(tools, 'compose', 'cmd')

const dockerfile = readFileSync('Dockerfile', 'utf8')
const compose = readFileSync('docker-compose.yml', 'utf8')
const unit = readFileSync('packaging/systemd/streamvault.service', 'utf8')
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

/** What a checker says, with its exit code. */
function said(program: string, ...words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  if (error) throw error
  return `${status} ${stdout}${stderr}`.trim()
}

/** In CI a missing checker is a failure. */
function isSkipped(program: string): boolean {
  const isMissing = spawnSync(program, ['--help']).error !== undefined
  if (isMissing) process.stderr.write(`${program} is missing: run scripts/install-test-tools\n`)
  return isMissing && !process.env['CI']
}

/** Flags of Node, and the variable of the C library, as `npm run start:release` has them. */
const flags = scripts['start:release']?.match(/--\S+/g) ?? []
const [malloc = 'none'] = scripts['start:release']?.match(/MALLOC_\S+/) ?? []

describe('the Dockerfile', () => {
  const steps = stepsOf(dockerfile)

  test.skipIf(isSkipped(hadolint))('has nothing that hadolint finds', () => {
    expect(said(hadolint, 'Dockerfile')).toBe('0')
  })

  test('runs Node as npm run start:release does, without a shell', () => {
    const entrypoint = steps.find(({ keyword }) => keyword === 'ENTRYPOINT')?.text ?? ''
    expect(JSON.parse(entrypoint)).toEqual(['node', ...flags, 'dist/src/main.js'])
    expect(steps.filter(({ keyword }) => keyword === 'ENV').at(-1)?.text).toContain(malloc)
  })

  test('is for the Node of package.json', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(steps[0]).toMatchObject({
      keyword: 'ARG',
      text: `NODE_VERSION=${devDependencies.node}`,
    })
  })

  test('copies what the build context has', () => {
    const context = new BuildContext('.')
    const sources = steps
      .filter(({ keyword, flags: { from } }) => keyword === 'COPY' && from === undefined)
      .flatMap(({ text }) => wordsOf(text).slice(0, -1))
    expect(sources).toContain('src')
    expect(sources.filter((source) => context.isIgnored(source))).toEqual([])
  })

  test.each([
    'data/admin.json',
    'data/master.key',
    'examples/go.mod',
    'streamvault.env',
    '.env',
    'console/node_modules/vite/package.json',
    'node_modules/vite/package.json',
    '.git/config',
  ])('does not get %s', (path) => {
    expect(new BuildContext('.').isIgnored(path)).toBe(true)
  })
})

describe('docker-compose.yml', () => {
  const { services } = parse(compose) as {
    readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }

  test.skipIf(isSkipped(composeSpec))('is one that Docker Compose accepts', () => {
    expect(said(composeSpec, 'docker-compose.yml')).toMatch(/^0 /)
  })

  test('starts the service alone without a profile, and nothing that may write or gain anything', () => {
    const always = Object.entries(services).filter(([, { profiles }]) => profiles === undefined)
    expect(always.map(([name]) => name)).toEqual(['streamvault'])
    expect(services['streamvault']).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })

  test('has no default that replaces a setting of its file', () => {
    const { env_file: files, environment } = services['streamvault'] as {
      readonly env_file: readonly { readonly path: string }[]
      readonly environment: Readonly<Record<string, string>>
    }
    // Names under `environment` count more than `env_file`. Docker Compose fills them from .env, and from no other file.
    expect(files.map(({ path }) => path)).toEqual(['.env'])
    for (const [name, value] of Object.entries(environment)) {
      expect(value).toMatch(new RegExp(`^\\$\\{${name}:-`))
    }
  })

  test('opens ports on this machine only', () => {
    const ports = Object.values(services).flatMap(
      ({ ports: opened = [] }) => opened as readonly string[],
    )
    expect(ports.length).toBeGreaterThan(2)
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })
})

/** With a Node that is there: whether the program exists is a part of the check. */
function copyIn(folder: TemporaryFolder): string {
  const path = folder.file('streamvault.service')
  const node = /(?<=^ExecStart=)\S+/m
  expect(node.exec(unit)?.[0]).toBe('/opt/streamvault/node_modules/node/bin/node')
  writeFileSync(path, unit.replace(node, process.execPath))
  return path
}

describe('the unit of systemd', () => {
  test.skipIf(isSkipped('systemd-analyze'))('is one that systemd accepts', () => {
    using folder = new TemporaryFolder()
    expect(said('systemd-analyze', 'verify', copyIn(folder))).toBe('0')
  })

  test.skipIf(isSkipped('systemd-analyze'))('leaves little open, as systemd sees it', () => {
    using folder = new TemporaryFolder()
    const words = ['security', '--offline=true', '--threshold=20', copyIn(folder)]
    expect(said('systemd-analyze', ...words)).toMatch(/^0 /)
  })

  test('runs Node as npm run start:release does', () => {
    const [, started = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
    expect(started.split(' ').slice(1)).toEqual([...flags, 'dist/src/main.js', 'serve'])
    expect(unit).toContain(`Environment=${malloc}\n`)
  })
})
