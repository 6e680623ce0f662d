import { expect, test } from 'vitest'
import { type Json, operationsOf } from '../support/openapi-operations.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']
const someId = '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'

test('a method that the document has not is 405 on every path, and Allow is what it has', async () => {
  const { api, process } = service
  const { body: document } = await api.withKey<Json>('GET', '/openapi.json')
  const declared = Map.groupBy(operationsOf(document), ({ path }) => path)
  const answered: Record<string, string> = {}
  const expected: Record<string, string> = {}
  for (const [path, operations] of declared) {
    const own = operations.map(({ method }) => method)
    const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : [])].toSorted().join(', ')
    for (const method of methods.filter((one) => !own.includes(one))) {
      const address = process.http + path.replace(/\{\w+\}/g, someId)
      const { status, headers } = await fetch(address, { method })
      answered[`${method} ${path}`] = `${status} ${headers.get('allow')}`
      expected[`${method} ${path}`] = `405 ${allowed}`
    }
  }

  expect(Object.keys(expected).length).toBeGreaterThan(500)
  expect(answered).toEqual(expected)
})
