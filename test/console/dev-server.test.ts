import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'

/** Says what it was asked. */
const service = createServer((request: IncomingMessage, response) => {
  const { method, url, headers } = request
  response.end(JSON.stringify({ method, url, host: headers.host, origin: headers.origin }))
})

interface Heard {
  readonly url: string
  readonly host: string
  readonly origin?: string
}

let own = ''
let origin = ''
let end: () => Promise<unknown> = async () => undefined

beforeAll(async () => {
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const port = String(await freePort())
  const words = ['node_modules/vite/bin/vite.js', 'console', '--port', port, '--strictPort']
  const child = spawn(process.execPath, words, {
    env: { ...process.env, STREAMVAULT_URL: origin },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  end = async () => {
    child.kill()
    await exited
  }
  for await (const line of createInterface(child.stdout)) {
    const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(stripVTControlCharacters(line)) ?? []
    if (found === undefined) continue
    own = found
    return
  }
  throw new Error('the server of the console has ended')
})

afterAll(async () => {
  await end()
  service.close()
})

async function ask(path: string, init: RequestInit = {}): Promise<Heard> {
  return (await (await fetch(own + path, init)).json()) as Heard
}

describe('the server for working on the console', () => {
  test.each(['/console/', '/console/streams/7/history', '/console/sessions-of-others'])(
    'has the page at %s, from its sources',
    async (path) => {
      const answer = await fetch(own + path, { headers: { accept: 'text/html' } })

      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('/console/@vite/client')
    },
  )

  test('leads to it from the root', async () => {
    const answer = await fetch(own, { redirect: 'manual', headers: { accept: 'text/html' } })

    expect(answer.headers.get('location')).toBe('/console/')
  })

  test.each(['/streams?limit=1', '/openapi.json', '/console/session', '/console/sessions/7'])(
    'asks the service for %s',
    async (path) => {
      expect(await ask(path)).toMatchObject({ url: path, host: new URL(origin).host })
    },
  )

  test('passes on its page as one of the service, and no other page', async () => {
    expect(await signInFrom(own)).toMatchObject({ origin })
    expect(await signInFrom('http://evil.example')).toMatchObject({ origin: 'http://evil.example' })
    expect(await signInFrom('null')).toMatchObject({ origin: 'null' })
  })
})

function signInFrom(from: string) {
  return ask('/console/session', { method: 'POST', headers: { origin: from } })
}
