import { describe, expect, test } from 'vitest'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'
import { passingTime } from '../support/passing-time.ts'

const secret = 'hush "hush"/\u00e4+?'

async function asked(authentication: object) {
  await using api = await ApiServer.start((_, answer) => json(answer, '{"number": 1}'))
  await new ApiRounds({ endpoint: `${api.origin}/?a=1`, authentication }, [api.port]).round()
  return { headers: api.asked[0]?.headers ?? {}, path: api.paths[0] }
}

describe('who asks is shown', () => {
  test('by nothing', async () => {
    expect((await asked({ type: 'none' })).headers).not.toHaveProperty('authorization')
  })

  test('by a name and a password', async () => {
    const { headers } = await asked({ type: 'basic', username: 'ada', password: secret })
    const [, encoded = ''] = (headers.authorization ?? '').split('Basic ')
    expect(Buffer.from(encoded, 'base64').toString()).toBe(`ada:${secret}`)
  })

  test('by a token', async () => {
    const { headers } = await asked({ type: 'bearer', token: 'abc' })
    expect(headers.authorization).toBe('Bearer abc')
  })

  test('by a key in a header', async () => {
    const { headers } = await asked({ type: 'apiKey', name: 'X-Key', value: 'abc' })
    expect(headers['x-key']).toBe('abc')
  })

  test('by a key in the query', async () => {
    const { path } = await asked({ type: 'apiKey', name: 'key', value: 'a&b', in: 'query' })
    expect(path).toBe('/?a=1&key=a%26b')
  })
})

const authentications = {
  basic: { type: 'basic', username: 'ada', password: secret },
  bearer: { type: 'bearer', token: 'hush-token' },
  header: { type: 'apiKey', name: 'x-key', value: 'hush-key' },
  query: { type: 'apiKey', name: 'key', value: secret, in: 'query' },
}

describe.each(Object.entries(authentications))('a secret (%s)', (_, authentication) => {
  test('is not sent to where a redirect leads, unless that is the same origin', async () => {
    await using other = await ApiServer.start((_asked, answer) => json(answer, '{}'))
    await using api = await ApiServer.start(({ url }, answer) => {
      const location = url.pathname === '/here' ? `${other.origin}/there` : '/here'
      answer.writeHead(302, { location }).end()
    })
    const source = { endpoint: api.origin, authentication, headers: { 'x-mine': 'hush' } }
    await new ApiRounds(source, [api.port, other.port]).round()
    const [first, second] = api.asked
    expect(second?.headers).toEqual(first?.headers)
    expect(second?.url.search).toBe(first?.url.search)
    const { host: __, connection: ___, ...sent } = other.asked[0]?.headers ?? {}
    expect(Object.keys(sent).toSorted()).toEqual(['accept', 'accept-encoding', 'user-agent'])
    expect(other.paths).toEqual(['/there'])
  })

  test('is not shown when the answer repeats it, however that writes it', async () => {
    await using api = await ApiServer.start(({ headers, url }, answer) => {
      answer.writeHead(401)
      const said = {
        url,
        given: 'hush-token hush-key',
        secret,
        encoded: encodeURIComponent(secret),
      }
      answer.end(JSON.stringify([headers.authorization, said]))
    })
    const source = { endpoint: api.origin, authentication }
    const failure = await new ApiRounds(source, [api.port]).failure()
    expect(failure).toBeInstanceOf(SourceRefused)
    expect(failure.message).toContain('********')
    const own = Object.values(authentication).find((value) => value.includes('hush')) ?? ''
    const encoded = Buffer.from(`ada:${secret}`).toString('base64')
    const written = [own, JSON.stringify(own).slice(1, -1), encodeURIComponent(own), encoded]
    for (const one of written) expect(failure.message).not.toContain(one)
  })
})

test('a header of the user is a secret, too', async () => {
  await using api = await ApiServer.start((_, answer) =>
    answer.writeHead(403).end('no hush-hush here'),
  )
  const source = { endpoint: api.origin, headers: { 'x-mine': 'hush-hush' } }
  const { message } = await new ApiRounds(source, [api.port]).failure()
  expect(message).toBe('the answer was 403: no ******** here')
})

test('a key in the query is not kept with a link that repeats it', async () => {
  await using api = await ApiServer.start(({ url }, answer) => {
    const next = new URL(url)
    next.searchParams.set('page', `${api.asked.length}`)
    json(answer, [{ number: 1 }], { link: `<${next.href}>; rel="next"` })
  })
  const authentication = { type: 'apiKey', name: 'key', value: 'hush', in: 'query' }
  const source = { endpoint: api.origin, authentication, pagination: { type: 'link', pagesMax: 3 } }
  const rounds = new ApiRounds(source, [api.port])
  await rounds.round()
  expect(rounds.position).toEqual({ next: `${api.origin}/?page=3` })
  expect(api.paths).toEqual(['/?key=hush', '/?page=1&key=hush', '/?page=2&key=hush'])
})

