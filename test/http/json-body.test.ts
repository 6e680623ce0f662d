import { describe, expect, test } from 'vitest'
import { type RawAnswer, sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

function post(body: string | Uint8Array): Promise<RawAnswer> {
  const headers = ['x-api-key', adminKey, 'x-api-secret', adminSecret]
  return sendRaw(service.process.http, {
    method: 'POST',
    path: '/templates',
    headers: [...headers, 'content-type', 'application/json'],
    body,
  })
}

function template(name: string): string {
  return `{"name": ${name}, "hint": "a boiler", "required_streams": []}`
}

describe('a body', () => {
  test.each([
    ['a key twice', '{"name":"a","name":"b","hint":"h","required_streams":[]}'],
    [
      'a key twice, spelled in two ways',
      '{"name":"a","n\\u0061me":"b","hint":"h","required_streams":[]}',
    ],
    ['a byte order mark', `\uFEFF${template('"a"')}`],
    ['U+0000 in a text', template('"\\u0000"')],
    ['half a surrogate pair', template('"\\ud800"')],
    ['invalid UTF-8', Buffer.from(template('"\xff"'), 'latin1')],
    ['a key __proto__', '{"__proto__":{"name":"x"}}'],
    ['a key __proto__ in disguise', '{"\\u005f_proto__":{"name":"x"}}'],
    ['a key __proto__ deep inside', '{"name":{"a":[{"__proto__":1}]}}'],
    ['an integer that would be rounded', template('9007199254740993')],
    ['more levels than anything needs', `${'['.repeat(70)}${']'.repeat(70)}`],
    ['a hundred thousand levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('with %s is 400 malformed_body', async (_, body) => {
    const answer = await post(body)

    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('malformed_body')
    expect(answer.body.message).toMatch(/\S/)
  })

  test('with any other text is taken as it is', async () => {
    const name = 'Kessel "7" \\ \u00fc \u{1F525} constructor __proto__'

    const answer = await post(template(JSON.stringify(name)))

    expect(answer.status).toBe(201)
    expect(JSON.parse(answer.text)).toMatchObject({ name })
  })
})

test('an empty body of JSON is fine where the operation has none', async () => {
  const created = JSON.parse((await post(template('"a"'))).text) as { id: string }

  const answer = await fetch(`${service.process.http}/templates/${created.id}`, {
    method: 'DELETE',
    headers: {
      'x-api-key': adminKey,
      'x-api-secret': adminSecret,
      'content-type': 'application/json',
    },
  })

  expect(answer.status).toBe(204)
})
