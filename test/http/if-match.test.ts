import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { strongTags } from '../../src/requests/http/if-match.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Versioned extends ErrorBody {
  readonly version: number
  readonly name: string
}

function change(streamId: string, name: string, ifMatch?: string) {
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
  return service.api.withToken<Versioned>('PUT', `/streams/${streamId}`, { name }, headers)
}

describe('If-Match of PUT /streams/{stream_id}', () => {
  test('reading and changing a stream tell its version as ETag', async () => {
    const streamId = await service.api.createStream()

    const first = await service.api.withToken('GET', `/streams/${streamId}`)
    const second = await change(streamId, 'second')

    expect(first.headers.get('etag')).toBe('"1"')
    expect(second.headers.get('etag')).toBe('"2"')
  })

  test.each(['"1"', '*', '"0", "1"', ',"a,b" ,, "1",', 'W/"2", "1"'])(
    'a stream of version 1 is changed with %s',
    async (ifMatch) => {
      const streamId = await service.api.createStream()

      const { status, body } = await change(streamId, 'heat', ifMatch)

      expect(status).toBe(200)
      expect(body).toMatchObject({ version: 2, name: 'heat' })
    },
  )

  test.each(['"2"', 'W/"1"', '"01"', '"1,"', '"0", "3"'])(
    'a stream of version 1 stays as it is with %s: 412 names its version',
    async (ifMatch) => {
      const streamId = await service.api.createStream()

      const { status, headers, body } = await change(streamId, 'heat', ifMatch)

      expect(status).toBe(412)
      expect(headers.get('etag')).toBe('"1"')
      const message = expect.stringContaining('version 1') as string
      expect(body).toMatchObject({
        error: 'precondition_failed',
        details: [{ path: 'If-Match', message }],
      })
      const { body: now } = await service.api.withToken('GET', `/streams/${streamId}`)
      expect(now).toMatchObject({ version: 1, name: 'temperature' })
    },
  )

  test.each(['1', '"1', '*, "1"', '"1" "2"', 'w/"1"', ',', '"a"b'])(
    'refuses %s with 400',
    async (ifMatch) => {
      const streamId = await service.api.createStream()

      const { status, body } = await change(streamId, 'heat', ifMatch)

      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'invalid_request', details: [{ path: 'If-Match' }] })
    },
  )

  test('is no matter where there is no stream', async () => {
    const { status } = await change('00000000-0000-4000-8000-000000000000', 'heat', '"1"')

    expect(status).toBe(404)
  })

  test('of many changes of one version at once one is made', async () => {
    const streamId = await service.api.createStream()

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => change(streamId, `heat ${index}`, '"1"')),
    )

    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other)
    expect(statuses).toEqual([200, ...Array(7).fill(412)])
    const made = answers.find(({ status }) => status === 200)
    const { body } = await service.api.withToken('GET', `/streams/${streamId}`)
    expect(body).toMatchObject({ version: 2, name: made?.body.name })
  })
})

describe('strongTags', () => {
  const signs = Array.from({ length: 0xff - 0x20 }, (_, index) => String.fromCharCode(index + 0x21))
  const allowed = signs.filter((sign) => sign !== '"' && sign !== '\u007f')
  const tag = fc.string({ unit: fc.constantFrom(...allowed), maxLength: 12 })
  const gap = fc.string({ unit: fc.constantFrom(' ', '\t', ','), maxLength: 3 })

  test('gives the strong tags of any list, in order', () => {
    const listed = fc.array(fc.tuple(fc.boolean(), tag, gap), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(listed, gap, (tags, before) => {
        const text = tags.map(([isWeak, one, after]) => `${isWeak ? 'W/' : ''}"${one}" ,${after}`)
        const strong = tags.filter(([isWeak]) => !isWeak).map(([, one]) => `"${one}"`)
        expect(strongTags(before + text.join(''))).toEqual(strong)
      }),
    )
  })

  test('answers or refuses whatever comes', () => {
    const sign = fc.constantFrom('"', ',', ' ', '\t', 'W', '/', '*', 'a', '\u007f', 'é')
    fc.assert(
      fc.property(fc.string({ unit: sign, maxLength: 20 }), (text) => {
        try {
          const tags = strongTags(text)
          if (tags !== '*') for (const one of tags) expect(text).toContain(one)
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request' })
        }
      }),
    )
  })
})
