import { beforeEach, describe, expect, test } from 'vitest'
import { edgeNumbers } from '../support/any-numbers.ts'
import type { Answer } from '../support/api-client.ts'
import { naughtyNames, naughtyTexts } from '../support/naughty-texts.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })

interface Made {
  readonly id: string
  readonly streamId: string
  readonly keyId: string
}

type Body = Readonly<Record<string, unknown>>

let person: Person
let vaultId: string

// An inbox takes a hundred entries a minute of one user: none has those of another test.
beforeEach(async () => {
  person = await newPerson(service.api)
  vaultId = await vaultOf(person)
})

async function stream(rest: object = {}): Promise<string> {
  const schema = { value: { type: 'number' }, text: { type: 'string' } }
  const body = { name: 'a', vaultId, type: 'iot_sensor', schema, ...rest }
  const made = await person.withToken<Made>('POST', '/streams', body)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body.streamId
}

/** What came of each name: what is told of it again, or why it was not taken. */
async function told(
  make: (name: string) => Promise<Answer<Body>>,
  again: (made: Body) => Promise<Answer<Body>>,
  names: (body: Body) => readonly unknown[],
): Promise<void> {
  for (const name of naughtyNames) {
    const made = await make(name)
    if (name.trim() === '' && made.status === 400) continue
    expect(made.status, `${JSON.stringify(name)}: ${JSON.stringify(made.body)}`).toBe(201)
    const { body } = await again(made.body)
    expect(names(body).every((one) => one === name)).toBe(true)
  }
}

describe('names are told as they were given', () => {
  test('of streams, with their tags', async () => {
    await told(
      (name) =>
        person.withToken('POST', '/streams', {
          name,
          vaultId,
          type: 'iot_sensor',
          schema: { value: { type: 'number' } },
          tags: { site: name },
        }),
      ({ streamId }) => person.withToken('GET', `/streams/${String(streamId)}`),
      ({ name, tags }) => [name, (tags as Body)['site']],
    )
  })

  test('of templates', async () => {
    await told(
      (name) =>
        person.withKey('POST', '/templates', {
          name,
          hint: name,
          description: name,
          required_streams: [],
        }),
      ({ id }) => person.withKey('GET', `/templates/${String(id)}`),
      ({ name, hint, description }) => [name, hint, description],
    )
  })

  test('of keys', async () => {
    const { api } = service
    await told(
      (name) => api.withKey('POST', '/keys', { name, kind: 'test', permission: 'read_only' }),
      ({ id }) => api.withKey('GET', `/keys/${String(id)}`),
      ({ name }) => [name],
    )
  })

  test('of users', async () => {
    const { api } = service
    let number = 0
    await told(
      (name) =>
        api.withKey('POST', '/users', {
          username: `naughty-${number++}`,
          first_name: name,
          last_name: name,
        }),
      ({ id }) => api.withKey('GET', `/users/${String(id)}`),
      (body) => [body['first_name'], body['last_name']],
    )
  })
})

describe('definitions come back as they were sent, and can be sent again', () => {
  test('with any number as a bound, a threshold and a value of an enumeration', async () => {
    const bounds = edgeNumbers.map((value) => value + 0)
    for (const least of bounds) {
      const schema = { value: { type: 'number', range: [least, Number.MAX_VALUE] } }
      const alerting = [{ id: 'a', field: 'value', operator: '>', threshold: least }]
      const streamId = await stream({ schema, processing: { alerting } })
      const path = `/streams/${streamId}`
      const { body } = await person.withToken<Body>('GET', path)

      const field = { type: 'number', min: least, max: Number.MAX_VALUE }
      expect(body).toMatchObject({ schema: { value: field }, processing: { alerting } })
      const { processing, schema: given } = body
      const again = await person.withToken('PUT', path, { schema: given, processing })
      expect(again.status, JSON.stringify(again.body)).toBe(200)
    }
    const schema = { value: { type: 'number', enum: [...new Set(bounds)] } }
    const path = `/streams/${await stream({ schema })}`
    const { body } = await person.withToken<Body>('GET', path)
    expect(body).toMatchObject({ schema })
    expect((await person.withToken('PUT', path, { schema: body['schema'] })).status).toBe(200)
  })

  test('with naughty texts in an enumeration, which readings then fit', async () => {
    const texts = [...new Set(naughtyTexts)].filter((text) => text.length <= 200).slice(0, 256)
    const schema = { text: { type: 'string', enum: texts } }
    const streamId = await stream({ schema, processing: { validation: 'strict' } })
    const path = `/streams/${streamId}`
    const { body } = await person.withToken<Body>('GET', path)

    expect(body).toMatchObject({ schema })
    expect((await person.withToken('PUT', path, { schema: body['schema'] })).status).toBe(200)
    const readings = texts.map((text) => ({ text }))
    const sent = await person.withToken('POST', `${path}/data`, readings)
    expect(sent).toMatchObject({ status: 202, body: { accepted: texts.length } })
  })
})

