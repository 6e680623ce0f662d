import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { permissions, type Scope, scopes } from '../../src/access/auth/scopes.ts'
import { createKey, createUser, type MadeKey, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

type Step =
  | {
      readonly does: 'create'
      readonly by: number
      readonly permission: (typeof permissions)[number]
      readonly scopes: readonly Scope[]
      readonly expiresInS: number | undefined
    }
  | { readonly does: 'rotate' | 'revoke'; readonly by: number; readonly target: number }

const someScopes = fc.subarray([...scopes], { minLength: 1 })
const index = fc.nat({ max: 30 })

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constant('create' as const),
    by: index,
    permission: fc.constantFrom(...permissions),
    scopes: someScopes,
    expiresInS: fc.option(fc.integer({ min: 60, max: 7_200 }), { nil: undefined }),
  }),
  fc.record({
    does: fc.constantFrom('rotate' as const, 'revoke' as const),
    by: index,
    target: index,
  }),
)

function expiryOf({ expiresAt }: MadeKey): number {
  return typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY
}

/** Whether a key has all that another one has, in scope and in time. */
function hasAllOf(key: MadeKey, other: MadeKey): boolean {
  const isWider = other.scopes.every((scope) => key.scopes.includes(scope))
  return isWider && expiryOf(other) <= expiryOf(key)
}

/** What somebody gets, or ends, who holds some keys of a user, and knows the ids of all of them. */
async function take(
  one: Step,
  held: readonly MadeKey[],
  all: readonly MadeKey[],
): Promise<{ readonly got?: MadeKey; readonly ended?: MadeKey }> {
  const key = held[one.by % held.length] as MadeKey
  const person = personOf(service.api, key)
  const send = one.by % 2 === 0 ? person.withKey : person.withToken
  if (one.does !== 'create') {
    const target = all[one.target % all.length] as MadeKey
    const isRotated = one.does === 'rotate'
    const [method, rest, done] = isRotated ? ['POST', '/rotate', 200] : ['DELETE', '', 204]
    const answer = await send<MadeKey>(method, `/keys/${target.apiKey}${rest}`)
    expect(answer.status).toBe(hasAllOf(key, target) ? done : 403)
    if (answer.status === 403) return {}
    return isRotated ? { got: answer.body } : { ended: target }
  }
  const { permission, expiresInS } = one
  const answer = await send<MadeKey>('POST', '/keys', {
    name: 'one more',
    kind: 'live',
    permission,
    ...(permission === 'custom' && { scopes: one.scopes }),
    ...(expiresInS !== undefined && {
      expiresAt: new Date(Date.now() + expiresInS * 1_000).toISOString(),
    }),
  })
  expect([201, 403]).toContain(answer.status)
  return answer.status === 201 ? { got: answer.body } : {}
}

async function scopesOfToken(key: MadeKey): Promise<readonly string[]> {
  const authorization = `Bearer ${await personOf(service.api, key).token()}`
  const answer = await service.api.request<{ scope: string }>('GET', '/auth/validate', {
    headers: { authorization },
  })
  return answer.body.scope.split(' ')
}

test('whoever begins with one key never gets a key that can do more, or lives longer, and ends none', async () => {
  const expiry = fc.option(fc.integer({ min: 600, max: 3_600 }), { nil: undefined })
  const steps = fc.array(step, { minLength: 4, maxLength: 16 })
  let granted = 0
  let ends = 0
  await fc.assert(
    fc.asyncProperty(someScopes, expiry, steps, async (first, expiresInS, todo) => {
      const userId = await createUser(service.api)
      const make = (body: object) => createKey(service.api, { userId, ...body })
      const expiresAt =
        expiresInS === undefined ? null : new Date(Date.now() + expiresInS * 1_000).toISOString()
      const beginning = await make({
        permission: 'custom',
        scopes: [...new Set<Scope>([...first, 'keys:admin'])],
        expiresAt,
      })
      // Keys of the same user that somebody else holds: these must not be had by rotating them.
      let all = [
        beginning,
        await make({ permission: 'admin' }),
        await make({ permission: 'custom', scopes: [...scopes] }),
        await make({ permission: 'read_only', expiresAt }),
      ]
      let held = [beginning]
      for (const one of todo) {
        const makers = held.filter(mayMakeKeys)
        // Somebody who has ended their own last key is out.
        if (makers.length === 0) break
        const { got, ended } = await take(one, makers, all)
        if (ended !== undefined) {
          ends++
          all = all.filter(({ apiKey }) => apiKey !== ended.apiKey)
          held = held.filter(({ apiKey }) => apiKey !== ended.apiKey)
        }
        if (got === undefined) continue
        granted++
        held = [...held.filter(({ apiKey }) => apiKey !== got.apiKey), got]
        if (!all.some(({ apiKey }) => apiKey === got.apiKey)) all.push(got)
        const more = [...got.scopes, ...(await scopesOfToken(got))].filter(
          (scope) => !beginning.scopes.includes(scope),
        )
        expect(more).toEqual([])
        expect(expiryOf(got)).toBeLessThanOrEqual(expiryOf(beginning))
      }
    }),
    { numRuns: 40, examples: [[['streams:read'], undefined, allowed]] },
  )
  expect(granted).toBeGreaterThan(1)
  expect(ends).toBeGreaterThan(0)
})

/** Steps that are allowed to whoever takes them, however few of the others are: a key is made, replaced and ended. */
const allowed: Step[] = [
  { does: 'create', by: 0, permission: 'custom', scopes: ['keys:admin'], expiresInS: 3_600 },
  { does: 'rotate', by: 0, target: 0 },
  { does: 'revoke', by: 0, target: 4 },
]

function mayMakeKeys(key: MadeKey): boolean {
  return key.scopes.includes('keys:admin')
}
