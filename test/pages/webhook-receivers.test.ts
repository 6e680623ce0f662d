import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signatureOf } from '../../src/telling/webhooks/signature.ts'
import { ApiClient } from '../support/api-client.ts'
import { pour } from '../support/endless-body.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

const secret = 'a secret with ü'
const folder = mkdtempSync(join(tmpdir(), 'streamvault-receivers-'))
const built = join(folder, 'receiver')

/** The example in each language: how it is built, and how it is started. */
const languages = [
  {
    tool: process.execPath,
    build: [],
    run: [process.execPath, source('js')],
    extension: 'js',
    work: 'console.log(line)',
    failure:
      "globalThis.calls = (globalThis.calls ?? 0) + 1; if (globalThis.calls === 1) throw new Error('busy');",
  },
  {
    tool: 'python3',
    build: [],
    run: ['python3', source('py')],
    extension: 'py',
    work: 'print(line, flush=True)',
    failure:
      'if not hasattr(handle, "failed"): handle.failed = True; raise RuntimeError("busy")\n    ',
  },
  {
    tool: 'go',
    build: ['build', '-o', built, source('go')],
    run: [built],
    extension: 'go',
    work: 'fmt.Println(line)',
    failure: 'if os.Getenv("FAILED") == "" { os.Setenv("FAILED", "1"); panic("busy") }; ',
  },
] as const

function source(extension: string): string {
  return `examples/webhook-receiver/receiver.${extension}`
}

/** In CI a missing tool is a failure. */
function isSkipped(tool: string): boolean {
  const isMissing = spawnSync(tool, ['--help']).error !== undefined
  if (isMissing) process.stderr.write(`${tool} is missing: run scripts/install-test-tools\n`)
  return isMissing && !process.env['CI']
}

afterAll(() => rmSync(folder, { recursive: true }))

