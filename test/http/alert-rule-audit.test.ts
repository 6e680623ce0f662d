import { beforeEach, describe, expect, test } from 'vitest'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const rule = { field: 'temperature', operator: '>', threshold: 80 } as const
const body = { name: 'hot', tags: { kind: 'boiler' }, rule }
let owner: Person

beforeEach(async () => {
  owner = await newPerson(service.api)
})

interface Entry {
  readonly action: string
  readonly actorUserId: string
  readonly actorKeyId: string
  readonly subjectId: string
  readonly address: string
  readonly details: object
}

/** What the audit log has of the rules of the owner, in the order of its happening. */
async function entries(): Promise<readonly Entry[]> {
  const { body: all } = await service.api.withKey<Entry[]>('GET', `/audit?userId=${owner.userId}`)
  return all.filter(({ action }) => action.startsWith('alert_rule.')).toReversed()
}

async function made(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await owner.withToken<{ alertRuleId: string }>(
    'POST',
    '/alert-rules',
    body,
    headers,
  )
  expect(answer.status).toBe(201)
  return answer.body.alertRuleId
}

describe('the audit log', () => {
  test('tells who has made, changed and deleted a rule for many streams', async () => {
    const id = await made()
    const change = { name: 'too hot', rule: { ...rule, threshold: 90 } }
    await owner.withToken('PUT', `/alert-rules/${id}`, change)
    await owner.withToken('DELETE', `/alert-rules/${id}`)

    const by = {
      actorUserId: owner.userId,
      actorKeyId: owner.key.apiKey,
      subjectId: id,
      address: '127.0.0.1',
    }
    expect(await entries()).toMatchObject([
      { ...by, action: 'alert_rule.created', details: { name: 'hot' } },
      { ...by, action: 'alert_rule.changed', details: { name: 'too hot', changed: 'name, rule' } },
      { ...by, action: 'alert_rule.deleted', details: { name: 'too hot' } },
    ])
  })

  test('has nothing of what did not come about, and nothing twice', async () => {
    const key = { 'idempotency-key': 'once' }
    const id = await made(key)
    await made(key)
    const path = `/alert-rules/${id}`
    await owner.withToken('PUT', path, body)
    await owner.withToken('PUT', path, { rule: { field: 'temperature' } })
    await owner.withToken('POST', '/alert-rules', { ...body, tags: {} })
    const stranger = await newPerson(service.api)
    await stranger.withToken('DELETE', path)
    await owner.withToken('DELETE', path)
    await owner.withToken('DELETE', path)

    expect((await entries()).map(({ action }) => action)).toEqual([
      'alert_rule.created',
      'alert_rule.deleted',
    ])
  })
})