describe('a token of OAuth 2', () => {
  interface Grant {
    readonly status?: number
    readonly answer?: unknown
    /** Tokens that the API takes. */
    readonly taken?: (token: string) => boolean
    readonly source?: object
  }

  async function oauth({ status = 200, answer, taken = () => true, source = {} }: Grant = {}) {
    const tokens = await ApiServer.start((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      const value = `token-${tokens.asked.length}`
      const body = answer ?? { access_token: value, token_type: 'Bearer', expires_in: 600 }
      response.end(JSON.stringify(body))
    })
    const api = await ApiServer.start(({ headers }, response) => {
      const token = (headers.authorization ?? '').replace('Bearer ', '')
      if (taken(token)) json(response, '{"number": 1}')
      else response.writeHead(401).end(`not ${token}, nor ${secret}`)
    })
    const authentication = {
      type: 'oauth2',
      tokenUrl: `${tokens.origin}/token`,
      clientId: 'vault:7',
      clientSecret: secret,
      ...source,
    }
    const rounds = new ApiRounds({ endpoint: api.origin, authentication }, [api.port, tokens.port])
    return {
      api,
      tokens,
      rounds,
      given: () => api.asked.map(({ headers }) => headers.authorization),
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]()
        await tokens[Symbol.asyncDispose]()
      },
    }
  }

  test('is asked for with the secret in a header, and kept until shortly before it ends', async () => {
    await using served = await oauth({ source: { scope: 'read' } })
    const { rounds, tokens, given } = served
    await rounds.round()
    using time = passingTime()
    // However the wall clock is set: it is not asked.
    rounds.nowUs += 86_400_000_000
    time.passedMs += 560_000
    await rounds.round()
    expect(given()).toEqual(['Bearer token-1', 'Bearer token-1'])
    rounds.nowUs -= 2 * 86_400_000_000
    time.passedMs += 20_000
    await rounds.round()
    expect(given()[2]).toBe('Bearer token-2')
    const [first] = tokens.asked
    expect(first).toMatchObject({
      method: 'POST',
      body: 'grant_type=client_credentials&scope=read',
    })
    const [, encoded = ''] = (first?.headers.authorization ?? '').split('Basic ')
    const [id = '', password = ''] = Buffer.from(encoded, 'base64').toString().split(':')
    const pair = new URLSearchParams(`id=${id}&password=${password}`)
    expect([pair.get('id'), pair.get('password')]).toEqual(['vault:7', secret])
  })

  test('is asked for with the secret in the body where the source says so', async () => {
    await using served = await oauth({ source: { secretIn: 'body' } })
    await served.rounds.round()
    const form = new URLSearchParams(served.tokens.asked[0]?.body)
    expect(form.get('client_secret')).toBe(secret)
    expect(served.tokens.asked[0]?.headers).not.toHaveProperty('authorization')
  })

  test('that is not taken is asked for anew, once', async () => {
    await using served = await oauth({ taken: (token) => token === 'token-2' })
    expect(await served.rounds.texts()).toHaveLength(1)
    expect(served.given()).toEqual(['Bearer token-1', 'Bearer token-2'])

    await using refused = await oauth({ taken: () => false })
    const failure = await refused.rounds.failure()
    expect(failure).toBeInstanceOf(SourceRefused)
    expect(refused.given()).toHaveLength(2)
    expect(failure.message).toBe('the answer was 401: not ********, nor ********')
  })

  test.each([
    [
      400,
      { error: 'invalid_client', secret },
      'no token: the answer was 400: {"error":"invalid_client","secret":"********"}',
      true,
    ],
    [503, {}, 'no token: the answer was 503: {}', false],
    [302, {}, 'no token: the answer was 302: {}, and redirects of it are not followed', true],
    [200, { access_token: 7 }, 'no token: the answer has no bearer token', false],
    [200, { access_token: 'a\r\nb' }, 'no token: the answer has no bearer token', false],
    [
      200,
      { access_token: 'a', token_type: 'mac' },
      'no token: the answer has no bearer token',
      false,
    ],
    [200, null, 'no token: the answer has no bearer token', false],
  ])('is not there after %s %j', async (status, answer, reason, isRefusal) => {
    await using served = await oauth({ status, answer: answer ?? 'null' })
    const failure = await served.rounds.failure()
    expect(failure.message).toBe(reason)
    expect(failure instanceof SourceRefused).toBe(isRefusal)
    expect(served.api.asked).toEqual([])
  })

  test('is asked for where one may connect to, or not at all', async () => {
    await using served = await oauth({ source: { tokenUrl: 'http://169.254.169.254/token' } })
    expect(await served.rounds.failure()).toMatchObject({ code: 'destination_not_allowed' })
  })
})