describe.each(languages)('the example that $tool runs', (language) => {
  const { tool, build, run } = language
  const present = test.skipIf(isSkipped(tool))

  beforeAll(() => {
    if (build.length === 0 || isSkipped(tool)) return
    const { status, stderr } = spawnSync(tool, build, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  })

  const started = async (settings = {}) => await Example.start(run, { SECRET: secret, ...settings })

  present('takes what is signed, in both formats, and shows it once', async () => {
    await using example = await started()
    const bodies = [emitted(), forthcoming()]
    for (const body of bodies) {
      expect(await example.post(body)).toEqual([204, ''])
      expect(await example.post(body)).toEqual([200, 'the event was seen before'])
    }
    await expect.poll(() => example.events).toEqual(bodies)
  })

  present('takes an event again whose work has failed', async () => {
    const words = failingFirst(language)
    await using example = await Example.start(words, { SECRET: secret })
    const body = forthcoming()
    await expect(example.post(body)).rejects.toThrow(/socket hang up|ECONNRESET/)
    expect(await example.post(body)).toEqual([204, ''])
    expect(await example.post(body)).toEqual([200, 'the event was seen before'])
    await expect.poll(() => example.events).toEqual([body])
  })

  present('takes one type of event of one resource again at another time', async () => {
    await using example = await started()
    expect(await example.post(emitted({ secondsAgo: 2 }))).toEqual([204, ''])
    expect(await example.post(emitted({ secondsAgo: 1 }))).toEqual([204, ''])
  })

  present('takes the signature of the next secret, too', async () => {
    await using example = await started()
    const body = forthcoming()
    const headers = {
      'x-service-signature': signatureOf(body, 'the old one'),
      'x-service-signature-next': signatureOf(body, secret),
    }
    expect(await example.post(body, headers)).toEqual([204, ''])
  })

  const forged = emitted()
  const good = signatureOf(forged, secret)

  present.each([
    ['without a signature', {}],
    ['with an empty signature', { 'x-service-signature': '' }],
    ['with the beginning of a signature', { 'x-service-signature': good.slice(0, 32) }],
    ['with a signature and more', { 'x-service-signature': `${good}00` }],
    ['with a signature by another secret', signed(forged, 'another')],
    ['with a signature of another body', signed(`${forged} `)],
    ['with a signature that is no hex', { 'x-service-signature': 'sha256=schlüssel' }],
    ['with an algorithm of its own', { 'x-service-signature': `sha1=${good}` }],
  ])('refuses a delivery %s', async (_, headers) => {
    await using example = await started()
    const remark = 'the signature does not fit: is SECRET the secret of this webhook?'
    expect(await example.post(forged, headers)).toEqual([401, remark])
    await expect.poll(() => example.remarks).toEqual([`401 ${remark}`])
    expect(example.events).toEqual([])
  })

  present('refuses what was recorded, after 48 hours or as many as are set', async () => {
    const dayAgo = emitted({ secondsAgo: 24 * 3_600 })
    await using example = await started()
    await using strict = await started({ MAX_AGE_HOURS: '0.5' })
    expect(await example.post(dayAgo)).toEqual([204, ''])
    expect(await example.post(emitted({ secondsAgo: 49 * 3_600 }))).toEqual(tooOld)
    expect(await example.post(forthcoming({ secondsAgo: 49 * 3_600 }))).toEqual(tooOld)
    expect(await strict.post(dayAgo)).toEqual(tooOld)
  })

  present('refuses what comes from the future', async () => {
    await using example = await started()
    const answer = [400, 'the event is of the future: compare the clocks']
    expect(await example.post(emitted({ secondsAgo: -60 }))).toEqual([204, ''])
    expect(await example.post(emitted({ secondsAgo: -600 }))).toEqual(answer)
  })

  present.each([
    '',
    'hello',
    '[]',
    '17',
    'null',
    '{}',
    '{"event_type":"vault.created","timestamp":"2026-01-31T23:59:59.123456"}',
    '{"eventType":"stream.alert_triggered","eventId":"1","timestamp":"2026-01-31T23:59:59.123456Z"}',
    '{"event_type":"vault.created","timestamp":"yesterday","data":{"id":"boiler"}}',
    '{"event_type":"vault.created","timestamp":17,"data":{"id":"boiler"}}',
  ])('refuses %j, which is no event, although it is signed', async (body) => {
    await using example = await started()
    expect(await example.post(body)).toEqual([400, 'the body is not an event'])
  })

  present('refuses JSON that is nested deeply, although it is signed', async () => {
    await using example = await started()
    expect(await example.post('['.repeat(100_000))).toEqual([400, 'the body is not an event'])
    await expect.poll(() => example.remarks).toHaveLength(1)
  })

  present('refuses a body that has no end, and is there for others', async () => {
    await using example = await started()
    const sent = await pour(example.port, 100_000_000)
    expect(sent).toBeLessThan(100_000_000)
    expect(await example.post(emitted())).toEqual([204, ''])
  })

  present('refuses a long body', async () => {
    await using example = await started()
    const answer = [413, 'the body is too long']
    expect(await example.post(`"${'x'.repeat(1_048_575)}"`)).toEqual(answer)
    expect(await example.post('x'.repeat(5_000_000))).toEqual(answer)
    // As long as it may be: it is read, and is no event.
    expect(await example.post(`"${'x'.repeat(1_048_574)}"`)).toEqual([
      400,
      'the body is not an event',
    ])
  })

  present('refuses a body of unknown length, and other methods', async () => {
    await using example = await started()
    const chunked = await example.ask('POST', { 'transfer-encoding': 'chunked' }, emitted())
    expect(chunked).toEqual([411, 'the length of the body is missing'])
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      expect(await example.ask(method)).toEqual([405, 'the method is not POST'])
    }
  })

  present('finds the test vectors of the page signed', async () => {
    const vectors = readFileSync('docs/webhooks.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"format":'))
      .map((line) => JSON.parse(line) as Record<'secret' | 'body' | 'signature', string>)
    expect(vectors.length).toBeGreaterThan(2)
    for (const vector of vectors) {
      await using example = await started({ SECRET: vector.secret, MAX_AGE_HOURS: '1000000' })
      const headers = { 'x-service-signature': vector.signature }
      expect(await example.post(vector.body, headers)).toEqual([204, ''])
    }
  })

  present('does not start without a secret', async () => {
    await expect(started({ SECRET: '' })).rejects.toThrow('set SECRET to the secret')
  })
})

test('the page has the command of each', () => {
  const text = readFileSync('docs/first-alert.md', 'utf8')
  expect(text).toContain(` node ${source('js')} > `)
  expect(text).toContain(`\`python3 ${source('py')}\``)
  expect(text).toContain(`\`go run ${source('go')}\``)
})

