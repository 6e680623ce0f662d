import { setTimeout as sleep } from 'node:timers/promises'
import { adminKey, adminSecret } from './service-process.ts'

export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface StreamCounters {
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  readonly unchanged: number
  readonly filtered: number
  readonly quarantined: number
  readonly discarded: number
  readonly pending: number
}

export interface StreamStatus {
  readonly status: string
  readonly counters: StreamCounters
  /** How its source is doing, if it fetches. */
  readonly source?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export interface DataPage {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly nextCursor: string | null
}

/** For what hangs, and not for what is slow. */
const settlingMsMax = 120_000
const answeringMsMax = 60_000

const keyHeaders = { 'x-api-key': adminKey, 'x-api-secret': adminSecret }

/** Talks to a running service as the bootstrap user, in both interfaces. */
export class ApiClient {
  readonly base: string
  #token = ''

  constructor(base: string) {
    this.base = base
  }

  /** Sends a request with the given headers; a body that is no text is sent as JSON. */
  async request<Body>(
    method: string,
    path: string,
    options: { headers?: Readonly<Record<string, string>>; body?: unknown } = {},
  ): Promise<Answer<Body>> {
    const { headers = {}, body } = options
    const response = await fetch(this.base + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await textOf(response)
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const parsed = isJson && text !== '' ? (JSON.parse(text) as Body) : undefined
    return { status: response.status, headers: response.headers, body: parsed as Body }
  }

  withKey<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.request(method, path, { headers: keyHeaders, body })
  }

  async withToken<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const authorization = `Bearer ${await this.token()}`
    return this.request(method, path, { headers: { authorization, ...headers }, body })
  }

  async token(): Promise<string> {
    if (this.#token === '') {
      const credentials = { apiKey: adminKey, apiSecret: adminSecret }
      const answer = await this.request<{ accessToken: string }>('POST', '/auth/token', {
        body: credentials,
      })
      this.#token = answer.body.accessToken
    }
    return this.#token
  }

  /** The id of the user whose key this is, as its tokens say. */
  async userId(): Promise<string> {
    const [, claims = ''] = (await this.token()).split('.')
    return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string }).sub
  }

  /** Makes a template and a vault; returns the vault's id. */
  async createVault(): Promise<string> {
    const template = await this.withKey<{ id: string }>('POST', '/templates', {
      name: 'boiler',
      hint: 'a boiler',
      required_streams: [],
    })
    const vault = await this.withKey<{ id: string }>('POST', '/vaults', {
      template_id: template.body.id,
      name: 'boiler 7',
    })
    return vault.body.id
  }

  /** Makes a data stream with these fields, and a vault for it unless one is named; returns the stream's id. */
  async createStream(
    schema: object = { temperature: { type: 'number' } },
    rest: Readonly<Record<string, unknown>> & { readonly vaultId?: string } = {},
  ): Promise<string> {
    const { vaultId = await this.createVault(), ...others } = rest
    const stream = await this.withToken<{ streamId: string }>('POST', '/streams', {
      name: 'temperature',
      vaultId,
      type: 'iot_sensor',
      schema,
      ...others,
    })
    if (stream.status !== 201) throw new Error(JSON.stringify(stream.body))
    return stream.body.streamId
  }

  async status(streamId: string): Promise<StreamStatus> {
    return (await this.withToken<StreamStatus>('GET', `/streams/${streamId}/status`)).body
  }

  /** Waits until nothing of the stream is pending, and at least `received` readings were counted. */
  async settled(streamId: string, received = 0): Promise<StreamCounters> {
    const deadlineMs = performance.now() + settlingMsMax
    for (;;) {
      const { counters } = await this.status(streamId)
      if (counters.pending === 0 && counters.received >= received) return counters
      if (performance.now() > deadlineMs) {
        throw new Error(`stream ${streamId} does not come to rest: ${JSON.stringify(counters)}`)
      }
      await sleep(50)
    }
  }

  /** All readings of a stream, page by page. */
  async readAll(streamId: string, query = ''): Promise<DataPage['data']> {
    const points: Readonly<Record<string, unknown>>[] = []
    let cursor = ''
    do {
      const path = `/streams/${streamId}/data?limit=10000${query}${cursor && `&cursor=${cursor}`}`
      const { data, nextCursor } = await this.#page(path)
      points.push(...data)
      cursor = nextCursor ?? ''
    } while (cursor !== '')
    return points
  }

  /** A store that was just started anew may want to be asked again later. */
  async #page(path: string): Promise<DataPage> {
    const deadlineMs = performance.now() + answeringMsMax
    for (;;) {
      const { status, body } = await this.withToken<DataPage>('GET', path)
      if (status === 200) return body
      if (status !== 503 || performance.now() > deadlineMs) {
        throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
      }
      await sleep(250)
    }
  }
}

/** The body, unless there is no end to it. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    return await response.text()
  }
  await response.body?.cancel()
  return ''
}
