import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface FleetRuleBody {
  readonly alertRuleId: string
}

const tags = { kind: 'boiler' } as const
const hot = { field: 'temperature', operator: '>', threshold: 80 } as const

/** A new rule, by its id. */
async function rule(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const body = { name: 'silent', tags, rule: { silentFor: '1d' } }
  const made = await service.api.withToken<FleetRuleBody>('POST', '/alert-rules', body, headers)
  expect(made.status).toBe(201)
  return made.body.alertRuleId
}

test('a rule that is sent twice under one key is one', async () => {
  const headers = { 'idempotency-key': 'silent-1' }
  expect(await rule(headers)).toBe(await rule(headers))
})

describe('what is no rule of a fleet', () => {
  test.each([
    ['no streams', { rule: hot }, ''],
    ['no rule', { tags }, 'rule'],
    ['an id', { tags, rule: { ...hot, id: 'mine' } }, 'rule.id'],
    ['no name', { name: '', tags, rule: hot }, 'name'],
    ['a vault that is none', { vaultId: 'x', rule: hot }, 'vaultId'],
    ['a wrong operator', { tags, rule: { ...hot, operator: '=>' } }, 'rule.operator'],
    ['a wrong condition', { tags, rule: { condition: 'temperature >' } }, 'rule.condition'],
    ['an unknown key', { tags, rule: hot, vault: 'x' }, 'vault'],
  ])('%s is refused, and named', async (_, body, path) => {
    const answer = await service.api.withToken('POST', '/alert-rules', { name: 'hot', ...body })
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', details: [{ path }] },
    })
  })

  test('a vault that is not there is not found', async () => {
    const vaultId = '00000000-0000-4000-8000-000000000000'
    const answer = await service.api.withToken('POST', '/alert-rules', {
      name: 'hot',
      vaultId,
      rule: hot,
    })
    expect(answer.status).toBe(404)
  })
})

test('rules are listed by pages in the order of their creation, up to 100 of a user', async () => {
  const list = async (query: string) =>
    await service.api.withToken<readonly FleetRuleBody[]>('GET', `/alert-rules${query}`)
  const before = (await list('')).body.length
  const made: string[] = []
  for (let index = before; index < 100; index++) {
    made.push(await rule())
  }
  const body = { name: 'one more', tags, rule: hot }
  expect((await service.api.withToken('POST', '/alert-rules', body)).status).toBe(409)

  const first = await list(`?limit=${before + 1}`)
  const next = /<[^>]*(\?[^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
  const second = await list(next)
  expect(first.body.at(-1)?.alertRuleId).toBe(made[0])
  expect(second.body[0]?.alertRuleId).toBe(made[1])
})