describe('deliveries of the service', () => {
  const examples: Example[] = []
  let service: ServiceProcess
  let api: ApiClient

  beforeAll(async () => {
    for (const { tool, run } of languages) {
      if (isSkipped(tool)) continue
      examples.push(await Example.start(run, { SECRET: secret }))
    }
    service = await startServiceProcess(newDataDir(), {
      STREAMVAULT_EGRESS_ALLOW: examples.map(({ port }) => `127.0.0.1:${port}`).join(),
    })
    api = new ApiClient(service.http)
  })

  afterAll(async () => {
    await service.end('SIGTERM')
    rmSync(service.dataDir, { recursive: true })
    for (const example of examples) await example[Symbol.asyncDispose]()
  })

  test.each(['vault.created', 'stream.alert_triggered'])(
    'of %s are taken by each',
    async (type) => {
      for (const example of examples) {
        const url = `http://127.0.0.1:${example.port}/hook`
        const webhook = { url, secret, events: [type] }
        const { body } = await api.withToken<{ webhookId: string }>('POST', '/webhooks', webhook)
        const at = `/notifications/webhooks/${body.webhookId}`
        const before = example.events.length
        await api.withToken('POST', `${at}/test`, {})
        await expect.poll(() => example.events).toHaveLength(before + 1)
        expect(JSON.parse(example.events[before] ?? '')).toMatchObject({ data: { test: true } })
        const deliveries = async () =>
          (await api.withToken<{ content: object[] }>('GET', `${at}/deliveries`)).body.content
        await expect.poll(deliveries).toMatchObject([{ status_code: 204, delivered: true }])
      }
    },
  )

  test('by another secret are refused by each, and the record says why', async () => {
    for (const example of examples) {
      const url = `http://127.0.0.1:${example.port}/hook`
      const webhook = { url, secret: 'another', event_types: ['vault.created'] }
      const at = '/notifications/webhooks'
      const { body } = await api.withToken<{ id: string }>('POST', at, webhook)
      await api.withToken('POST', `${at}/${body.id}/test`, {})
      const deliveries = async () =>
        (await api.withToken<{ content: object[] }>('GET', `${at}/${body.id}/deliveries`)).body
          .content
      await expect.poll(deliveries).toMatchObject([
        {
          status_code: 401,
          delivered: false,
          response_excerpt: expect.stringContaining('is SECRET the secret') as string,
        },
      ])
    }
  })
})

/** The example with work that fails for the first event. Returns the words that start it. */
function failingFirst({ extension, work, failure, tool }: (typeof languages)[number]) {
  const text = readFileSync(source(extension), 'utf8')
  expect(text).toContain(work)
  const copy = join(folder, `failing.${extension === 'js' ? 'mjs' : extension}`)
  const resolved = import.meta.resolve('streamvault/verify-signature')
  const failing = text.replace(work, failure + work)
  writeFileSync(copy, failing.replace('streamvault/verify-signature', resolved))
  if (extension !== 'go') return [tool, copy]
  const program = join(folder, 'failing')
  const { status, stderr } = spawnSync(tool, ['build', '-o', program, copy], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return [program]
}

const tooOld = [400, 'the event is too old']

/** A time in the way of the service, with microseconds and without a zone. */
function timeOf(secondsAgo: number): string {
  return new Date(Date.now() - secondsAgo * 1_000).toISOString().replace('Z', '456')
}

function emitted({ secondsAgo = 0 } = {}): string {
  return `{"event_type":"vault.created","timestamp":"${timeOf(secondsAgo)}","data":{"id":"boiler ü"}}`
}

function forthcoming({ secondsAgo = 0 } = {}): string {
  const id = crypto.randomUUID()
  return `{"eventType":"stream.alert_triggered","eventId":"${id}","timestamp":"${timeOf(secondsAgo)}Z","data":{"value":90.5}}`
}

/** The header of a body, in the way of its format. */
function signed(body: string, key = secret): Readonly<Record<string, string>> {
  const prefix = body.includes('event_type') ? 'sha256=' : ''
  return { 'x-service-signature': prefix + signatureOf(body, key) }
}

/** An example that runs. */
class Example {
  /** What it has printed: an event a line. */
  readonly events: string[] = []
  /** What it has said about what it refused. */
  readonly remarks: string[] = []
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  port = 0

  private constructor([command = '', ...args]: readonly string[], settings: object) {
    this.#process = spawn(command, args, {
      env: { ...process.env, PORT: '0', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#ended = once(this.#process, 'close')
    const { stdout, stderr } = this.#process
    if (stdout === null || stderr === null) throw new Error('it has no output')
    createInterface({ input: stdout }).on('line', (line) => this.events.push(line))
    createInterface({ input: stderr }).on('line', (line) => this.remarks.push(line))
  }

  /** @throws Error when it does not listen, with what it says */
  static async start(command: readonly string[], settings: object): Promise<Example> {
    const example = new Example(command, settings)
    const ended = example.#ended.then(() => true)
    for (;;) {
      const first = example.remarks.shift()
      const port = /^listening on port (\d+)$/.exec(first ?? '')?.[1]
      if (port !== undefined) {
        example.port = Number(port)
        return example
      }
      if (first !== undefined) {
        await ended
        throw new Error(first)
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** Status and text of the answer to a delivery; without headers it is signed as it should be. */
  async post(body: string, headers = signed(body)): Promise<readonly [number, string]> {
    return await this.ask(
      'POST',
      { 'content-length': String(Buffer.byteLength(body)), ...headers },
      body,
    )
  }

  async ask(
    method: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string,
  ): Promise<readonly [number, string]> {
    const asked = request({ host: '127.0.0.1', port: this.port, method, headers })
    // The answer to a long body may come before its end, and the connection break then.
    asked.on('error', () => {})
    asked.end(body)
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.setEncoding('utf8')
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    return [answer.statusCode ?? 0, text]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill()
    await this.#ended
  }
}
