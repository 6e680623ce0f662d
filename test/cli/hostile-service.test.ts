import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { settingsOf, streamvault } from '../support/command-line.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** A server that `--url` names, and that is not ours: it answers what harms those who believe it. */

let server: Server

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** @param answers bodies by method and path, without the query */
async function serving(answers: Readonly<Record<string, unknown>>): Promise<string> {
  server = createServer((request, response) => {
    const [path = ''] = decodeURI(request.url ?? '').split('?')
    const token = { 'POST /auth/token': { accessToken: 'token' } }
    const all: Readonly<Record<string, unknown>> = { ...token, ...answers }
    const body = all[`${request.method} ${path}`]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('the commands that init prints run nothing else, and a terminal obeys nothing', async () => {
  using folder = new TemporaryFolder()
  const streamId = '$(touch${IFS}harm)'
  const stream = {
    streamId,
    name: 'x',
    vaultId: ';touch harm',
    schema: { '`touch harm`': { type: 'number' } },
    type: 'iot_sensor',
  }
  const url = await serving({
    'GET /streams': [stream],
    [`GET /streams/${streamId}`]: stream,
    'GET /devices': [{ id: '&touch harm;', name: 'x' }],
    [`POST /streams/${streamId}/validate`]: {
      accepted: 1,
      rejected: 1,
      readings: [{ status: 'rejected', message: 'a\u001b[31m\u009b31m', remedy: '\u202eb' }],
    },
  })
  const words = [
    'init',
    '--name',
    'x',
    '--sample',
    '{"a": 1}',
    '--url',
    url,
    '--mqtt',
    'mqtt://$(touch${IFS}harm)',
  ]

  const { stdout, stderr } = await streamvault(words, settingsOf(folder.path))
  const commands = stdout.split('\n').filter((line) => line.startsWith('  '))
  for (const command of commands) {
    // Without programs: only the shell does something.
    spawnSync(
      '/bin/sh',
      ['-c', `npx() { :; }; curl() { :; }; mosquitto_pub() { :; }; ${command}`],
      { cwd: folder.path },
    )
  }

  expect({ commands: commands.length, stderr }).toEqual({ commands: 6, stderr: '' })
  expect(stdout).toContain('a\\u001b[31m\\u009b31m')
  expect(stdout).toContain('\\u202eb')
  expect(existsSync(folder.file('harm'))).toBe(false)
})

test('an export writes nothing outside its folder', async () => {
  using folder = new TemporaryFolder()
  const harm = Buffer.from('harm')
  const file = {
    name: '../harm',
    rows: 1,
    bytes: 4,
    sha256: createHash('sha256').update(harm).digest('hex'),
  }
  const job = {
    exportId: 'e',
    state: 'completed',
    progress: 1,
    rows: 1,
    bytes: 4,
    failure: null,
    files: [file],
  }
  const url = await serving({
    'POST /exports': job,
    'GET /exports/e': job,
    'GET /exports/harm': harm,
    'GET /exports/e/files/../harm': harm,
  })
  const output = join(folder.path, 'out')

  const { code, stderr } = await streamvault(
    ['export', 'stream', '--format', 'csv', '--output', output, '--url', url],
    settingsOf(folder.path),
  )

  expect(stderr).toContain('is not the name of a file in a folder')
  expect(code).toBe(1)
  expect(existsSync(folder.file('harm'))).toBe(false)
})

test('a terminal obeys nothing of what comes as JSON', async () => {
  using folder = new TemporaryFolder()
  const name = 'red \u009b31m \u202e'
  const url = await serving({
    'GET /templates': [
      { id: 't', name, version: 1, created_at: '2026-01-01T00:00:00Z', hint: 'h' },
    ],
  })

  const { stdout, stderr } = await streamvault(
    ['templates', 'list', '--json', '--url', url],
    settingsOf(folder.path),
  )

  expect(stderr).toBe('')
  expect(stdout).toContain('red \\u009b31m \\u202e')
  expect(JSON.parse(stdout)).toMatchObject([{ name }])
})