test('what is refused is shown byte for byte in the quarantine', async () => {
  const streamId = await stream()
  const readings = naughtyTexts.map((text) => JSON.stringify({ value: text, [`_${text}`]: text }))
  for (let at = 0; at < readings.length; at += 50) {
    const body = `[${readings.slice(at, at + 50).join(',')}]`
    await person.withToken('POST', `/streams/${streamId}/data`, body)
  }
  await person.withToken('POST', `/streams/${streamId}/data`, '{"value":9007199254740993}')
  await expect
    .poll(async () => {
      const path = `/streams/${streamId}/status`
      const { body } = await person.withToken<{ counters: Body }>('GET', path)
      return body.counters['pending']
    })
    .toBe(0)

  const shown: unknown[] = []
  for (let cursor = ''; ; ) {
    const path = `/streams/${streamId}/quarantine?limit=50${cursor && `&cursor=${cursor}`}`
    const { body } = await person.withToken<{
      entries: readonly { payload: string }[]
      nextCursor: string | null
    }>('GET', path)
    shown.push(...body.entries.map(({ payload }) => payload))
    if (body.nextCursor === null) break
    cursor = body.nextCursor
  }
  expect(shown).toEqual(readings)
})

test('alerts tell the values that have raised them', async () => {
  const texts = naughtyTexts.filter((text) => text.length <= 100).slice(0, 25)
  const values = edgeNumbers.map((value) => value + 0)
  const rules = [
    ...texts.map((threshold, index) => ({
      id: `text_${index}`,
      field: 'text',
      operator: '==',
      threshold,
    })),
    ...values.slice(0, 25).map((threshold, index) => ({
      id: `value_${index}`,
      field: 'value',
      operator: '==',
      threshold,
    })),
  ]
  const registered = await person.withToken('POST', '/webhooks', {
    url: receiver.url,
    events: ['stream.alert_triggered'],
  })
  expect(registered.status, JSON.stringify(registered.body)).toBe(201)
  const name = '\uFEFFbom \u202E'
  const streamId = await stream({ name, processing: { alerting: rules } })
  const readings = rules.map(({ field, threshold }) => ({ [field]: threshold }))
  const sent = await person.withToken('POST', `/streams/${streamId}/data`, readings)
  expect(sent).toMatchObject({ status: 202, body: { accepted: readings.length } })

  const received = await receiver.requests(rules.length)
  const heard = received.map(({ body }) => {
    const { data } = JSON.parse(body.toString()) as { data: Body }
    return [data['ruleId'] ?? data['rule_id'], data['value'], data['threshold']]
  })
  const expected = rules.map(({ id, threshold }) => [id, threshold, threshold])
  expect(new Map(heard.map((one) => [one[0], one]))).toEqual(
    new Map(expected.map((one) => [one[0], one])),
  )
  const { body } = await person.withKey<{ content: readonly Body[] }>(
    'GET',
    '/notifications/in-app?page_size=100',
  )
  const entries = body.content.map((entry) => JSON.stringify(entry))
  expect(entries.some((text) => text.includes(name))).toBe(true)
})
